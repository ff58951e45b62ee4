"""Each check passes a right answer, and tells each wrong one what is wrong with it."""

import numpy as np
import pytest

from attention_book.exercises import NotYet, check_difference, check_ignore_self

ROOT = [[2.0], [2.0]]  # one query number for every token, so that the keys decide


@pytest.mark.parametrize(
    ("W_q", "W_k"),
    [
        (ROOT, [[-1.0], [1.0]]),
        ([[3, 0, 0], [0, 3, 0]], [[-3, -3, 0], [0, 4, 0]]),  # of integers, with head_dim 3
    ],
)
def test_ignore_self_passes(W_q, W_k, capsys):
    check_ignore_self(W_q, W_k)
    assert capsys.readouterr().out.startswith("合格です")


@pytest.mark.parametrize(
    ("W_q", "W_k", "message"),
    [
        (..., ROOT, "W_q が数の行列になっていません"),
        (ROOT, ..., "W_k が数の行列になっていません"),
        ([[2.0, 2.0, 2.0]], ROOT, r"W_q の形が \(1, 3\) です.*転置"),
        (ROOT, [-1.0, 1.0], r"W_k の形が \(2,\) です.*2重"),
        (ROOT, [[-1.0], [1.0, 2.0]], "W_k を行列にできません"),
        (ROOT, [[np.nan], [1.0]], "W_k に、有限でない数"),
        (np.ones((2, 3)), ROOT, "列の数が W_q は 3、W_k は 1"),
        (ROOT, ROOT, "W_q と W_k が同じです"),
        (np.eye(2), -np.eye(2), r"1番目のトークンが自分に付けた重みが 0.25 です.*\[-0.7  0.  -0.7\]"),
        ([[3.0], [0.0]], [[0.0], [1.0]], "2番目のトークンが自分に付けた重みが 0.33 です"),
    ],
)
def test_ignore_self_names_the_fault(W_q, W_k, message):
    with pytest.raises(NotYet, match=message):
        check_ignore_self(W_q, W_k)


def test_ignore_self_needs_two_matrices():
    """What the check says of W_q = W_k is true: with one matrix, either condition can hold, but never both."""
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    Q = X @ np.random.default_rng(0).normal(scale=5, size=(500, 2, 3))
    scores = Q @ Q.swapaxes(1, 2)
    ignores = scores[:, 0, 0] < scores[:, 0, 1:].max(axis=1)
    sees = scores[:, 1, 1] > scores[:, 1, ::2].max(axis=1)
    assert ignores.any()
    assert sees.any()
    assert not (ignores & sees).any()


def test_difference_passes(capsys):
    check_difference([[1], [-1]])
    assert capsys.readouterr().out.startswith("合格です")


@pytest.mark.parametrize(
    ("W_v", "message"),
    [
        (..., "W_v が数の行列になっていません"),
        ([[1.0, -1.0]], r"W_v の形が \(1, 2\) です.*転置"),
        ([[1.0, -1.0], [0.0, 0.0]], r"バリューの形が \(3, 2\) です。\(3, 1\) のはずです"),
        ([[-1.0], [1.0]], r"バリュー\[0, 0\] が -1 です。1 のはずです。\[1, 0\] からは 1"),
        ([1.0, -1.0], r"W_v の形が \(2,\) です.*2重"),
        ([[1.0], [1.0]], r"バリュー\[1, 0\] が 1 です。-1 のはずです"),
    ],
)
def test_difference_names_the_fault(W_v, message):
    with pytest.raises(NotYet, match=message):
        check_difference(W_v)
