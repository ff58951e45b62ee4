"""Each check passes a right answer, and tells each wrong one what is wrong with it."""

import numpy as np
import pytest

from attention_book.exercises import NotYet, check_ablation, check_induction_score
from attention_book.exercises.inside import share_solved

RIGHT = {"A": (False, False, True), "B": (True, False, False), "C": (True, True, False)}


def test_ablation_passes(capsys):
    check_ablation(RIGHT)
    assert capsys.readouterr().out.startswith("合格です")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"A": (True, False, True)}, "Aで1層目を切ると、正解率は .*2層目のキー"),
        ({"A": (False, True, True)}, "Aで2層目を切ると"),
        ({"A": (False, False, False)}, "Aで周期を変えると、正解率は 100%"),
        ({"B": (False, False, False)}, "Bで1層目を切ると、正解率は 100%.*使われていません"),
        ({"B": (True, True, False)}, "Bで2層目を切ると"),
        ({"C": (False, False, False)}, "Cで1層目を切ると、正解率は 100%.*もう片方"),
        ({"C": (True, False, False)}, "Cで2層目を切ると、正解率は 100%"),
        ({"C": (True, True, True)}, "Cで周期を変えると"),
        ({"A": (..., ..., ...)}, "Aの予想は、True か False"),
        ({"A": (False, False)}, "Aの予想は、True か False"),
        ({"D": (False, False, False)}, "A、B、Cの3つ"),
    ],
)
def test_ablation_names_the_fault(change, message):
    with pytest.raises(NotYet, match=message):
        check_ablation(RIGHT | change)


def test_ablation_wants_a_mapping():
    with pytest.raises(NotYet, match="辞書"):
        check_ablation([True])


@pytest.mark.parametrize("name", "ABC")
def test_the_models_solve_the_task_before_anything_is_cut(name):
    assert share_solved(name, (1, 1), 7) == 1


def scores(weights, tokens, step=1, take=np.sum):
    """The score of each query that has seen its token before."""
    found = []
    for i in range(len(tokens)):
        earlier = np.flatnonzero(tokens[:i] == tokens[i])
        if len(earlier):
            found.append(take(weights[i, earlier + step]))
    return np.array(found)


def test_induction_score_passes(capsys):
    check_induction_score(lambda w, t: scores(w, t).mean())
    assert capsys.readouterr().out.startswith("合格です")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda w, t: scores(w, t, step=0).mean(), "その次の位置"),
        (lambda w, t: scores(w, t).sum() / len(t), "出ているクエリだけで平均"),
        (lambda w, t: scores(w, t).sum(), "数で割って"),
        (lambda w, t: scores(w, t, take=np.max).mean(), "すべての重みを足して"),
        (lambda w, t: scores(w, t, take=lambda x: x[-1]).mean(), r"inductionスコア が .* です"),
        (lambda w, t: np.diagonal(w, -1).mean(), r"inductionスコア が .* です"),
        (lambda w, t: scores(w, t), "形"),
        (lambda w, t: None, "None"),
    ],
)
def test_induction_score_names_the_fault(answer, message):
    with pytest.raises(NotYet, match=message):
        check_induction_score(answer)
