"""Each check passes a right answer, and tells each wrong one what is wrong with it."""

import numpy as np
import pytest

from attention_book import softmax
from attention_book.exercises import NotYet, check_second_row, check_softmax, check_turned_token


def of_the_largest_of_all(scores):
    """Subtract one number from every row: it must be the maximum of the row."""
    powers = np.exp(scores - scores.max())
    return powers / powers.sum(axis=-1, keepdims=True)


def shifted(scores, by):
    powers = np.exp(scores - by)
    return powers / powers.sum(axis=-1, keepdims=True)


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
        (
            lambda s: np.exp(s) / np.exp(s).sum(axis=-1, keepdims=True),
            r"\[1000, 1000\] のとき.*行の最大値を引きましょう",
        ),
        (of_the_largest_of_all, "行ごとに、その行の最大値"),
        (
            lambda s: shifted(s, s.min(axis=-1, keepdims=True)),
            r"\[1000, 0\] のとき.*差は変えません",
        ),
        (lambda s: shifted(s, s.mean(axis=-1, keepdims=True)), r"\[3000, 0\] のとき"),
        (lambda s: shifted(np.clip(s, -700, 700), 0), r"\[1000, 900\] のとき.*\[1, 0\] のはず"),
        (lambda s: softmax(s, axis=1), r"3次元の重み.*最後の軸"),
        (lambda s: (softmax(s), s[0]), "形の違う配列"),
        (lambda s: softmax(s).round(5), "途中で丸め"),
    ],
)
def test_softmax_names_the_fault(answer, message):
    with pytest.raises(NotYet, match=message):
        check_softmax(answer)


POWERS, WEIGHTS, OUTPUT = [1.0, 2.028, 2.028], [0.198, 0.401, 0.401], [0.599, 0.802]


def test_second_row_passes(capsys):
    check_second_row(POWERS, WEIGHTS, OUTPUT)
    assert capsys.readouterr().out.startswith("合格です")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((..., WEIGHTS, OUTPUT), r"「\.\.\.」を"),
        ((POWERS, WEIGHTS, ...), r"「\.\.\.」を"),
        (([1.0, 2.718, 2.718], WEIGHTS, OUTPUT), "√2で割って"),
        (([2.028, 1.0, 2.028], WEIGHTS, OUTPUT), r"exponentials\[0\] が 2.028"),
        ((POWERS, POWERS, OUTPUT), "合計で割って"),
        ((POWERS, [0.401, 0.198, 0.401], OUTPUT), r"weights\[0\] が 0.401"),
        ((POWERS, WEIGHTS, [0.802, 0.599]), "逆です"),
        ((POWERS, WEIGHTS, [0.599, 0.401]), r"output\[1\] が 0.401"),
        ((POWERS, WEIGHTS, WEIGHTS), "outputの形"),
        ((POWERS, WEIGHTS, ["0.6", "たくさん"]), "実数の配列"),
    ],
)
def test_second_row_names_the_fault(answer, message):
    with pytest.raises(NotYet, match=message):
        check_second_row(*answer)


def test_turned_token_passes(capsys):
    check_turned_token([1.414, 0.0])
    assert capsys.readouterr().out.startswith("合格です")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (..., r"「\.\.\.」を"),
        ([2.0, 0.0], "長さも変わりました"),
        ([1.0, 1.0], "まだ回していません"),
        ([1.0, 0.0], r"token\[0\] が 1 です"),
        ([0.0, 1.414], r"token\[0\] が 0 です"),
        ([1.414], "形"),
    ],
)
def test_turned_token_names_the_fault(answer, message):
    with pytest.raises(NotYet, match=message):
        check_turned_token(answer)
