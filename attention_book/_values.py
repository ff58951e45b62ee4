"""1つの値の検査。間違いを、何が来たか・規則・直し方の順に日本語で伝えます。"""

import math
import operator

import numpy as np

from attention_book._inputs import as_array, quiet


def as_flag(name, value):
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} はTrueかFalseにしてください: {value!r}。マスクの配列は mask= に渡します。")
    return bool(value)


def as_integer(name, value):
    if isinstance(value, bool):
        raise TypeError(f"{name} は整数にしてください: {value!r}。")
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} は整数にしてください: {value!r}。") from None


def as_length(name, value, least=0):
    """Return `value` as an int that can be a length."""
    length = as_integer(name, value)
    if length < least:
        raise ValueError(f"{name} は{least}以上の整数にしてください: {value!r}。")
    return length


def as_finite(name, value):
    """Return `value` as a finite float."""
    array = as_array(name, value)
    if array.ndim != 0 or not (type(value) is int or array.dtype.kind in "iuf"):  # an int may be larger than any dtype
        raise TypeError(f"{name} は1つの実数にしてください: {value!r}。")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or (number == 0) != (array == 0):  # 1e-400 in longdouble
        raise ValueError(f"{name} は、float64で表せる有限の数にしてください: {value!r}。")
    return number


def in_dtype(name, number, dtype):
    """Return a finite number in the dtype to compute in, where it may become neither infinite nor too small."""
    with quiet():
        rounded = dtype.type(number)
    if not math.isclose(rounded, number, rel_tol=1e-3):
        raise ValueError(
            f"{name}={number} は、計算する {dtype} では {rounded} になります。配列を astype(float) で直してから渡します。"
        )
    return rounded


def as_axis(axis, array):
    axis = as_integer("axis", axis)
    if not -array.ndim <= axis < array.ndim:
        raise ValueError(
            f"axis={axis} は形 {array.shape} の配列にありません。{-array.ndim} から {array.ndim - 1} の間で指定してください。"
            if array.ndim
            else f"1つの数ではなく、1次元以上の配列を渡してください: {array}。"
        )
    return axis
