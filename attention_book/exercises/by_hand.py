"""by-hand の練習を調べます。"""

import numpy as np

from attention_book.exercises._grade import ask, ask_array, passed, require, require_close, require_sums_of_one
from attention_book.softmax import softmax


def check_softmax(answer):
    """自分で書いたsoftmaxを調べます。

    Parameters
    ----------
    answer : callable
        ``answer(scores)``。`scores` は形 ``(..., S)`` の配列、返すのは最後の軸の合計が1の、同じ形の重みです。

    Raises
    ------
    NotYet
        まだ違うとき。文が、何が違うかを伝えます。

    References
    ----------
    Bridle (1990), "Probabilistic Interpretation of Feedforward Classification Network Outputs".

    Examples
    --------
    >>> from attention_book import softmax
    >>> check_softmax(softmax)
    合格です：行の合計、値、大きなスコア
    """
    scores = np.array([[1.0, 2.0, 4.0], [0.0, 0.0, 0.0]])
    weights = ask_array(answer, scores)
    require(weights.shape == (2, 3), f"形 (2, 3) のスコアに、形 {weights.shape} の重みが返りました。")
    require_sums_of_one("行", weights, "合計を取る軸（axis=-1）を確かめましょう。")
    powers = np.exp(scores)
    require_close("重み", weights, powers / powers.sum(axis=-1, keepdims=True), "expを取ってから合計で割ります。")
    with np.errstate(all="ignore"):  # the answer may overflow here; the next line says so
        top, _, low = ask(answer, np.array([[1000.0, 1000.0], [0.0, 0.0], [-1000.0, -1000.0]]))
    require(
        np.allclose(top, 0.5),
        f"スコアが [1000, 1000] のとき、重みが {top} になりました。expの前に、行の最大値を引きましょう。",
    )
    require(
        np.allclose(low, 0.5),
        f"[1000, 1000] と [-1000, -1000] の行を一緒に渡すと、後の行の重みが {low} になりました。"
        "行ごとに、その行の最大値を引きましょう（axis=-1、keepdims=True）。",
    )
    for row in ([1000.0, 0.0], [3000.0, 0.0], [1000.0, 900.0]):
        with np.errstate(all="ignore"):
            (one,) = ask(answer, np.array([row]))
        require(
            np.allclose(one, [1, 0]),
            f"スコアが [{row[0]:g}, {row[1]:g}] のとき、重みが {one} になりました。[1, 0] のはずです。"
            "引くのは行の最大値で、スコアの差は変えません。",
        )
    scores = np.random.default_rng(0).normal(size=(2, 3, 4))
    require_close(
        "3次元の重み", ask(answer, scores), softmax(scores), "合計を取るのは、いつも最後の軸です（axis=-1）。"
    )
    passed("行の合計、値、大きなスコア")


def check_second_row(exponentials, weights, output):
    """実験1の2行目を手で計算した結果を、小数3桁まで調べます。

    Parameters
    ----------
    exponentials, weights : array_like
        形 ``(3,)``。指数と、それを合計で割った重みです。
    output : array_like
        形 ``(2,)``。重みでバリューを混ぜた出力です。

    Raises
    ------
    NotYet
        まだ違うとき。文が、何が違うかを伝えます。

    Examples
    --------
    >>> check_second_row([1.0, 2.028, 2.028], [0.198, 0.401, 0.401], [0.599, 0.802])
    合格です：指数、重み、出力
    """
    answers = exponentials, weights, output
    require(not any(answer is ... for answer in answers), "「...」を、計算した数に書き換えてください。")
    raw = np.array([0.0, 1.0, 1.0])
    powers = np.exp(raw / np.sqrt(2))
    require(
        not matches(exponentials, np.exp(raw)), "指数を取る前に、スコアを√2で割ってください（√2は1.414と置けます）。"
    )
    require_close("exponentials", exponentials, powers, "0、1、1を√2で割り、expを取ります。", atol=1e-3)
    require(not matches(weights, powers), "重みがまだ指数のままです。指数の合計で割ってください。")
    require_close("weights", weights, powers / powers.sum(), "指数を、3つの合計で割ります。", atol=1e-3)
    value = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    want = powers / powers.sum() @ value
    require(not matches(output, want[::-1]), "出力の2つの数が逆です。1つ目は、バリューの1列目から作ります。")
    require_close("output", output, want, "バリューの3つの行を、重みで足します。", atol=1e-3)
    passed("指数、重み、出力")


def check_turned_token(token):
    """``[1, 1]`` の長さを変えずに ``[2, 0]`` の向きへ回したトークンを調べます。

    Parameters
    ----------
    token : array_like
        形 ``(2,)`` のベクトルです。

    Raises
    ------
    NotYet
        まだ違うとき。文が、何が違うかを伝えます。

    Examples
    --------
    >>> check_turned_token([2**0.5, 0.0])
    合格です：向きは [2, 0]、長さは [1, 1]
    """
    require(token is not ..., "「...」を、2つの数のリストに書き換えてください。")
    want = np.array([np.sqrt(2), 0.0])
    require(not matches(token, [2.0, 0.0]), "向きは合っていますが、長さも変わりました。[1, 1] の長さは√2です。")
    require(not matches(token, [1.0, 1.0]), "まだ回していません。[2, 0] と同じ向きにしてください。")
    require_close("token", token, want, "[2, 0] と同じ向きで、[1, 1] と同じ長さにします。", atol=1e-3)
    passed("向きは [2, 0]、長さは [1, 1]")


def matches(answer, values):
    """Tell whether the reader gave just these numbers, to three decimals."""
    try:
        answer = np.asarray(answer, dtype=float)
    except (TypeError, ValueError):  # not numbers: require_close says so
        return False
    return answer.shape == np.shape(values) and np.allclose(answer, values, atol=1e-3)
