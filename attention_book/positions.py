"""順序を知らせる2つの方法：足す位置（正弦波）と、回す位置（RoPE）。"""

import numpy as np

from attention_book._inputs import as_floating, as_sequence, quiet
from attention_book._values import as_finite, as_length


def sinusoidal_positions(length, embed_dim):
    """位置ごとに違う、正弦波と余弦波のベクトルを作ります。埋め込みに足して使います。

    Parameters
    ----------
    length : int
        位置の数。0番目から数えます。
    embed_dim : int
        ベクトルの長さ。正弦と余弦の組なので偶数です。

    Returns
    -------
    numpy.ndarray
        形 ``(length, embed_dim)`` のfloat64。偶数番目が正弦、奇数番目が余弦です。

    Raises
    ------
    TypeError
        整数でないとき。
    ValueError
        `length` が負のとき、`embed_dim` が正の偶数でないとき。

    References
    ----------
    Vaswani et al. (2017), "Attention Is All You Need", 3.5節。

    Examples
    --------
    >>> sinusoidal_positions(2, 4).round(3)
    array([[0.   , 1.   , 0.   , 1.   ],
           [0.841, 0.54 , 0.01 , 1.   ]])
    """
    positions = np.arange(as_length("length", length))
    speeds = frequencies(embed_dim, 10_000.0)
    angles = positions[:, None] * speeds  # (L, E/2)
    pairs = np.stack([np.sin(angles), np.cos(angles)], axis=-1)
    return pairs.reshape(-1, embed_dim)  # (L, E)


def rotary_positions(x, positions=None, *, base=10_000):
    """隣り合う2つの成分を、位置に比例した角度だけ回します（RoPE）。

    クエリとキーの両方を回すと、内積は2つの位置の差だけで決まります。

    Parameters
    ----------
    x : array_like
        クエリかキー。形 ``(..., L, head_dim)``。head_dimは偶数です。
    positions : array_like, optional
        各トークンの位置。形 ``(L,)``。省くと ``0, 1, ..., L - 1`` です。
    base : float, default 10000
        角度の速さを決める、正の数。

    Returns
    -------
    numpy.ndarray
        `x` と同じ形。dtypeも同じです（整数ならfloat64）。

    Raises
    ------
    TypeError
        実数でないとき。
    ValueError
        head_dimが正の偶数でないとき、`positions` の数がLと違うとき、`positions` に有限でない値があるとき、
        `base` が正でないとき。

    References
    ----------
    Su et al. (2021), "RoFormer: Enhanced Transformer with Rotary Position Embedding".

    Examples
    --------
    >>> import numpy as np
    >>> rotary_positions([[1.0, 0.0], [1.0, 0.0]]).round(3)
    array([[1.   , 0.   ],
           [0.54 , 0.841]])
    """
    x = as_sequence("x", x)
    length, head_dim = x.shape[-2:]
    positions = np.arange(length) if positions is None else as_floating("positions", positions)
    if positions.shape != (length,):
        raise ValueError(f"positions の形は ({length},) にしてください: {positions.shape} が来ました。")
    if not np.isfinite(positions).all():
        raise ValueError(f"positions は有限の数にしてください: {positions}。")
    if (base := as_finite("base", base)) <= 0:
        raise ValueError(f"base は正の数にしてください: {base}。")
    speeds = frequencies(head_dim, base)
    even, odd = x[..., 0::2], x[..., 1::2]  # (..., L, D/2)
    with quiet():
        angles = positions[:, None] * speeds  # (L, D/2)
        cos, sin = np.cos(angles), np.sin(angles)
        turned = even * cos - odd * sin, even * sin + odd * cos
        rotated = np.stack(turned, axis=-1)  # (..., L, D/2, 2)
        return rotated.reshape(x.shape).astype(x.dtype)


def frequencies(dim, base):
    """Return the angle per position of each pair: (dim / 2,), from 1 down to almost 1 / base."""
    dim = as_length("次元", dim, least=1)
    if dim % 2:
        raise ValueError(f"次元は偶数にしてください: {dim}。2つの成分を組にして回すからです。")
    return base ** (-np.arange(0, dim, 2) / dim)
