"""入力の配列の検査。間違いを、何が来たか・規則・直し方の順に日本語で伝えます。"""

import numpy as np


def as_array(name, array):
    if np.ma.is_masked(array):
        raise TypeError(
            f"{name} に、隠した要素のあるmasked arrayは使えません。filled() で数にして、mask= で隠してください。"
        )
    try:
        return np.asarray(array)
    except ValueError:  # rows of different lengths
        raise ValueError(f"{name} を配列にできません。どの行も同じ長さにしてください。") from None
    except (TypeError, RuntimeError):  # a tensor that NumPy cannot read
        raise TypeError(
            f"{name} をNumPyの配列にできません: {type(array).__name__} が来ました。"
            "torchのテンソルなら、.detach().cpu().float().numpy() で直してから渡します。"
        ) from None


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


def broadcast_batch(advice="", /, **arrays):
    """Return the common leading shape of arrays (..., length, dim)."""
    try:
        return np.broadcast_shapes(*(a.shape[:-2] for a in arrays.values()))
    except ValueError:
        shapes = "、".join(f"{name} {a.shape}" for name, a in arrays.items())
        raise ValueError(
            f"先頭の次元（バッチやヘッド）が合いません: {shapes}。同じ大きさか1にそろえてください。{advice}"
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
    return np.errstate(all="ignore")
