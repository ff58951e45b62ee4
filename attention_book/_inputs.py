"""入力の検査。間違いを、何が来たか・規則・直し方の順に日本語で伝えます。"""

import operator
from typing import NamedTuple

import numpy as np


def as_array(name, array):
    try:
        return np.asarray(array)
    except ValueError:  # rows of different lengths
        raise ValueError(f"{name} を配列にできません。どの行も同じ長さにしてください。") from None


def as_floating(name, array):
    """Return `array` as floating point: integers and lists become float64, floats keep their dtype."""
    array = as_array(name, array)
    if array.dtype.kind == "f":
        return array
    if array.dtype.kind in "iu":
        return array.astype(np.float64)
    raise TypeError(
        f"{name} は実数の配列にしてください: dtype={array.dtype}。astype(float) などで浮動小数点に直してから渡します。"
    )


def as_boolean(name, mask):
    mask = as_array(name, mask)
    if mask.dtype != bool:
        raise TypeError(
            f"{name} は bool（Trueが「見てよい」）にしてください: dtype={mask.dtype}。"
            "0と1のマスクなら mask.astype(bool)、スコアに足す数なら bias= に渡します。"
        )
    return mask


def as_integer(name, value):
    if isinstance(value, bool):
        raise TypeError(f"{name} は整数にしてください: {value!r}。")
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} は整数にしてください: {value!r}。") from None


def as_length(name, value, least=0):
    """Return `value` as an int that can be a length."""
    length = as_integer(name, value)
    if length < least:
        raise ValueError(f"{name} は{least}以上の整数にしてください: {value!r}。")
    return length


def as_finite(name, value):
    """Return `value` as a finite float."""
    if np.ndim(value) != 0 or not np.issubdtype(np.asarray(value).dtype, np.number) or np.iscomplexobj(value):
        raise TypeError(f"{name} は1つの実数にしてください: {value!r}。")
    if not np.isfinite(value):
        raise ValueError(f"{name} は有限の数にしてください: {value}。")
    return float(value)


def as_axis(axis, array):
    axis = as_integer("axis", axis)
    if not -array.ndim <= axis < array.ndim:
        raise ValueError(
            f"axis={axis} は形 {array.shape} の配列にありません。{-array.ndim} から {array.ndim - 1} の間で指定してください。"
            if array.ndim
            else f"1つの数ではなく、1次元以上の配列を渡してください: {array}。"
        )
    return axis


def working_dtype(*arrays):
    """Return (dtype of the answer, dtype to compute in): float16 is computed in float32."""
    dtype = np.result_type(*arrays)
    return dtype, np.promote_types(dtype, np.float32)


def as_sequence(name, array):
    """Return `array` as floating point of shape (..., length, dim)."""
    array = as_floating(name, array)
    if array.ndim < 2:
        raise ValueError(
            f"{name} は2次元以上 (..., 長さ, 次元) にしてください: 形 {array.shape}。"
            f"1本のベクトルなら {name}[None] とします。"
        )
    return array


def same_length(key, value):
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(
            f"key と value の長さが違います: key {key.shape}、value {value.shape}。同じ系列から作ってください。"
        )


def broadcast_batch(**arrays):
    """Return the common leading shape of arrays (..., length, dim)."""
    try:
        return np.broadcast_shapes(*(a.shape[:-2] for a in arrays.values()))
    except ValueError:
        shapes = "、".join(f"{name} {a.shape}" for name, a in arrays.items())
        raise ValueError(
            f"先頭の次元（バッチやヘッド）が合いません: {shapes}。同じ大きさか1にそろえてください。"
            "ヘッドを共有するなら、queryのヘッドの数を、keyとvalueのヘッドの数の倍数にします。"
        ) from None


def expanded(array, batch):
    """Return `array` (..., length, dim) as a view with the leading shape `batch`."""
    if array.shape[:-2] == batch:
        return array
    return np.broadcast_to(array, (*batch, *array.shape[-2:]))


def fitting(name, array, shape):
    """Return a view of `array` with the shape of the scores; it may never enlarge them."""
    try:
        if np.broadcast_shapes(array.shape, shape) == shape:
            return np.broadcast_to(array, shape)
    except ValueError:
        pass
    raise ValueError(
        f"{name} の形 {array.shape} は、スコアの形 {shape} に広げられません。"
        "paddingなら padding_mask() が (batch, 1, 1, 長さ) を作ります。"
    )


def quiet():
    """An overflow, or a NaN that came in, shows in the answer; a warning of NumPy would say less."""
    return np.errstate(over="ignore", invalid="ignore")


class Checked(NamedTuple):
    """Arguments of an attention, checked, in the dtype to compute in, with one common batch shape."""

    query: np.ndarray  # (..., L, head_dim)
    key: np.ndarray  # (..., S, head_dim)
    value: np.ndarray  # (..., S, value_dim)
    mask: np.ndarray | None  # (..., L, S) bool
    bias: np.ndarray | None  # (..., L, S)
    band: dict | None  # offset and window of causal_mask
    scale: np.floating
    dtype: np.dtype  # of the answer


def checked(query, key, value, mask, bias, is_causal, offset, window, scale):
    """Check and prepare the arguments of an attention; nothing is written to the caller's arrays."""
    query, key, value = as_sequence("query", query), as_sequence("key", key), as_sequence("value", value)
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(
            f"query と key の最後の次元が違います: query {query.shape}、key {key.shape}。"
            "内積を取るので、同じ head_dim にそろえてください。"
        )
    if query.shape[-1] == 0:
        raise ValueError(f"head_dim（最後の次元）が0です: query {query.shape}。1以上にしてください。")
    same_length(key, value)
    band = causal_band(query.shape[-2], key.shape[-2], is_causal, offset, window)
    scale = query.shape[-1] ** -0.5 if scale is None else as_finite("scale", scale)
    dtype, work = working_dtype(query, key, value)
    key, value = shared_heads(query, key), shared_heads(query, value)
    batch = broadcast_batch(query=query, key=key, value=value)
    scores = (*batch, query.shape[-2], key.shape[-2])
    if mask is not None:
        mask = fitting("mask", as_boolean("mask", mask), scores)
    with quiet():
        scale = work.type(scale)
        if bias is not None:
            bias = fitting("bias", as_floating("bias", bias).astype(work, copy=False), scores)
    query, key, value = (expanded(a.astype(work, copy=False), batch) for a in (query, key, value))
    return Checked(query, key, value, mask, bias, band, scale, dtype)


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
