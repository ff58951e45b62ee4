"""Attentionの引数の検査。形をそろえ、causalの位置を決め、計算するdtypeに直します。"""

from typing import NamedTuple

import numpy as np

from attention_book._inputs import (
    as_boolean,
    as_floating,
    as_sequence,
    broadcast_batch,
    fitting,
    same_length,
    working_dtype,
)
from attention_book._values import as_finite, as_flag, as_integer, as_length, in_dtype


class Checked(NamedTuple):
    """Arguments of an attention, checked, in the dtype to compute in, with one common batch shape."""

    query: np.ndarray  # (..., L, head_dim)
    key: np.ndarray  # (..., S, head_dim)
    value: np.ndarray  # (..., S, value_dim)
    mask: np.ndarray | None  # (..., L, S) bool
    bias: np.ndarray | None  # (..., L, S), in the dtype it came in
    band: dict | None  # offset and window of causal_mask
    scale: np.floating
    dtype: np.dtype  # of the answer


def checked(query, key, value, mask, bias, is_causal, offset, window, scale):
    """Check and prepare the arguments of an attention; nothing is written to the caller's arrays."""
    query, key, value = as_sequence("query", query), as_sequence("key", key), as_sequence("value", value)
    is_causal = as_flag("is_causal", is_causal)
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(
            f"query と key の最後の次元が違います: query {query.shape}、key {key.shape}。"
            "内積を取るので、同じ head_dim にそろえてください。"
        )
    if query.shape[-1] == 0:
        raise ValueError(f"head_dim（最後の次元）が0です: query {query.shape}。1以上にしてください。")
    same_length(key, value)
    band = causal_band(query.shape[-2], key.shape[-2], is_causal, offset, window)
    dtype, work = working_dtype(query, key, value)
    scale = in_dtype("scale", query.shape[-1] ** -0.5 if scale is None else as_finite("scale", scale), work)
    key, value = shared_heads(query, key), shared_heads(query, value)
    grouped = "ヘッドを共有するなら、queryのヘッドの数を、keyとvalueのヘッドの数の倍数にします。"
    batch = broadcast_batch(grouped, query=query, key=key, value=value)
    scores = (*batch, query.shape[-2], key.shape[-2])
    if mask is not None:
        mask = fitting("mask", as_boolean("mask", mask), scores)
    if bias is not None:
        bias = fitting("bias", as_floating("bias", bias), scores)
    query, key, value = (expanded(a.astype(work, copy=False), batch) for a in (query, key, value))
    return Checked(query, key, value, mask, bias, band, scale, dtype)


def expanded(array, batch):
    """Return `array` (..., length, dim) as a view with the leading shape `batch`."""
    if array.shape[:-2] == batch:
        return array
    return np.broadcast_to(array, (*batch, *array.shape[-2:]))


def causal_band(query_len, key_len, is_causal, offset=None, window=None):
    """Return offset and window, checked; the offset is never guessed where the lengths differ."""
    if not is_causal:
        if offset is not None or window is not None:
            raise ValueError(
                f"offset={offset}、window={window} は、is_causal=True と一緒に使います。"
                "未来を隠すなら is_causal=True を加え、隠さないなら2つを省いてください。"
            )
        return None
    if window is not None:
        window = as_length("window", window, least=1)
    if offset is None and query_len != key_len:
        raise ValueError(
            f"query の長さ {query_len} と key の長さ {key_len} が違うので、causal の位置が決まりません。"
            f"offset=0（先頭ぞろえ）か offset={key_len - query_len}（末尾ぞろえ、KVキャッシュ）を指定してください。"
        )
    offset = 0 if offset is None else as_integer("offset", offset)
    if window is not None and offset - window >= key_len:
        offset = -query_len  # every key is too old
    near = min(max(offset, -query_len), key_len)  # beyond, nothing changes
    if window is not None:
        window = min(window + near - offset, query_len + key_len + 1)
    return {"offset": near, "window": window}


def shared_heads(query, x):
    """Grouped heads: each head of `x` (key or value) serves as many neighbouring heads of the query."""
    if min(query.ndim, x.ndim) < 3 or x.shape[-3] in (0, 1, query.shape[-3]) or query.shape[-3] % x.shape[-3]:
        return x  # as it is, without a copy
    return np.repeat(x, query.shape[-3] // x.shape[-3], axis=-3)
