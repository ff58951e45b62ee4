"""同じ答えを、スコアの行列全体を作らずに求めます。"""

import math

import numpy as np

from attention_book._arguments import checked
from attention_book._inputs import quiet
from attention_book._values import as_length
from attention_book.attention import overflowed
from attention_book.softmax import exponentials

IN_CACHE = 2**17  # as many scores stay near the processor while `exponentials` goes over them three times


def blockwise_attention(
    query,
    key,
    value,
    *,
    mask=None,
    bias=None,
    is_causal=False,
    offset=None,
    window=None,
    scale=None,
    block_size=192,
):
    """クエリを `block_size` 本ずつに区切って、:func:`scaled_dot_product_attention` と同じ答えを求めます。

    1度に持つスコアは、多くても ``block_size * S`` 個です。
    全ヘッドのクエリを合わせても `block_size` 本までなら、1トークンずつの生成のように、全ヘッドをまとめて計算します。
    causalとwindowでは、区切りの中のどのクエリにも見えないキーを、計算せずに飛ばします。
    隠したバリューのNaNは、飛ばしたところでは出力に入りません。
    混ぜてから割るので、dtypeの上限に近いバリューでは、無限大になることがあります。

    Parameters
    ----------
    query, key, value, mask, bias, is_causal, offset, window, scale
        :func:`scaled_dot_product_attention` と同じです。
    block_size : int, default 192
        1度に計算するクエリの数。

    Returns
    -------
    numpy.ndarray
        形 ``(..., num_heads, L, value_dim)``。dtypeの規則も同じです。

    Raises
    ------
    TypeError, ValueError
        :func:`scaled_dot_product_attention` と同じです。`block_size` が1未満のときもValueErrorになります。

    References
    ----------
    Rabe and Staats (2021), "Self-attention Does Not Need O(n^2) Memory".

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=(5, 4))
    >>> whole = blockwise_attention(x, x, x, is_causal=True)
    >>> bool(np.allclose(blockwise_attention(x, x, x, is_causal=True, block_size=2), whole))
    True
    """
    block_size = as_length("block_size", block_size, least=1)
    x = checked(query, key, value, mask, bias, is_causal, offset, window, scale)
    output = np.empty((*x.query.shape[:-1], x.value.shape[-1]), x.query.dtype)
    with quiet():
        for head in heads(output, block_size):
            for rows in blocks(0, output.shape[-2], block_size):
                keys = visible(x, rows)
                e = block_scores(x, head, rows, keys)  # (..., rows, keys)
                for strip in blocks(0, e.shape[-2], IN_CACHE // (e.shape[-1] + 1) + 1):
                    exponentials(e[..., strip, :])
                mixed = np.matmul(e, x.value[head][..., keys, :], out=output[head][..., rows, :])
                mixed /= divisor(row_sums(e), x, head, rows)
                del e  # before the next block is made
    return output.astype(x.dtype, copy=False)


def heads(output, block_size):
    """Return the index of each head, or () for all at once, where their queries are no more than one block."""
    *batch, length, _ = output.shape
    return [()] if math.prod(batch) * length <= block_size else np.ndindex(*batch)


def blocks(start, stop, size):
    return (slice(i, min(i + size, stop)) for i in range(start, stop, size))


def visible(x, rows):
    """Return the keys that any query in `rows` may see."""
    key_len = x.key.shape[-2]
    if x.band is None:
        return slice(0, key_len)
    offset, window = x.band.values()
    first = 0
    if window is not None:
        first = rows.start + offset - window + 1
    stop = min(max(rows.stop + offset, 0), key_len)
    return slice(min(max(first, 0), stop), stop)


def block_scores(x, head, rows, keys):
    """Return the scores of some queries and keys of one head (of all heads if it is ()), -inf where hidden."""
    query, key = x.query[head][..., rows, :], x.key[head][..., keys, :]
    scores = query * x.scale @ key.swapaxes(-1, -2)  # (..., rows, keys)
    if x.bias is not None:
        scores += x.bias[head][..., rows, keys]
    if x.band is not None:
        offset, window = x.band.values()
        hide_edges(scores, rows.start + offset - keys.start, window)
    if x.mask is not None:
        np.copyto(scores, -np.inf, where=~x.mask[head][..., rows, keys])
    return scores


def hide_edges(scores, offset, window):
    """Hide the future and what is older than the window; the keys between are seen by every query of the block."""
    length, key_len = scores.shape[-2:]
    future = min(max(offset + 1, 0), key_len)
    if future < key_len:
        seen = np.tri(length, key_len - future, offset - future, dtype=bool)  # (rows, the last keys)
        np.copyto(scores[..., future:], -np.inf, where=~seen)
    old = 0 if window is None else min(max(offset + length - window, 0), key_len)
    if old > 0:
        hidden = np.tri(length, old, offset - window, dtype=bool)  # (rows, the first keys)
        np.copyto(scores[..., :old], -np.inf, where=hidden)


def divisor(total, x, head, rows):
    """Return the sums of exponentials to divide by.

    A sum is at least exp(0) = 1, or 0 where nothing is visible; NaN shows that every score overflowed.
    """
    return np.where(overflowed(total == 0, x, head, rows), np.nan, np.maximum(total, 1))  # (..., rows, 1)


def row_sums(e):
    """Return e.sum(axis=-1, keepdims=True); as a matrix product it is faster."""
    return e @ np.ones((e.shape[-1], 1), e.dtype)  # (..., rows, 1)
