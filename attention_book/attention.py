"""Scaled dot-product attention：スコア、重み、重み付き和。"""

import numpy as np

from attention_book._arguments import checked
from attention_book._inputs import quiet
from attention_book.masks import causal_mask
from attention_book.softmax import softmax


def scaled_dot_product_attention(
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
    return_weights=False,
):
    """クエリとキーのスコアをsoftmaxで重みに変え、その重みでバリューを混ぜます。

    計算する式は ``softmax(query @ key.T * scale + bias) @ value`` です。
    マスクで隠した場所の重みはちょうど0で、見てよいキーが1つもない行は、重みも出力も0になります。
    見てよいキーのスコアが、どれも大きすぎて ``-inf`` になった行は、0ではなくNaNになります。
    `mask` とcausalで隠したキーのNaNや無限大は、結果に入りません。隠したバリューのNaNは、0を掛けてもNaNなので残ります。
    ドロップアウトはありません。重みの合計が1でなくなり、実行のたびに結果が変わるからです。

    Parameters
    ----------
    query : array_like
        形 ``(..., num_heads, L, head_dim)``。ヘッドがなければ ``(L, head_dim)`` でもかまいません。
    key : array_like
        形 ``(..., num_kv_heads, S, head_dim)``。num_headsがnum_kv_headsの倍数なら、
        隣り合うクエリのヘッドが、同じキーとバリューを共有します（grouped-query attention）。
    value : array_like
        形 ``(..., num_kv_heads, S, value_dim)``。
    mask : array_like of bool, optional
        スコアの形 ``(..., num_heads, L, S)`` に広げられるbool。Trueが「見てよい」です。
    bias : array_like, optional
        スコアに足す実数。形は `mask` と同じ規則です。
    is_causal : bool, default False
        Trueなら未来のキーを隠します。`mask` と一緒に使うと、両方で許された場所だけが残ります。
    offset, window : int, optional
        `is_causal` のときの、最初のクエリの位置と、見える幅。:func:`causal_mask` と同じです。
    scale : float, optional
        スコアに掛ける数。省くと ``head_dim ** -0.5`` です。
    return_weights : bool, default False
        Trueなら重みも返します。

    Returns
    -------
    output : numpy.ndarray
        形 ``(..., num_heads, L, value_dim)``。dtypeは入力の共通の型で、整数はfloat64、
        float16は途中をfloat32で計算します。
    weights : numpy.ndarray
        形 ``(..., num_heads, L, S)``。`return_weights` がTrueのときだけ返します。

    Raises
    ------
    TypeError
        入力が実数でないとき、`mask` や `is_causal` がboolでないとき。
    ValueError
        形が合わないとき、`scale` が有限でないか、計算するdtypeで表せないとき、causalの位置が決まらないとき。

    References
    ----------
    Vaswani et al. (2017), "Attention Is All You Need", 3.2.1節。
    Ainslie et al. (2023), "GQA"（ヘッドの共有）。

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> output, weights = scaled_dot_product_attention(X, X, X, return_weights=True)
    >>> weights.round(3)
    array([[0.401, 0.198, 0.401],
           [0.198, 0.401, 0.401],
           [0.248, 0.248, 0.503]])
    """
    x = checked(query, key, value, mask, bias, is_causal, offset, window, scale)
    query, key, value, mask, bias, band, scale, dtype = x
    with quiet():
        scores = query * scale @ key.swapaxes(-1, -2)  # (..., L, S)
        if bias is not None:
            scores += bias
        if band is not None:
            visible = causal_mask(*scores.shape[-2:], **band)
            scores = np.where(visible, scores, -np.inf)
        if mask is not None:
            scores = np.where(mask, scores, -np.inf)
        weights = softmax(scores)  # (..., L, S)
        np.copyto(weights, np.nan, where=overflowed(~weights.any(axis=-1, keepdims=True), x))
        output = weights @ value  # (..., L, value_dim)
    return (output.astype(dtype), weights.astype(dtype)) if return_weights else output.astype(dtype)


def overflowed(empty, x, head=(), rows=slice(None)):
    """Return which of the empty rows see a key: its score is -inf only because the numbers were too large."""
    if not empty.any():
        return empty
    first, stop, _ = rows.indices(x.query.shape[-2])
    visible = np.ones((stop - first, x.key.shape[-2]), bool)
    if x.band is not None:
        offset, window = x.band.values()
        visible = causal_mask(*visible.shape, offset=first + offset, window=window)
    if x.mask is not None:
        visible = visible & x.mask[head][..., rows, :]
    if x.bias is not None:
        visible = visible & (x.bias[head][..., rows, :] != -np.inf)
    return empty & visible.any(axis=-1, keepdims=True)
