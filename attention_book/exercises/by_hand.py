"""by-hand の練習を調べます。"""

import numpy as np

from attention_book.exercises._grade import ask, passed, require, require_close


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
    weights = ask(answer, scores)
    require(np.shape(weights) == (2, 3), f"形 (2, 3) のスコアに、形 {np.shape(weights)} の重みが返りました。")
    sums = np.sum(weights, axis=-1)
    require(
        np.allclose(sums, 1),
        f"行の合計が {np.round(sums, 3)} です。どれも1のはずです。合計を取る軸（axis=-1）を確かめましょう。",
    )
    powers = np.exp(scores)
    require_close("重み", weights, powers / powers.sum(axis=-1, keepdims=True), "expを取ってから合計で割ります。")
    with np.errstate(all="ignore"):  # the answer may overflow here; the next line says so
        large = ask(answer, np.array([1000.0, 1000.0]))
    require(
        np.allclose(large, 0.5),
        f"スコアが [1000, 1000] のとき、重みが {large} になりました。expの前に、行の最大値を引きましょう。",
    )
    passed("行の合計、値、大きなスコア")
