"""inside の練習を調べます。"""

import numpy as np

from attention_book.attention import scaled_dot_product_attention
from attention_book.exercises._grade import ask, passed, require, require_close
from attention_book.softmax import softmax

PERIOD, OTHER_PERIOD = 7, 5
TRIALS = {  # what is done to a model: which layers stay, and how the sequence repeats
    "1層目を切る": ((0, 1), PERIOD),
    "2層目を切る": ((1, 0), PERIOD),
    "周期を変える": ((1, 1), OTHER_PERIOD),
}
HINTS = {
    "A": "2層目のキーは1層目の書き込みで、探すのは距離ではなく内容です。",
    "B": "1層目の書き込みは、どこにも使われていません。写すのは、いつも6個前です。",
    "C": "片方を切っても、もう片方が同じトークンを写します。写すのは、いつも6個前です。",
}


def check_ablation(predictions):
    """層を切ったり周期を変えたりしても、まだ解けるかの予想を、組み立てたモデルで確かめます。

    Parameters
    ----------
    predictions : mapping of str to sequence of bool
        モデル ``"A"``、``"B"``、``"C"`` のそれぞれに、（1層目を切る、2層目を切る、周期を変える）の順の予想。
        まだ解けるなら ``True`` です。

    Raises
    ------
    NotYet
        まだ違うとき。文が、何が違うかを伝えます。

    References
    ----------
    Olsson et al. (2022), "In-context Learning and Induction Heads".

    Examples
    --------
    >>> check_ablation({"A": (False, False, True), "B": (True, False, False), "C": (True, True, False)})
    合格です：3つのモデルと3つの実験
    """
    require(
        isinstance(predictions, dict) and set(predictions) == set(HINTS),
        f"A、B、Cの3つに予想を書いた辞書を渡してください: {predictions!r}。",
    )
    for name, answers in predictions.items():
        require(
            np.shape(answers) == (len(TRIALS),) and all(answer in (True, False) for answer in answers),
            f"{name}の予想は、True か False を3つ並べてください: {answers!r}。",
        )
        for (trial, (layers, period)), answer in zip(TRIALS.items(), answers, strict=True):
            rate = share_solved(name, layers, period)
            require(answer == (rate > 0.9), f"{name}で{trial}と、正解率は {rate:.0%} です。{HINTS[name]}")
    passed("3つのモデルと3つの実験")


def share_solved(name, layers, period):
    """Build the model by hand, and return how often it names the next token from the second round on."""
    rng = np.random.default_rng(7)
    tokens = rng.permutation(9)[np.arange(3 * PERIOD) % period]
    token = np.eye(9)[tokens]  # one-hot (21, 9)
    if name == "A":
        previous = layers[0] * np.eye(len(token), k=-1) @ token  # what the first layer writes
        written = layers[1] * scaled_dot_product_attention(50 * token, previous, token, is_causal=True)
    else:
        copied = np.eye(len(token), k=1 - PERIOD) @ token  # the token of six places before
        written = (layers[1] + (name == "C") * layers[0]) * copied
    right = written.argmax(axis=1)[period:-1] == tokens[period + 1 :]
    return right.mean()


def check_induction_score(answer):
    """重みとトークンから求めたinductionスコアを調べます。

    Parameters
    ----------
    answer : callable
        ``answer(weights, tokens)``。`weights` は形 ``(n, n)`` のcausal maskを掛けた重み、`tokens` は形 ``(n,)`` の
        トークンの番号です。前に同じトークンが出たクエリについて、それぞれの次の位置への重みの和を求め、平均を返します。

    Raises
    ------
    NotYet
        まだ違うとき。文が、何が違うかを伝えます。

    References
    ----------
    Olsson et al. (2022), "In-context Learning and Induction Heads".

    Examples
    --------
    >>> def induction_score(weights, tokens):
    ...     same = np.tril(tokens[:, None] == tokens, k=-1)  # the same token before
    ...     after = np.roll(same, 1, axis=1)  # the place next to it
    ...     return (weights * after).sum() / same.any(axis=1).sum()
    >>> check_induction_score(induction_score)
    合格です：2回以上出たトークンと、1回だけのトークン
    """
    tokens = np.array([2, 0, 1, 2, 2, 3, 0, 2, 4])
    scores = np.random.default_rng(8).normal(size=(9, 9))
    weights = softmax(np.where(np.tri(9, dtype=bool), scores, -np.inf))
    got = ask(answer, weights, tokens)
    same = np.tril(tokens[:, None] == tokens, k=-1)
    after = np.roll(same, 1, axis=1)  # no pair reaches the last column, so nothing wraps
    asked = same.any(axis=1)
    mass = (weights * after).sum(axis=1)
    wrong = {
        "同じトークンの位置を足しています。その次の位置（＋1）を足してください。": (weights * same)
        .sum(axis=1)[asked]
        .mean(),
        "平均に、同じトークンがまだ出ていないクエリも入っています。出ているクエリだけで平均してください。": mass.mean(),
        "和のままです。前に同じトークンが出たクエリの数で割ってください。": mass.sum(),
        "1つのクエリに候補が2つ以上あるときは、どれか1つではなく、すべての重みを足してください。": (
            (weights * after).max(axis=1)[asked].mean()
        ),
    }
    for message, value in wrong.items():
        require(np.shape(got) != () or not np.isclose(got, value), message)
    require_close("inductionスコア", got, mass[asked].mean(), "クエリごとに、次の位置への重みを足してから平均します。")
    passed("2回以上出たトークンと、1回だけのトークン")
