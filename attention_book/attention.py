"""Scaled dot-product attention：スコア、重み、重み付き和。"""

import numpy as np

from attention_book._inputs import as_floating, working_dtype
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
    scale=None,
    return_weights=False,
):
    """クエリとキーのスコアをsoftmaxで重みに変え、その重みでバリューを混ぜます。

    計算する式は ``softmax(query @ key.T * scale + bias) @ value`` です。
    マスクで隠した場所の重みはちょうど0で、見てよいキーが1つもない行は、重みも出力も0になります。
    隠したキーのNaNや無限大は、結果に入りません。隠したバリューのNaNは、0を掛けてもNaNなので残ります。
    ドロップアウトはありません。重みの合計が1でなくなり、実行のたびに結果が変わるからです。

    Parameters
    ----------
    query : array_like
        形 ``(..., L, head_dim)``。
    key : array_like
        形 ``(..., S, head_dim)``。
    value : array_like
        形 ``(..., S, value_dim)``。
    mask : array_like of bool, optional
        スコアの形 ``(..., L, S)`` に広げられるbool。Trueが「見てよい」です。
    bias : array_like, optional
        スコアに足す実数。形は `mask` と同じ規則です。
    is_causal : bool, default False
        Trueなら未来のキーを隠します。`mask` と一緒に使うと、両方で許された場所だけが残ります。
    offset : int, optional
        `is_causal` のときの、最初のクエリの位置。:func:`causal_mask` と同じです。
    scale : float, optional
        スコアに掛ける数。省くと ``head_dim ** -0.5`` です。
    return_weights : bool, default False
        Trueなら重みも返します。

    Returns
    -------
    output : numpy.ndarray
        形 ``(..., L, value_dim)``。dtypeは入力の共通の型で、整数はfloat64、
        float16は途中をfloat32で計算します。
    weights : numpy.ndarray
        形 ``(..., L, S)``。`return_weights` がTrueのときだけ返します。

    Raises
    ------
    TypeError
        入力が実数でないとき、`mask` がboolでないとき。
    ValueError
        形が合わないとき、`scale` が有限でないとき、causalの位置が決まらないとき。

    References
    ----------
    Vaswani et al. (2017), "Attention Is All You Need", 3.2.1節。

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
    query, key, value = (as_floating(n, a) for n, a in (("query", query), ("key", key), ("value", value)))
    _check_shapes(query, key, value)
    dtype, work = working_dtype(query, key, value)
    if scale is None:
        scale = query.shape[-1] ** -0.5
    if not np.isfinite(scale):
        raise ValueError(f"scale は有限の数にしてください: {scale}。")

    query, key, value = (a.astype(work) for a in (query, key, value))
    scores = (query * work.type(scale)) @ key.swapaxes(-1, -2)  # (..., L, S)
    if bias is not None:
        scores = scores + _fitting("bias", as_floating("bias", bias), scores.shape).astype(work)
    if is_causal:
        scores = np.where(causal_mask(*scores.shape[-2:], offset=offset), scores, -np.inf)
    if mask is not None:
        scores = np.where(_fitting("mask", _boolean(mask), scores.shape), scores, -np.inf)
    weights = softmax(scores)  # (..., L, S)
    output = weights @ value  # (..., L, value_dim)
    return (output.astype(dtype), weights.astype(dtype)) if return_weights else output.astype(dtype)


def _check_shapes(query, key, value):
    for name, a in (("query", query), ("key", key), ("value", value)):
        if a.ndim < 2:
            raise ValueError(
                f"{name} は2次元以上 (..., 長さ, 次元) にしてください: 形 {a.shape}。1本のベクトルなら {name}[None] とします。"
            )
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(
            f"query と key の最後の次元が違います: query {query.shape}、key {key.shape}。"
            "内積を取るので、同じ head_dim にそろえてください。"
        )
    if query.shape[-1] == 0:
        raise ValueError(f"head_dim（最後の次元）が0です: query {query.shape}。1以上にしてください。")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(
            f"key と value の長さが違います: key {key.shape}、value {value.shape}。同じ系列から作ってください。"
        )
    try:
        np.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    except ValueError:
        raise ValueError(
            f"query {query.shape}、key {key.shape}、value {value.shape} の先頭の次元（バッチやヘッド）が合いません。"
            "同じ大きさか1にそろえてください。"
        ) from None


def _boolean(mask):
    mask = np.asarray(mask)
    if mask.dtype != bool:
        raise TypeError(
            f"mask は bool（Trueが「見てよい」）にしてください: dtype={mask.dtype}。"
            "0と1のマスクなら mask.astype(bool)、スコアに足す数なら bias= に渡します。"
        )
    return mask


def _fitting(name, array, shape):
    """Return `array` if it broadcasts to `shape` without enlarging it."""
    try:
        if np.broadcast_shapes(array.shape, shape) == shape:
            return array
    except ValueError:
        pass
    raise ValueError(
        f"{name} の形 {array.shape} は、スコアの形 {shape} に広げられません。"
        "paddingなら padding_mask() が (batch, 1, 1, 長さ) を作ります。"
    )
