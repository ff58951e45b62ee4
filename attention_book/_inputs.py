"""入力の検査。間違いを、何が来たか・規則・直し方の順に日本語で伝えます。"""

import operator

import numpy as np


def as_floating(name, array):
    """Return `array` as floating point: integers and lists become float64, floats keep their dtype."""
    try:
        array = np.asarray(array)
    except ValueError:  # rows of different lengths
        raise ValueError(f"{name} を配列にできません。どの行も同じ長さにしてください。") from None
    if np.issubdtype(array.dtype, np.floating):
        return array
    if np.issubdtype(array.dtype, np.integer):
        return array.astype(np.float64)
    raise TypeError(
        f"{name} は実数の配列にしてください: dtype={array.dtype}。astype(float) などで浮動小数点に直してから渡します。"
    )


def working_dtype(*arrays):
    """Return (dtype of the answer, dtype to compute in): float16 is computed in float32."""
    dtype = np.result_type(*arrays)
    return dtype, np.promote_types(dtype, np.float32)


def as_length(name, value):
    """Return `value` as an int that can be a length (0 or more)."""
    try:
        length = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} は整数にしてください: {value!r}。") from None
    if isinstance(value, bool) or length < 0:
        raise ValueError(f"{name} は0以上の整数にしてください: {value!r}。")
    return length
