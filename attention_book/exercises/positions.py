"""positions の練習を調べます。"""

import numpy as np

from attention_book.attention import scaled_dot_product_attention
from attention_book.exercises._grade import ask, ask_array, passed, require, require_close
from attention_book.positions import rotary_positions


def check_rotation(answer):
    """自分で書いた、位置に比例した角度だけ組を回す関数（RoPE）を調べます。

    Parameters
    ----------
    answer : callable
        ``answer(x, positions)``。`x` は形 ``(L, head_dim)``、`positions` は形 ``(L,)``。
        隣り合う2つの成分を組にし、t番目（0から数えます）の組を ``position * 10000 ** (-2 * t / head_dim)`` だけ
        回して返します。

    Raises
    ------
    NotYet
        まだ違うとき。文が、向き、位置、組の作り方、速さのどれが違うかを伝えます。

    References
    ----------
    Su et al. (2021), "RoFormer: Enhanced Transformer with Rotary Position Embedding"。

    Examples
    --------
    >>> from attention_book import rotary_positions
    >>> check_rotation(rotary_positions)
    合格です：向き、位置、組の作り方、速さ
    """
    length, head_dim = 5, 6
    x = np.random.default_rng(10).normal(size=(length, head_dim))
    positions = np.array([0, 3, 1, 7, 20])
    got = ask_array(answer, x, positions)
    require(got.shape == x.shape, f"形が {got.shape} です。x と同じ {x.shape} のはずです。")
    halves = [0, 3, 1, 4, 2, 5]  # component t beside component t + head_dim / 2
    moved = rotary_positions(x[:, halves], positions)[:, np.argsort(halves)]
    together = np.stack([rotary_positions(pair, positions) for pair in x.reshape(length, 3, 2).swapaxes(0, 1)], axis=1)
    turned = rotary_positions(x, positions)
    for wrong, message in (
        (turned[:, [0, 2, 4, 1, 3, 5]], "回した後の並べ方が違います。隣り合う2つの場所（0::2 と 1::2）へ戻します。"),
        (rotary_positions(x, -positions), "回す向きが逆です。正弦の符号を見直してください。"),
        (rotary_positions(x), "行の番号だけ回しています。角度には positions を使います。"),
        (moved, "t番目と t + head_dim / 2 番目の成分を組にしています。組にするのは、隣り合う2つです。"),
        (together.reshape(x.shape), "どの組も同じ速さで回っています。後ろの組ほど遅くします。"),
    ):
        require(not np.allclose(got, wrong), message)
    lengths = np.linalg.norm(np.reshape(got, (length, 3, 2)), axis=-1)
    require(
        np.allclose(lengths, np.linalg.norm(x.reshape(length, 3, 2), axis=-1)),
        "組の長さが変わっています。回転では長さが変わりません。2つの式に、もとの成分を両方使います。",
    )
    require_close("回した結果", got, turned, "角度は position * 10000 ** (-2 * t / head_dim) です。")
    passed("向き、位置、組の作り方、速さ")


def check_position_head(W_q, W_k, W_v, read):
    """位置の情報がない入力から、causal maskだけで位置を取り出すヘッドを調べます。

    入力の5つの成分は、先頭のトークンだけ1になる印、いつも1の定数、トークンの内容（3つ）です。

    Parameters
    ----------
    W_q, W_k : array_like
        クエリとキーを作る、形 ``(5, head_dim)`` の行列。
    W_v : array_like
        バリューを作る、形 ``(5, 1)`` の行列。
    read : callable
        ``read(output)``。形 ``(n, 1)`` の出力のそれぞれを、0から数えた位置に直し、形 ``(n,)`` で返します。

    Raises
    ------
    NotYet
        まだ違うとき。文が、重み、出力、読み方のどれが違うかを伝えます。

    References
    ----------
    Haviv et al. (2022), "Transformer Language Models without Positional Encodings Still Learn Positional Information"。

    Examples
    --------
    >>> import numpy as np
    >>> only_mark = np.eye(5)[:, :1]
    >>> check_position_head(np.zeros((5, 2)), np.zeros((5, 2)), only_mark, lambda output: 1 / output[:, 0] - 1)
    合格です：内容によらない重み、位置ごとに違う出力、読み方
    """
    W_q, W_k, W_v = matrices = [np.asarray(W) for W in (W_q, W_k, W_v)]
    for name, W in zip(("W_q", "W_k", "W_v"), matrices, strict=True):
        require(W.dtype != object, f"{name} がまだ行列ではありません。... を、5行の行列に書き換えてください。")
        require(
            W.ndim == 2 and len(W) == 5 and W.dtype.kind in "fiu",
            f"{name} は5行の実数の行列にしてください: 形 {W.shape}、dtype={W.dtype}。",
        )
    require(W_q.shape == W_k.shape, f"W_q {W_q.shape} と W_k {W_k.shape} の形をそろえてください。")
    require(W_v.shape == (5, 1), f"W_v の形が {W_v.shape} です。(5, 1) のはずです。")
    length = 8
    rng = np.random.default_rng(11)
    weights, outputs = [], []
    for _ in range(2):
        x = np.c_[np.arange(length) == 0, np.ones(length), rng.normal(size=(length, 3))]  # (8, 5)
        output, w = scaled_dot_product_attention(x @ W_q, x @ W_k, x @ W_v, is_causal=True, return_weights=True)
        weights.append(w)
        outputs.append(output)
    require(
        np.allclose(*weights),
        "トークンの内容で重みが変わります。W_q と W_k の、内容に掛かる3行を見直してください。",
    )
    require(
        np.allclose(*outputs),
        "トークンの内容で出力が変わります。W_v の、内容に掛かる3行を見直してください。",
    )
    output = outputs[0]
    gaps = abs(output - output.T)[np.triu_indices(length, 1)]
    require(
        gaps.min() > 1e-6,
        "同じ出力になる位置があります。先頭の印だけをバリューにして、見えるトークンで薄めます。",
    )
    order = np.array([3, 0, 6, 2, 7, 1])
    got = ask(read, output[order])
    require(np.shape(got) == order.shape, f"読んだ位置の形が {np.shape(got)} です。{order.shape} のはずです。")
    require(
        not np.allclose(got, np.arange(len(order))),
        "出力ではなく、行の番号を返しています。並べ替えた出力からも、もとの位置を読めるはずです。",
    )
    require(not np.allclose(got, order + 1), "位置を1から数えています。0から数えてください。")
    require_close("読んだ位置", got, order, "出力が位置のどんな式になるかを、紙で書いてみてください。")
    passed("内容によらない重み、位置ごとに違う出力、読み方")
