"""torch-mha の練習を調べます。"""

from collections.abc import Mapping

import numpy as np

from attention_book.exercises._grade import passed, require
from attention_book.multihead import MultiHeadAttention


def check_mha_shapes(answers, *, embed_dim=8, num_heads=1, batch=1, query_len=4, key_len=4):
    """``nn.MultiheadAttention(..., batch_first=True)`` の形の予想を、同じ層を動かして調べます。

    Parameters
    ----------
    answers : mapping
        ``"output"``、``"weights"``（既定で返る重み）、``"per_head"``
        （``average_attn_weights=False`` の重み）、``"in_proj_weight"`` から、形への対応。
    embed_dim, num_heads, batch, query_len, key_len : int
        層と入力の大きさ。省くと、実験3でヘッドを1つにしたものです。

    Raises
    ------
    NotYet
        まだ違うとき。文が、どの軸が違うかを伝えます。

    References
    ----------
    Vaswani et al. (2017), "Attention Is All You Need", 3.2.2節。

    Examples
    --------
    >>> check_mha_shapes(
    ...     {"output": (1, 4, 8), "weights": (1, 4, 4), "per_head": (1, 1, 4, 4), "in_proj_weight": (24, 8)}
    ... )
    合格です：4つの形
    """
    require(isinstance(answers, Mapping), f"名前から形への辞書を渡してください: {answers!r}。")
    stacked, out = np.zeros((3 * embed_dim, embed_dim)), np.zeros((embed_dim, embed_dim))
    layer = MultiHeadAttention(stacked, stacked[:, 0], out, out[0], num_heads)
    query, key = (np.zeros((batch, length, embed_dim)) for length in (query_len, key_len))
    output, per_head = layer(query, key, return_weights=True)
    right = {
        "output": output.shape,
        "weights": per_head.mean(axis=1).shape,
        "per_head": per_head.shape,
        "in_proj_weight": stacked.shape,
    }
    hints = {
        ("output", (query_len, batch, embed_dim)): "batch_first=True では、最初の軸がバッチです。",
        ("output", (batch, key_len, embed_dim)): "出力は、クエリ1つにつき1本です。",
        ("weights", per_head.shape): "既定では、ヘッドについて平均した重みが返ります。",
        ("weights", (batch, key_len, query_len)): "行がクエリ、列がキーです。",
        ("per_head", right["weights"]): "ヘッドが1つでも、ヘッドの軸は残ります。",
        ("per_head", (num_heads, batch, query_len, key_len)): "最初の軸はバッチで、ヘッドの軸はその次です。",
        ("per_head", (batch, num_heads, key_len, query_len)): "行がクエリ、列がキーです。",
        ("in_proj_weight", (embed_dim, 3 * embed_dim)): "転置した行列が、縦に積まれています。",
        ("in_proj_weight", (embed_dim, embed_dim)): "W_Q、W_K、W_Vの3つ分です。",
    }
    for name, shape in right.items():
        require(answers.get(name, ...) is not ..., f"{name} の形を書きましょう。")
        require(
            isinstance(answers[name], (tuple, list)),
            f"{name} の形は、(1, 4, 8) のように、かっこの中に数を並べて書きましょう。",
        )
        got = tuple(answers[name])
        if got != shape:
            last = "違う軸を、前から順に見直しましょう。"
            hint = hints.get((name, got), f"軸の数は {len(shape)} です。" if len(got) != len(shape) else last)
            require(False, f"{name} の形 {got} が違います。{hint}")
    passed("4つの形")
