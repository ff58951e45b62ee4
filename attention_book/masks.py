"""見てよい場所を表すマスク。boolの配列で、Trueが「見てよい」です。"""

import numpy as np

from attention_book._arguments import causal_band
from attention_book._inputs import as_array
from attention_book._values import as_length


def causal_mask(query_len, key_len=None, *, offset=None, window=None):
    """未来のキーを隠す、下三角のマスクを作ります。

    クエリ ``i`` は、キー ``0, 1, ..., i + offset`` を見られます。
    `window` を指定すると、そのうち新しいほうから `window` 個だけを見られます。

    Parameters
    ----------
    query_len : int
        クエリの長さL。
    key_len : int, optional
        キーの長さS。省くとLと同じです。
    offset : int, optional
        最初のクエリが、キーの何番目に当たるか。``L == S`` なら省けて0です。
        ``L != S`` では、先頭をそろえる0と末尾をそろえる ``S - L`` で答えが変わるので、必ず指定します。
    window : int, optional
        自分を含めて、いくつ前まで見られるか（sliding window）。省くと最初までです。

    Returns
    -------
    numpy.ndarray
        形 ``(L, S)`` のbool。Trueが「見てよい」です。

    Raises
    ------
    TypeError
        長さ、`offset`、`window` が整数でないとき。
    ValueError
        長さが負のとき、`window` が1未満のとき、``L != S`` なのに `offset` がないとき。

    References
    ----------
    Vaswani et al. (2017), "Attention Is All You Need", 3.2.3節。
    Beltagy et al. (2020), "Longformer: The Long-Document Transformer"（window）。

    Examples
    --------
    >>> causal_mask(3).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]])
    >>> causal_mask(1, 4, offset=3, window=2)
    array([[False, False,  True,  True]])
    """
    query_len = as_length("query_len", query_len)
    key_len = query_len if key_len is None else as_length("key_len", key_len)
    offset, window = causal_band(query_len, key_len, True, offset, window).values()
    mask = np.tri(query_len, key_len, k=offset, dtype=bool)
    if window is not None:
        mask &= ~np.tri(query_len, key_len, k=offset - window, dtype=bool)
    return mask


def padding_mask(lengths, max_len):
    """長さの違う系列をそろえたときの、詰め物（padding）のキーを隠すマスクを作ります。

    隠すのはキーだけです。詰め物のクエリの行は、損失の側で除きます。

    Parameters
    ----------
    lengths : array_like of int
        系列ごとの本当の長さ。形 ``(batch,)``。
    max_len : int
        そろえた後の長さS。

    Returns
    -------
    numpy.ndarray
        形 ``(batch, 1, 1, S)`` のbool。スコア ``(batch, num_heads, L, S)`` にそのまま広がり、
        batchとLが偶然同じでも、取り違えは起きません。

    Raises
    ------
    TypeError
        `lengths` や `max_len` が整数でないとき。
    ValueError
        `lengths` が1次元でないとき、または0から `max_len` の外にあるとき。

    References
    ----------
    Vaswani et al. (2017), "Attention Is All You Need", 3.2.3節（スコアを -inf で隠す方法）。

    Examples
    --------
    >>> padding_mask([3, 1], 4)[:, 0, 0].astype(int)
    array([[1, 1, 1, 0],
           [1, 0, 0, 0]])
    """
    max_len = as_length("max_len", max_len)
    lengths = as_array("lengths", lengths)
    if lengths.ndim != 1:
        raise ValueError(f"lengths は系列ごとの長さを並べた1次元の配列にしてください: 形 {lengths.shape}。")
    if lengths.size and lengths.dtype.kind not in "iu":
        raise TypeError(f"lengths は整数の配列にしてください: dtype={lengths.dtype}。")
    if lengths.size and not (lengths.min() >= 0 and lengths.max() <= max_len):
        raise ValueError(
            f"lengths は0から max_len={max_len} の間にしてください: {lengths.min()} から {lengths.max()} の値が来ました。"
        )
    return (np.arange(max_len) < lengths[:, None])[:, None, None, :]
