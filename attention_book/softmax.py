"""スコアを、合計1の重みに変えます。"""

import numpy as np

from attention_book._inputs import as_floating, working_dtype


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
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(
            f"axis={axis} は形 {x.shape} の配列にありません。{-x.ndim} から {x.ndim - 1} の間で指定してください。"
        )
    dtype, work = working_dtype(x)
    return _softmax(x.astype(work), axis).astype(dtype)


def _softmax(x, axis):
    top = np.max(x, axis=axis, keepdims=True, initial=-np.inf)
    top = np.where(top == -np.inf, 0, top)  # a row of -inf: exp(-inf) is 0
    with np.errstate(invalid="ignore"):  # inf - inf is NaN, and the NaN is the message
        e = np.exp(x - top)
    total = e.sum(axis=axis, keepdims=True)
    return e / np.where(total == 0, 1, total)
