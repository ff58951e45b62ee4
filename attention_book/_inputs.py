"""入力の検査。間違いを、何が来たか・規則・直し方の順に日本語で伝えます。"""

import operator

import numpy as np


def as_array(name, array):
    try:
        return np.asarray(array)
    except ValueError:  # rows of different lengths
        raise ValueError(f"{name} を配列にできません。どの行も同じ長さにしてください。") from None


def as_floating(name, array):
    """Return `array` as floating point: integers and lists become float64, floats keep their dtype."""
    array = as_array(name, array)
    if array.dtype.kind == "f":
        return array
    if array.dtype.kind in "iu":
        return array.astype(np.float64)
    raise TypeError(
        f"{name} は実数の配列にしてください: dtype={array.dtype}。astype(float) などで浮動小数点に直してから渡します。"
    )


def as_boolean(name, mask):
    mask = as_array(name, mask)
    if mask.dtype != bool:
        raise TypeError(
            f"{name} は bool（Trueが「見てよい」）にしてください: dtype={mask.dtype}。"
            "0と1のマスクなら mask.astype(bool)、スコアに足す数なら bias= に渡します。"
        )
    return mask


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
    if np.ndim(value) != 0 or not np.issubdtype(np.asarray(value).dtype, np.number) or np.iscomplexobj(value):
        raise TypeError(f"{name} は1つの実数にしてください: {value!r}。")
    if not np.isfinite(value):
        raise ValueError(f"{name} は有限の数にしてください: {value}。")
    return float(value)


def as_axis(axis, array):
    axis = as_integer("axis", axis)
    if not -array.ndim <= axis < array.ndim:
        raise ValueError(
            f"axis={axis} は形 {array.shape} の配列にありません。{-array.ndim} から {array.ndim - 1} の間で指定してください。"
            if array.ndim
            else f"1つの数ではなく、1次元以上の配列を渡してください: {array}。"
        )
    return axis


def working_dtype(*arrays):
    """Return (dtype of the answer, dtype to compute in): float16 is computed in float32."""
    dtype = np.result_type(*arrays)
    return dtype, np.promote_types(dtype, np.float32)


def as_sequence(name, array):
    """Return `array` as floating point of shape (..., length, dim)."""
    array = as_floating(name, array)
    if array.ndim < 2:
        raise ValueError(
            f"{name} は2次元以上 (..., 長さ, 次元) にしてください: 形 {array.shape}。"
            f"1本のベクトルなら {name}[None] とします。"
        )
    return array


def same_length(key, value):
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(
            f"key と value の長さが違います: key {key.shape}、value {value.shape}。同じ系列から作ってください。"
        )


def broadcast_batch(**arrays):
    """Return the common leading shape of arrays (..., length, dim)."""
    try:
        return np.broadcast_shapes(*(a.shape[:-2] for a in arrays.values()))
    except ValueError:
        shapes = "、".join(f"{name} {a.shape}" for name, a in arrays.items())
        raise ValueError(
            f"先頭の次元（バッチやヘッド）が合いません: {shapes}。同じ大きさか1にそろえてください。"
            "ヘッドを共有するなら、queryのヘッドの数を、keyとvalueのヘッドの数の倍数にします。"
        ) from None


def fitting(name, array, shape):
    """Return a view of `array` with the shape of the scores; it may never enlarge them."""
    try:
        if np.broadcast_shapes(array.shape, shape) == shape:
            return np.broadcast_to(array, shape)
    except ValueError:
        pass
    raise ValueError(
        f"{name} の形 {array.shape} は、スコアの形 {shape} に広げられません。"
        "paddingなら padding_mask() が (batch, 1, 1, 長さ) を作ります。"
    )


def quiet():
    """An overflow, or a NaN that came in, shows in the answer; a warning of NumPy would say less."""
    return np.errstate(over="ignore", invalid="ignore")
