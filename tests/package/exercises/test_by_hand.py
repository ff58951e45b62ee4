"""Each check passes a right answer, and tells each wrong one what is wrong with it."""

import numpy as np
import pytest

from attention_book import softmax
from attention_book.exercises import NotYet, check_softmax


def test_softmax_passes(capsys):
    check_softmax(softmax)
    assert capsys.readouterr().out.startswith("合格です")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda s: np.exp(s) / np.exp(s).sum(), r"行の合計が .*axis=-1"),
        (lambda s: softmax(s, axis=0), r"行の合計が .*axis=-1"),
        (lambda s: softmax(s).sum(axis=-1), r"形 \(2,\) の重み"),
        (
            lambda s: s / s.sum(axis=-1, keepdims=True) if s.all() else np.full(s.shape, 1 / 3),
            r"重み\[0, 0\] が 0.3333",
        ),
        (lambda s: np.exp(s) / np.exp(s).sum(axis=-1, keepdims=True), "行の最大値を引きましょう"),
    ],
)
def test_softmax_names_the_fault(answer, message):
    with pytest.raises(NotYet, match=message):
        check_softmax(answer)
