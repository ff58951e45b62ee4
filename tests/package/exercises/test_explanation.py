"""The check passes a right answer, and tells each wrong one what is wrong with it."""

import numpy as np
import pytest

from attention_book.exercises import NotYet, check_other_weights


def moved(weights, constraints, share):
    direction = np.linalg.svd(constraints)[2][-1]
    return weights + share * direction * (weights / np.abs(direction)).min()


def both(values):
    return np.vstack([values.T, np.ones(len(values))])


@pytest.mark.parametrize("share", [0.9, -0.5])
def test_other_weights_passes(share, capsys):
    check_other_weights(lambda w, v: moved(w, both(v), share))
    assert capsys.readouterr().out.startswith("合格です")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda w, v: None, "None"),
        (lambda w, v: w, "差が 0 しか"),
        (lambda w, v: moved(w, both(v), 0.01), "もっと大きく"),
        (lambda w, v: moved(w, both(v), 30), "0以下の重み"),
        (lambda w, v: w + 0.05 * np.linalg.svd(both(v))[2][-1], "0以下の重み.*重みに合わせて"),
        (lambda w, v: w + 0.02 * np.linalg.svd(both(v))[2][-1], "0以下の重み"),
        (lambda w, v: (w, v), "形の違う配列"),
        (lambda w, v: moved(w, v.T, 0.9), r"合計 が .*1だけの行"),
        (lambda w, v: moved(w, np.ones((1, len(w))), 0.9), r"出力\[0\] が .*バリューとの積"),
        (lambda w, v: np.full(len(w), 1 / len(w)), r"出力\[0\] が"),
        (lambda w, v: np.vstack([w, w]) / 2, "重みを1本"),
    ],
)
def test_other_weights_names_the_fault(answer, message):
    with pytest.raises(NotYet, match=message):
        check_other_weights(answer)
