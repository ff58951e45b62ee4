"""キーも区切り、途中の結果をつなぎ足して、同じ答えを求めます。FlashAttentionの考え方です。"""

from typing import NamedTuple

import numpy as np

from attention_book._arguments import checked
from attention_book._inputs import quiet
from attention_book._values import as_length
from attention_book.blockwise import block_scores, blocks, divisor, row_sums, visible
from attention_book.softmax import exponentials


class Partial(NamedTuple):
    """キーの一部だけを見た、途中の結果。

    全部のキーを見たら、``mixed / total`` が出力です。
    """

    # (L, 1) ここまでのスコアの最大値
    top: np.ndarray
    # (L, 1) exp(スコア - top) の合計
    total: np.ndarray
    # (L, value_dim) exp(スコア - top) で混ぜたバリュー
    mixed: np.ndarray


def attend(scores, value):
    """Return the Partial of some keys.

    scores: (L, keys), value: (keys, value_dim).
    """
    top = scores.max(-1, keepdims=True, initial=-np.inf)
    e = exponentials(scores)
    return Partial(top, row_sums(e), e @ value)


def merge(a, b):
    """Join two parts of the keys.

    Both are brought to the larger maximum, then added.
    """
    top = np.maximum(a.top, b.top)
    # -inf where nothing was seen yet
    safe = np.where(top == -np.inf, 0, top)
    x, y = np.exp(a.top - safe), np.exp(b.top - safe)
    total = a.total * x + b.total * y
    mixed = a.mixed * x + b.mixed * y
    return Partial(top, total, mixed)


def online_attention(
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
    key_block_size=512,
):
    """クエリもキーも区切って、:func:`scaled_dot_product_attention` と同じ答えを求めます。

    1度に持つスコアは ``block_size * key_block_size`` 個で、系列の長さによりません。
    隠したバリューのNaNは、飛ばしたところでは出力に入りません。
    混ぜてから割るので、dtypeの上限に近いバリューでは、無限大やNaNになることがあります。

    Parameters
    ----------
    query, key, value, mask, bias, is_causal, offset, window, scale
        :func:`scaled_dot_product_attention` と同じです。
    block_size, key_block_size : int
        1度に計算する、クエリの数とキーの数。

    Returns
    -------
    numpy.ndarray
        形 ``(..., num_heads, L, value_dim)``。dtypeの規則も同じです。

    Raises
    ------
    TypeError, ValueError
        :func:`scaled_dot_product_attention` と同じです。区切りが1未満のときもValueErrorになります。

    References
    ----------
    Milakov and Gimelshein (2018), "Online normalizer calculation for softmax".
    Dao et al. (2022), "FlashAttention".

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=(5, 4))
    >>> online = online_attention(x, x, x, block_size=2, key_block_size=3)
    >>> bool(np.allclose(online, online_attention(x, x, x)))
    True
    """
    block_size = as_length("block_size", block_size, least=1)
    key_block_size = as_length("key_block_size", key_block_size, least=1)
    x = checked(query, key, value, mask, bias, is_causal, offset, window, scale)
    output = np.zeros((*x.query.shape[:-1], x.value.shape[-1]), x.query.dtype)
    with quiet():
        for head in np.ndindex(output.shape[:-2]):
            for rows in blocks(0, output.shape[-2], block_size):
                seen, some = None, visible(x, rows)
                for keys in blocks(some.start, some.stop, key_block_size):
                    part = attend(block_scores(x, head, rows, keys), x.value[head][keys])
                    seen = part if seen is None else merge(seen, part)
                if seen is not None:
                    output[head][rows] = seen.mixed / divisor(seen.total, x, head, rows)
    return output.astype(x.dtype, copy=False)
