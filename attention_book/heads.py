"""ヘッドに分け、つなぎ直します。"""

from attention_book._inputs import as_floating
from attention_book._values import as_length


def split_heads(x, num_heads):
    """最後の次元をヘッドに分け、ヘッドの軸を長さの前へ移します。

    Parameters
    ----------
    x : array_like
        形 ``(..., L, embed_dim)``。
    num_heads : int
        ヘッドの数。embed_dimを割り切る正の整数です。

    Returns
    -------
    numpy.ndarray
        形 ``(..., num_heads, L, head_dim)``。`x` を別の形で見る、ビューです。

    Raises
    ------
    TypeError
        `x` が実数の配列でないとき、`num_heads` が整数でないとき。
    ValueError
        `x` が2次元未満のとき、embed_dimが `num_heads` で割り切れないとき。

    References
    ----------
    Vaswani et al. (2017), "Attention Is All You Need", 3.2.2節。

    Examples
    --------
    >>> import numpy as np
    >>> split_heads(np.zeros((3, 5, 8)), num_heads=2).shape
    (3, 2, 5, 4)
    """
    x = as_floating("x", x)
    if x.ndim < 2:
        raise ValueError(f"x は2次元以上 (..., 長さ, embed_dim) にしてください: 形 {x.shape}。")
    *batch, length, embed_dim = x.shape
    num_heads = check_heads(embed_dim, num_heads)
    head_dim = embed_dim // num_heads
    # (..., L, E) -> (..., L, H, D) -> (..., H, L, D)
    x = x.reshape(*batch, length, num_heads, head_dim)
    return x.swapaxes(-2, -3)


def merge_heads(x):
    """ヘッドごとの結果を、もう一度1本のベクトルにつなぎます。:func:`split_heads` の逆です。

    Parameters
    ----------
    x : array_like
        形 ``(..., num_heads, L, head_dim)``。

    Returns
    -------
    numpy.ndarray
        形 ``(..., L, num_heads * head_dim)``。写さずに済むときは、`x` のビューです。

    Raises
    ------
    TypeError
        `x` が実数の配列でないとき。
    ValueError
        `x` が3次元未満のとき。

    References
    ----------
    Vaswani et al. (2017), "Attention Is All You Need", 3.2.2節。

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(40).reshape(5, 8)
    >>> bool((merge_heads(split_heads(x, 2)) == x).all())
    True
    """
    x = as_floating("x", x)
    if x.ndim < 3:
        raise ValueError(f"x は3次元以上 (..., num_heads, 長さ, head_dim) にしてください: 形 {x.shape}。")
    x = x.swapaxes(-2, -3)  # (..., L, H, D)
    return x.reshape(*x.shape[:-2], x.shape[-2] * x.shape[-1])  # (..., L, H * D)


def check_heads(embed_dim, num_heads):
    """Return `num_heads` as an int that divides `embed_dim`."""
    num_heads = as_length("num_heads", num_heads, least=1)
    if embed_dim == 0 or embed_dim % num_heads:
        raise ValueError(
            f"embed_dim={embed_dim} は num_heads={num_heads} で割り切れません。"
            "embed_dim を num_heads の倍数にしてください。"
        )
    return num_heads
