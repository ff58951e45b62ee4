"""カーネル回帰：Attentionより古い、もう1つの重み付き検索です。"""

import numpy as np

from attention_book._inputs import as_sequence, broadcast_batch, quiet, same_length, working_dtype
from attention_book._values import as_finite, in_dtype
from attention_book.softmax import softmax


def kernel_regression(query, key, value, *, bandwidth, return_weights=False):
    """近い点ほど重くして、値を平均します（Nadaraya–Watson）。スコアは距離の2乗から作ります。

    キーのノルムがすべて同じなら、内積のAttentionと同じ重みになります。

    Parameters
    ----------
    query : array_like
        値を知りたい点。形 ``(..., L, dim)``。
    key : array_like
        値を知っている点。形 ``(..., S, dim)``。
    value : array_like
        その値。形 ``(..., S, value_dim)``。
    bandwidth : float
        どこまでを近いと見るか（ガウス関数の幅、点の座標と同じ単位）。正の数です。
    return_weights : bool, default False
        Trueなら重みも返します。

    Returns
    -------
    output : numpy.ndarray
        形 ``(..., L, value_dim)``。
    weights : numpy.ndarray
        形 ``(..., L, S)``。`return_weights` がTrueのときだけ返します。

    Raises
    ------
    TypeError
        入力が実数でないとき。
    ValueError
        形が合わないとき、`bandwidth` が正でないとき、計算するdtypeで表せないとき。

    References
    ----------
    Nadaraya (1964), "On Estimating Regression"; Watson (1964), "Smooth Regression Analysis".

    Examples
    --------
    >>> kernel_regression([[0.0]], [[-1.0], [1.0]], [[10.0], [20.0]], bandwidth=1.0)
    array([[15.]])
    """
    query, key, value = as_sequence("query", query), as_sequence("key", key), as_sequence("value", value)
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"query と key の最後の次元をそろえてください: query {query.shape}、key {key.shape}。")
    if (bandwidth := as_finite("bandwidth", bandwidth)) <= 0:
        raise ValueError(f"bandwidth は正の数にしてください: {bandwidth}。")
    same_length(key, value)
    broadcast_batch(query=query, key=key, value=value)
    dtype, work = working_dtype(query, key, value)
    bandwidth = in_dtype("bandwidth", bandwidth, work)
    with quiet():
        difference = query[..., :, None, :].astype(work) - key[..., None, :, :]  # (..., L, S, dim)
        distance = np.hypot.reduce(difference, axis=-1) / bandwidth  # (..., L, S)
        nearest = distance.min(axis=-1, keepdims=True, initial=np.inf)
        weights = softmax(-0.5 * (distance - nearest) * (distance + nearest))  # (..., L, S)
        output = weights @ value  # (..., L, value_dim)
    return (output.astype(dtype), weights.astype(dtype)) if return_weights else output.astype(dtype)
