"""Multi-head attention：射影し、ヘッドごとに見て、つないで、混ぜます。"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from attention_book._inputs import as_array, as_floating, quiet, working_dtype
from attention_book._values import as_flag
from attention_book.attention import scaled_dot_product_attention
from attention_book.blockwise import blockwise_attention
from attention_book.cache import KVCache
from attention_book.heads import check_heads, merge_heads, split_heads


@dataclass(frozen=True, eq=False)
class MultiHeadAttention:
    """複数のヘッドで並列に見る層。重みの並びは ``torch.nn.MultiheadAttention`` と同じです。

    `in_proj_weight` の行が ``3 * embed_dim`` より少ないと、キーとバリューのヘッドが少ない層
    （grouped-query attention）になります。

    Parameters
    ----------
    in_proj_weight : numpy.ndarray
        形 ``(embed_dim + 2 * kv_dim, embed_dim)``。上から順に W_Q、W_K、W_V の転置です。
        kv_dimは、ふつうはembed_dimと同じで、head_dimの倍数です。
    in_proj_bias : numpy.ndarray
        形 ``(embed_dim + 2 * kv_dim,)``。
    out_proj_weight : numpy.ndarray
        形 ``(embed_dim, embed_dim)``。W_O の転置です。
    out_proj_bias : numpy.ndarray
        形 ``(embed_dim,)``。
    num_heads : int
        クエリのヘッドの数。embed_dimを割り切る正の整数です。

    Raises
    ------
    TypeError
        重みが実数の配列でないとき、`num_heads` が整数でないとき。
    ValueError
        重みの形が上の規則に合わないとき。

    References
    ----------
    Vaswani et al. (2017), "Attention Is All You Need", 3.2.2節。
    Ainslie et al. (2023), "GQA"（ヘッドの共有）。

    Examples
    --------
    >>> import numpy as np
    >>> W = np.random.default_rng(0).normal(size=(32, 8))
    >>> layer = MultiHeadAttention(W[:24], np.zeros(24), W[24:], np.zeros(8), num_heads=2)
    >>> output, weights = layer(W[:5], return_weights=True)
    >>> output.shape, weights.shape
    ((5, 8), (2, 5, 5))
    """

    in_proj_weight: np.ndarray
    in_proj_bias: np.ndarray
    out_proj_weight: np.ndarray
    out_proj_bias: np.ndarray
    num_heads: int

    def __post_init__(self):
        for name in ("in_proj_weight", "in_proj_bias", "out_proj_weight", "out_proj_bias"):
            object.__setattr__(self, name, as_floating(name, getattr(self, name)).copy())
        embed_dim = self.embed_dim
        stacked = self.in_proj_weight.shape  # (rows of W_Q, W_K and W_V, E)
        rows = stacked[0] if stacked[1:] == (embed_dim,) else 3 * embed_dim
        for name, shape in (
            ("out_proj_weight", (embed_dim, embed_dim)),
            ("out_proj_bias", (embed_dim,)),
            ("in_proj_weight", (rows, embed_dim)),
            ("in_proj_bias", (rows,)),
        ):
            if getattr(self, name).shape != shape:
                raise ValueError(f"{name} の形は {shape} にしてください: {getattr(self, name).shape} が来ました。")
        object.__setattr__(self, "num_heads", check_heads(embed_dim, self.num_heads))
        head_dim = embed_dim // self.num_heads
        num_kv_heads, rest = divmod(rows - embed_dim, 2 * head_dim)
        if rest or num_kv_heads < 1 or self.num_heads % num_kv_heads:
            raise ValueError(
                f"in_proj_weight の行は embed_dim + 2 * num_kv_heads * head_dim にしてください: {rows} 行が来ました。"
                f"embed_dim={embed_dim}、head_dim={head_dim} で、num_kv_heads は num_heads={self.num_heads} の約数です。"
            )

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
            同じ重みを持つ、NumPyの層。``bias=False`` の層なら、バイアスは0になります。

        Raises
        ------
        TypeError
            `state_dict` が対応でないとき、重みを実数の配列として読めないとき。
        ValueError
            必要な重みが足りないとき、写せない重みがあるとき、形が合わないとき。

        Examples
        --------
        >>> import numpy as np
        >>> weights = {"in_proj_weight": np.zeros((24, 8)), "out_proj.weight": np.zeros((8, 8))}
        >>> MultiHeadAttention.from_torch(weights, num_heads=2).embed_dim
        8
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(
                f"state_dict には layer.state_dict() を渡してください: {type(state_dict).__name__} が来ました。"
            )
        required, optional = {"in_proj_weight", "out_proj.weight"}, {"in_proj_bias", "out_proj.bias"}
        names = set(state_dict)
        if not required <= names <= required | optional:
            raise ValueError(
                f"state_dict には {'、'.join(sorted(required))} と、あれば {'、'.join(sorted(optional))} だけを"
                f"入れてください: {'、'.join(sorted(map(str, names))) or '空'} が来ました。"
                "kdim、vdim、add_bias_kv を指定せずに作った層の state_dict() を渡します。"
            )
        weights = {name: as_array(name, state_dict[name]) for name in names}
        in_proj, out_proj = weights["in_proj_weight"], weights["out_proj.weight"]
        return cls(
            in_proj,
            weights.get("in_proj_bias", np.zeros(in_proj.shape[:1], in_proj.dtype)),
            out_proj,
            weights.get("out_proj.bias", np.zeros(out_proj.shape[:1], out_proj.dtype)),
            num_heads,
        )

    def __call__(
        self,
        query,
        key=None,
        value=None,
        *,
        mask=None,
        is_causal=False,
        offset=None,
        window=None,
        cache=None,
        return_weights=False,
    ):
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
        offset, window : int, optional
            :func:`causal_mask` と同じです。`cache` があれば、offsetは省けます。
        cache : KVCache, optional
            射影したキーとバリューをここに足し、これまでの全部を見ます（1トークンずつの生成）。
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
        is_causal = as_flag("is_causal", is_causal)
        if not (cache is None or isinstance(cache, KVCache)):
            raise TypeError(f"cache には KVCache() を渡してください: {cache!r} が来ました。")
        key = query if key is None else key
        value = key if value is None else value
        # (..., H, L, D), and twice (..., H, S, D)
        query, key, value = self._project(query, key, value)
        if cache is not None:
            key, value = cache.extended(key, value)
            if is_causal and offset is None:
                offset = len(cache)
        inputs = query, key, value
        options = {
            "mask": mask,
            "is_causal": is_causal,
            "offset": offset,
            "window": window,
        }
        weights = None
        if return_weights:
            attended, weights = scaled_dot_product_attention(
                *inputs,
                **options,
                return_weights=True,
            )
        else:
            attended = blockwise_attention(*inputs, **options)
        with quiet():
            output = merge_heads(attended) @ self.out_proj_weight.T
            output = output + self.out_proj_bias  # (..., L, E)
        if cache is not None:
            cache.keep(key)  # only now: a call that is refused leaves the cache as it was
        return (output, weights) if return_weights else output

    def _project(self, query, key, value):
        embed_dim = self.embed_dim
        kv_dim = (len(self.in_proj_bias) - embed_dim) // 2
        num_kv_heads = kv_dim * self.num_heads // embed_dim
        end = embed_dim + kv_dim
        for name, x, rows, num_heads in (
            ("query", query, slice(0, embed_dim), self.num_heads),
            ("key", key, slice(embed_dim, end), num_kv_heads),
            ("value", value, slice(end, None), num_kv_heads),
        ):
            weight, bias = self.in_proj_weight[rows], self.in_proj_bias[rows]
            x = as_floating(name, x)
            if x.ndim < 2 or x.shape[-1] != embed_dim:
                raise ValueError(
                    f"{name} の形は (..., 長さ, embed_dim={embed_dim}) にしてください: {x.shape} が来ました。"
                )
            dtype, work = working_dtype(x, weight)
            with quiet():
                x = x.astype(work, copy=False) @ weight.T + bias  # (..., L or S, rows of the weight)
                x = x.astype(dtype, copy=False)
            yield split_heads(x, num_heads)
