"""スコアを、合計1の重みに変えます。"""

import numpy as np

from attention_book._inputs import as_floating, quiet, working_dtype
from attention_book._values import as_axis


def softmax(x, axis=-1):
    """スコアを、足すと1になる0以上の重みに変えます。

    最大値を引いてから指数を取るので、大きなスコアでも桁あふれしません。
    すべてが ``-inf`` の行（見てよいキーが1つもない行）は、重みもすべて0になります。
    NaNは0に直さず、NaNのまま返します。

    Parameters
    ----------
    x : array_like
        スコア。形は自由です。整数はfloat64、float16はfloat32で計算します。
    axis : int, default -1
        合計を1にする軸。Attentionではキーが並ぶ最後の軸です。

    Returns
    -------
    numpy.ndarray
        `x` と同じ形の重み。dtypeは `x` と同じです（整数ならfloat64）。

    Raises
    ------
    TypeError
        `x` が実数の配列でないとき。
    ValueError
        `axis` が `x` の次元にないとき。

    References
    ----------
    Bridle (1990), "Probabilistic Interpretation of Feedforward Classification Network Outputs".

    Examples
    --------
    >>> import numpy as np
    >>> softmax([0.0, np.log(3.0)]).round(3)
    array([0.25, 0.75])
    >>> softmax([-np.inf, -np.inf])
    array([0., 0.])
    """
    x = as_floating("x", x)
    axis = as_axis(axis, x)
    dtype, work = working_dtype(x)
    with quiet():
        e = exponentials(x.astype(work), axis)
    total = e.sum(axis=axis, keepdims=True)
    return (e / np.maximum(total, 1)).astype(dtype)  # the total is at least exp(0) = 1, or 0 in a row of -inf


def exponentials(scores, axis=-1):
    """Overwrite scores by exp(scores - maximum).

    Never above 1, and all 0 where every score is -inf.
    """
    top = scores.max(axis, keepdims=True, initial=-np.inf)
    # a row of -inf: exp(-inf) is 0
    scores -= np.where(top == -np.inf, 0, top)
    return np.exp(scores, out=scores)


def softmax_jacobian(weights):
    """スコアを少し動かしたときの、重みの動き（ヤコビ行列）を返します。

    ``jacobian[..., i, j]`` は、スコア ``j`` を動かしたときの、重み ``i`` の動きの割合です。

    Parameters
    ----------
    weights : array_like
        :func:`softmax` の結果。形 ``(..., S)``。

    Returns
    -------
    numpy.ndarray
        形 ``(..., S, S)``。``diag(w) - w w^T`` です。

    Raises
    ------
    TypeError
        `weights` が実数の配列でないとき。
    ValueError
        `weights` が0次元のとき。

    References
    ----------
    Bridle (1990), "Probabilistic Interpretation of Feedforward Classification Network Outputs".

    Examples
    --------
    >>> softmax_jacobian([0.5, 0.5])
    array([[ 0.25, -0.25],
           [-0.25,  0.25]])
    """
    w = as_floating("weights", weights)
    as_axis(-1, w)
    with quiet():
        return w[..., :, None] * (np.eye(w.shape[-1], dtype=w.dtype) - w[..., None, :])


def entropy(weights):
    """重みの散らばり（エントロピー、単位はnat）を返します。

    1つのキーに集まれば0、S個に等しく散らばれば ``log(S)`` です。

    Parameters
    ----------
    weights : array_like
        最後の軸の合計が1の重み。形 ``(..., S)``。

    Returns
    -------
    numpy.ndarray
        形 ``(...)``。

    Raises
    ------
    TypeError
        `weights` が実数の配列でないとき。
    ValueError
        `weights` が0次元のとき、0から1の外の値があるとき。

    References
    ----------
    Shannon (1948), "A Mathematical Theory of Communication".

    Examples
    --------
    >>> entropy([[1.0, 0.0], [0.5, 0.5]]).round(3)
    array([0.   , 0.693])
    """
    w = as_floating("weights", weights)
    as_axis(-1, w)
    if ((w < 0) | (w > 1.001)).any():  # sums that were rounded may be a little above 1
        raise ValueError(
            f"weights は0から1にしてください: 最小は {w.min()}、最大は {w.max()} です。"
            "softmaxの前のスコアを渡していませんか。"
        )
    dtype, work = working_dtype(w)
    w = w.astype(work, copy=False)
    return (0.0 - (w * np.log(np.where(w == 0, 1, w))).sum(axis=-1)).astype(dtype)  # 0 log 0 is 0
