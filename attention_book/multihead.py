"""Multi-head attention：分けて、ヘッドごとに見て、つないで、混ぜます。"""

from dataclasses import dataclass

import numpy as np

from attention_book._inputs import as_floating
from attention_book.attention import scaled_dot_product_attention


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
        形 ``(..., num_heads, L, head_dim)``。

    Raises
    ------
    TypeError
        `x` が実数の配列でないとき。
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
    _check_heads(embed_dim, num_heads)
    x = x.reshape(*batch, length, num_heads, embed_dim // num_heads)  # (..., L, H, D)
    return x.swapaxes(-2, -3)  # (..., H, L, D)


def merge_heads(x):
    """ヘッドごとの結果を、もう一度1本のベクトルにつなぎます。:func:`split_heads` の逆です。

    Parameters
    ----------
    x : array_like
        形 ``(..., num_heads, L, head_dim)``。

    Returns
    -------
    numpy.ndarray
        形 ``(..., L, num_heads * head_dim)``。

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


@dataclass(frozen=True, eq=False)
class MultiHeadAttention:
    """複数のヘッドで並列に見る層。重みの並びは ``torch.nn.MultiheadAttention`` と同じです。

    Parameters
    ----------
    in_proj_weight : numpy.ndarray
        形 ``(3 * embed_dim, embed_dim)``。上から順に W_Q、W_K、W_V の転置です。
    in_proj_bias : numpy.ndarray
        形 ``(3 * embed_dim,)``。
    out_proj_weight : numpy.ndarray
        形 ``(embed_dim, embed_dim)``。W_O の転置です。
    out_proj_bias : numpy.ndarray
        形 ``(embed_dim,)``。
    num_heads : int
        ヘッドの数。embed_dimを割り切る正の整数です。

    Raises
    ------
    TypeError
        重みが実数の配列でないとき。
    ValueError
        重みの形が上の規則に合わないとき。

    References
    ----------
    Vaswani et al. (2017), "Attention Is All You Need", 3.2.2節。

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> layer = MultiHeadAttention(rng.normal(size=(24, 8)), np.zeros(24), rng.normal(size=(8, 8)), np.zeros(8), num_heads=2)
    >>> x = rng.normal(size=(3, 5, 8))
    >>> output, weights = layer(x, return_weights=True)
    >>> output.shape, weights.shape
    ((3, 5, 8), (3, 2, 5, 5))
    """

    in_proj_weight: np.ndarray
    in_proj_bias: np.ndarray
    out_proj_weight: np.ndarray
    out_proj_bias: np.ndarray
    num_heads: int

    def __post_init__(self):
        for name in ("in_proj_weight", "in_proj_bias", "out_proj_weight", "out_proj_bias"):
            object.__setattr__(self, name, as_floating(name, getattr(self, name)))
        embed_dim = self.embed_dim
        for name, shape in (
            ("in_proj_weight", (3 * embed_dim, embed_dim)),
            ("in_proj_bias", (3 * embed_dim,)),
            ("out_proj_weight", (embed_dim, embed_dim)),
            ("out_proj_bias", (embed_dim,)),
        ):
            if getattr(self, name).shape != shape:
                raise ValueError(f"{name} の形は {shape} にしてください: {getattr(self, name).shape} が来ました。")
        _check_heads(embed_dim, self.num_heads)

    @property
    def embed_dim(self):
        """トークン1つを表すベクトルの長さ。"""
        return self.out_proj_weight.shape[-1] if self.out_proj_weight.ndim else 0

    @classmethod
    def from_torch(cls, state_dict, num_heads):
        """``torch.nn.MultiheadAttention`` の ``state_dict()`` から、重みを写して作ります。

        Parameters
        ----------
        state_dict : mapping
            名前からテンソル（または配列）への対応。CPUに置かれている必要があります。
        num_heads : int
            ヘッドの数。state_dictには入っていないので、元の層と同じ数を渡します。

        Returns
        -------
        MultiHeadAttention
            同じ重みを持つ、NumPyの層。

        Raises
        ------
        ValueError
            必要な重みが足りないとき、形が合わないとき。

        Examples
        --------
        >>> import numpy as np
        >>> weights = {
        ...     "in_proj_weight": np.zeros((24, 8)),
        ...     "in_proj_bias": np.zeros(24),
        ...     "out_proj.weight": np.zeros((8, 8)),
        ...     "out_proj.bias": np.zeros(8),
        ... }
        >>> MultiHeadAttention.from_torch(weights, num_heads=2).embed_dim
        8
        """
        names = ("in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias")
        missing = [name for name in names if name not in state_dict]
        if missing:
            raise ValueError(
                f"state_dict に {'、'.join(missing)} がありません: {'、'.join(state_dict) or '空'} が来ました。"
                "kdimとvdimを指定せず、bias=True で作った nn.MultiheadAttention の state_dict() を渡してください。"
            )
        return cls(*(np.asarray(state_dict[name]).copy() for name in names), num_heads)

    def __call__(self, query, key=None, value=None, *, mask=None, is_causal=False, return_weights=False):
        """クエリがキーを見て、バリューを混ぜた結果を返します。

        Parameters
        ----------
        query : array_like
            形 ``(..., L, embed_dim)``。
        key : array_like, optional
            形 ``(..., S, embed_dim)``。省くと `query` と同じ（self-attention）です。
        value : array_like, optional
            形 ``(..., S, embed_dim)``。省くと `key` と同じです。
        mask : array_like of bool, optional
            スコアの形 ``(..., num_heads, L, S)`` に広げられるbool。Trueが「見てよい」です。
            ``torch.nn.MultiheadAttention`` とは、Trueの意味が逆です。
        is_causal : bool, default False
            Trueなら未来のキーを隠します。
        return_weights : bool, default False
            Trueなら、ヘッドごとの重みも返します（平均はしません）。

        Returns
        -------
        output : numpy.ndarray
            形 ``(..., L, embed_dim)``。
        weights : numpy.ndarray
            形 ``(..., num_heads, L, S)``。`return_weights` がTrueのときだけ返します。

        Raises
        ------
        TypeError, ValueError
            :func:`scaled_dot_product_attention` と同じです。最後の次元がembed_dimでないときも
            ValueErrorになります。
        """
        key = query if key is None else key
        value = key if value is None else value
        projected = []
        for name, x, weight, bias in zip(
            ("query", "key", "value"),
            (query, key, value),
            np.split(self.in_proj_weight, 3),
            np.split(self.in_proj_bias, 3),
            strict=True,
        ):
            x = as_floating(name, x)
            if x.ndim < 2 or x.shape[-1] != self.embed_dim:
                raise ValueError(
                    f"{name} の形は (..., 長さ, embed_dim={self.embed_dim}) にしてください: {x.shape} が来ました。"
                )
            projected.append(split_heads(x @ weight.T + bias, self.num_heads))  # (..., H, L or S, D)
        attended, weights = scaled_dot_product_attention(
            *projected, mask=mask, is_causal=is_causal, return_weights=True
        )
        output = merge_heads(attended) @ self.out_proj_weight.T + self.out_proj_bias  # (..., L, E)
        return (output, weights) if return_weights else output


def _check_heads(embed_dim, num_heads):
    if isinstance(num_heads, bool) or not isinstance(num_heads, (int, np.integer)) or num_heads < 1:
        raise ValueError(f"num_heads は1以上の整数にしてください: {num_heads!r}。")
    if embed_dim == 0 or embed_dim % num_heads:
        raise ValueError(
            f"embed_dim={embed_dim} は num_heads={num_heads} で割り切れません。"
            "embed_dim を num_heads の倍数にしてください。"
        )
