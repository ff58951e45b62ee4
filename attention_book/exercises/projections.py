"""projections の練習を調べます。"""

import numpy as np

from attention_book.attention import scaled_dot_product_attention
from attention_book.exercises._grade import NotYet, passed, require, require_close

TOKENS = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])  # experiment 1


def check_ignore_self(W_q, W_k):
    """実験1の1番目のトークンが自分を無視する射影かどうかを調べます。

    1番目のトークンが自分に付ける重みは0.05より小さく、2番目のトークンが自分に付ける重みは0.5より大きいはずです。

    Parameters
    ----------
    W_q, W_k : array_like
        どちらも形 ``(2, head_dim)``。head_dimは自由です。

    Raises
    ------
    NotYet
        まだ違うとき。文が、何が違うかを伝えます。

    References
    ----------
    Vaswani et al. (2017), "Attention Is All You Need", 3.2.2節。

    Examples
    --------
    >>> check_ignore_self([[2.0], [2.0]], [[-1.0], [1.0]])
    合格です：1番目は自分を無視し、2番目は自分をいちばん多く見ます
    """
    W_q, W_k = _projection("W_q", W_q), _projection("W_k", W_k)
    require(
        W_q.shape == W_k.shape,
        f"列の数が W_q は {W_q.shape[1]}、W_k は {W_k.shape[1]} です。内積を取るので、同じ数にします。",
    )
    require(
        not np.array_equal(W_q, W_k),
        "W_q と W_k が同じです。スコアが左右対称になり、2つの条件は、どんな行列でも両立しません。",
    )
    query, key = TOKENS @ W_q, TOKENS @ W_k
    _, weights = scaled_dot_product_attention(query, key, TOKENS, return_weights=True)
    scores = np.round(query @ key.T / np.sqrt(W_q.shape[1]), 1)
    require(
        weights[0, 0] < 0.05,
        f"1番目のトークンが自分に付けた重みが {weights[0, 0]:.2f} です。0.05より小さくします。"
        f"スコアの1行目 {scores[0]} の1つ目を、ほかより3以上小さくしましょう。",
    )
    require(
        weights[1, 1] > 0.5,
        f"2番目のトークンが自分に付けた重みが {weights[1, 1]:.2f} です。0.5より大きくします。"
        f"スコアの2行目 {scores[1]} の2つ目を、いちばん大きくしましょう。",
    )
    passed("1番目は自分を無視し、2番目は自分をいちばん多く見ます")


def check_difference(W_v):
    """バリューが「1つ目の数から2つ目の数を引いたもの」になる射影かどうかを調べます。

    Parameters
    ----------
    W_v : array_like
        形 ``(2, 1)``。

    Raises
    ------
    NotYet
        まだ違うとき。文が、何が違うかを伝えます。

    References
    ----------
    Vaswani et al. (2017), "Attention Is All You Need", 3.2.2節。

    Examples
    --------
    >>> check_difference([[1.0], [1.0]])
    Traceback (most recent call last):
        ...
    attention_book.exercises._grade.NotYet: バリュー[1, 0] が 1 です。-1 のはずです。[1, 0] からは 1、[0, 1] からは -1 を受け取ります。
    """
    value = TOKENS @ _projection("W_v", W_v)
    require_close(
        "バリュー", value, TOKENS[:, :1] - TOKENS[:, 1:], "[1, 0] からは 1、[0, 1] からは -1 を受け取ります。"
    )
    passed("バリューは、2つの数の差です")


def _projection(name, matrix):
    """Return a matrix that has a row for each of the two numbers of a token, or say what is wrong with it."""
    try:
        matrix = np.asarray(matrix)
    except ValueError:  # rows of different lengths
        raise NotYet(f"{name} を行列にできません。どの行も同じ長さにしてください。") from None
    require(matrix.dtype.kind in "fiu", f"{name} が数の行列になっていません。... を行列に書き換えてください。")
    require(
        matrix.ndim == 2,
        f"{name} の形が {matrix.shape} です。角かっこを2重にして、行が2本の行列にしてください。",
    )
    require(
        matrix.shape[0] == 2,
        f"{name} の形が {matrix.shape} です。トークン（行）の右から掛けるので、行は2本です。転置していませんか。",
    )
    require(np.isfinite(matrix).all(), f"{name} に、有限でない数があります。")
    return matrix
