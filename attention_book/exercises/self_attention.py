"""self-attention の練習を調べます。"""

import numpy as np

from attention_book.attention import scaled_dot_product_attention
from attention_book.exercises._grade import ask, passed, require, require_close, require_sums_of_one
from attention_book.softmax import softmax


def check_name_ratio(answer):
    """代名詞から2つの名前への、重みの比を求める関数を調べます。

    Parameters
    ----------
    answer : callable
        ``answer(pronoun, first, second, W_q, W_k)``。最初の3つは形 ``(embed_dim,)`` の埋め込み、
        行列は形 ``(embed_dim, head_dim)``。返すのは、`first` への重みを `second` への重みで割った数です。

    Raises
    ------
    NotYet
        まだ違うとき。文が、何が違うかを伝えます。

    References
    ----------
    Vaswani et al. (2017), "Attention Is All You Need", 3.2.1節。

    Examples
    --------
    >>> import numpy as np
    >>> def ratio(pronoun, first, second, W_q, W_k):
    ...     difference = (pronoun @ W_q) @ ((first - second) @ W_k)
    ...     return np.exp(difference / np.sqrt(W_k.shape[1]))
    >>> check_name_ratio(ratio)
    合格です：どの動詞の文でも、重みの比は同じ1つの数
    """
    rng = np.random.default_rng(4)
    x = rng.normal(size=(5, 6))  # first, second, pronoun, verb, another word
    W_q, W_k = rng.normal(size=(2, 6, 4)) / 2
    got = ask(answer, x[2], x[0], x[1], W_q, W_k)
    require(np.shape(got) == (), f"比は1つの数です。形 {np.shape(got)} の値が返りました。")
    scores = (x[2] @ W_q) @ (x[:2] @ W_k).T
    difference = scores[0] - scores[1]
    back = (x[:2] @ W_q) @ (x[2] @ W_k)
    for wrong, message in (
        (scores[0] / scores[1], "スコアの比になっています。重みの比は、expを取ったものの比です。"),
        (difference, "スコアの差のままです。重みの比にするには、√d_kで割ってからexpを取ります。"),
        (difference / 2, "スコアの差のままです。重みの比にするには、expを取ります。"),
        (np.exp(difference), "√d_kで割っていません。head_dimは、W_kの列の数です。"),
        (np.exp(difference / 4), "head_dimそのもので割っています。その平方根（√head_dim）で割ります。"),
        (np.exp(difference / np.sqrt(6)), "√embed_dimで割っています。割るのは√head_dim（W_kの列の数）です。"),
        (softmax(scores / 2)[0], "firstへの重みそのものになっています。secondへの重みで割って、比にします。"),
        (np.exp(-difference / 2), "比が逆さまです。firstへの重みを、secondへの重みで割ります。"),
        (
            np.exp((back[0] - back[1]) / 2),
            "名前のほうがクエリになっています。クエリは代名詞、キーは2つの名前から作ります。",
        ),
    ):
        require(not np.isclose(got, wrong), message)
    for verb in rng.normal(size=(3, 6)):
        x[3] = verb
        _, weights = scaled_dot_product_attention(x @ W_q, x @ W_k, x, return_weights=True)
        require_close("比", got, weights[2, 0] / weights[2, 1], "softmaxの分母は、約分されて消えます。")
    passed("どの動詞の文でも、重みの比は同じ1つの数")


def check_cross_attention(answer):
    """自分で書いたcross-attentionを調べます。

    Parameters
    ----------
    answer : callable
        ``answer(x, memory, W_q, W_k, W_v)``。`x` は形 ``(L, embed_dim)``、`memory` は形 ``(S, embed_dim)``。
        返すのは、出力 ``(L, value_dim)`` と重み ``(L, S)`` の組です。

    Raises
    ------
    NotYet
        まだ違うとき。文が、何が違うかを伝えます。

    References
    ----------
    Vaswani et al. (2017), "Attention Is All You Need", 3.2.3節。

    Examples
    --------
    >>> from attention_book import scaled_dot_product_attention
    >>> def cross(x, memory, W_q, W_k, W_v):
    ...     return scaled_dot_product_attention(x @ W_q, memory @ W_k, memory @ W_v, return_weights=True)
    >>> check_cross_attention(cross)
    合格です：形、行の合計、重み、出力
    """
    rng = np.random.default_rng(5)
    x, memory = rng.normal(size=(3, 6)), rng.normal(size=(5, 6))
    W_q, W_k, W_v = rng.normal(size=(6, 4)), rng.normal(size=(6, 4)), rng.normal(size=(6, 2))
    got = ask(answer, x, memory, W_q, W_k, W_v)
    require(isinstance(got, tuple) and len(got) == 2, "return output, weights のように、出力と重みを返してください。")
    output, weights = got
    L, S = len(x), len(memory)
    require(
        (np.shape(output), np.shape(weights)) != ((L, S), (L, 2)),
        "返す順番が逆です。return output, weights のように、出力を先にします。",
    )
    for shape, message in (
        ((S, L), "クエリとキーが入れ替わっています。クエリはxから、キーはmemoryから作ります。"),
        ((L, L), "キーがxから作られています。それはself-attentionです。キーはmemoryから作ります。"),
        ((S, S), "クエリがmemoryから作られています。それはself-attentionです。クエリはxから作ります。"),
    ):
        require(np.shape(weights) != shape, f"重みの形が {shape} です。{message}")
    require(np.shape(weights) == (L, S), f"重みの形が {np.shape(weights)} です。(L, S) = {(L, S)} のはずです。")
    require_sums_of_one("重みの行", weights, "softmaxはキーの方向（axis=-1）に掛けます。")
    want = scaled_dot_product_attention(x @ W_q, memory @ W_k, memory @ W_v, return_weights=True)
    require_close(
        "重み",
        weights,
        want[1],
        "スコアを√d_kで割ったか、クエリにW_q、キーにW_kを掛けたかを確かめましょう。",
    )
    require_close("出力", output, want[0], "バリューは memory @ W_v です。")
    passed("形、行の合計、重み、出力")
