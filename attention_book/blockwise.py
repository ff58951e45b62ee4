"""同じ答えを、スコアの行列全体を作らずに求めます。"""

import numpy as np

from attention_book._inputs import as_length, checked, quiet
from attention_book.softmax import exponentials


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
    block_size=128,
):
    """クエリを `block_size` 本ずつに区切って、:func:`scaled_dot_product_attention` と同じ答えを求めます。

    1度に持つスコアは ``block_size * S`` 個です。
    causalとwindowでは、区切りの中のどのクエリにも見えないキーを、計算せずに飛ばします。
    隠したバリューのNaNは、飛ばしたところでは出力に入りません。
    混ぜてから割るので、dtypeの上限に近いバリューでは、無限大になることがあります。

    Parameters
    ----------
    query, key, value, mask, bias, is_causal, offset, window, scale
        :func:`scaled_dot_product_attention` と同じです。
    block_size : int, default 128
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
        for head in np.ndindex(output.shape[:-2]):
            for rows in blocks(0, output.shape[-2], block_size):
                keys = visible(x, rows)
                e = exponentials(block_scores(x, head, rows, keys))  # (rows, keys)
                total = e.sum(axis=-1, keepdims=True)  # (rows, 1)
                np.matmul(e, x.value[head][keys], out=output[head][rows])
                output[head][rows] /= np.where(total == 0, 1, total)
                del e  # before the next block is made
    return output.astype(x.dtype, copy=False)


def blocks(start, stop, size):
    return (slice(i, min(i + size, stop)) for i in range(start, stop, size))


def visible(x, rows):
    """Return the keys that at least one of the queries in `rows` may see."""
    key_len = x.key.shape[-2]
    if x.band is None:
        return slice(0, key_len)
    offset, window = x.band.values()
    first = 0 if window is None else rows.start + offset - window + 1
    stop = min(max(rows.stop + offset, 0), key_len)
    return slice(min(max(first, 0), stop), stop)


def block_scores(x, head, rows, keys):
    """Return the scores of some queries and keys of one head, -inf where hidden."""
    scores = x.query[head][rows] * x.scale @ x.key[head][keys].T  # (rows, keys)
    if x.bias is not None:
        scores += x.bias[head][rows, keys]
    if x.band is not None:
        offset, window = x.band.values()
        hide_edges(scores, rows.start + offset - keys.start, window)
    if x.mask is not None:
        np.copyto(scores, -np.inf, where=~x.mask[head][rows, keys])
    return scores


def hide_edges(scores, offset, window):
    """Hide the future and what is older than the window; the keys between are seen by every query of the block."""
    length, key_len = scores.shape
    position = offset + np.arange(length)[:, None]  # (rows, 1) where each query stands among the keys
    index = np.arange(key_len)  # (keys,)
    future = min(max(offset + 1, 0), key_len)
    scores[:, future:][index[future:] > position] = -np.inf
    if window is not None:
        old = min(max(offset + length - window, 0), key_len)
        scores[:, :old][index[:old] <= position - window] = -np.inf
