"""What the helpers behind every check say to a reader whose answer is not there yet."""

import numpy as np
import pytest

from attention_book.exercises._grade import NotYet, ask, ask_array, require_close, require_sums_of_one


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (np.zeros(2), "関数の名前だけ"),
        (lambda x: None, "None です。.*return"),
        (lambda x: x.fill(1) or x, "書き換えられました"),
    ],
)
def test_ask_refuses(answer, message):
    with pytest.raises(NotYet, match=message):
        ask(answer, np.zeros(2))


def test_ask_for_an_array_refuses_several():
    with pytest.raises(NotYet, match="配列を1つだけ"):
        ask_array(lambda x: (x, x[0]), np.zeros((2, 2)))
    assert ask_array(lambda x: [1, x], 2).shape == (2,)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([[0.5, 0.5], [0.5, 0.4]], r"行の合計が 0\.9 です。1のはずです。ヒント"),
        ([[0.5, 0.5], [0.5, 0.4999]], r"行の合計が 0\.9999 です。1のはずです。途中で丸め"),
        ([[0.5, 0.5], [np.nan, 0.5]], "行の合計が nan です。1のはずです。ヒント"),
    ],
)
def test_sums_name_the_furthest(weights, message):
    with pytest.raises(NotYet, match=message):
        require_sums_of_one("行", np.array(weights), "ヒント")


def test_ask_passes_everything_on():
    assert ask(lambda x, *, scale: x * scale, 3, scale=2) == 6


@pytest.mark.parametrize(
    ("got", "message"),
    [
        ([[1.0, 2.0], [3.0]], "配列にできません"),
        ([["a", "b"]], "実数の配列にしてください: dtype=<U1"),
        ([1.0, 2.0], r"形が \(2,\) です。\(1, 2\) のはずです。ヒント"),
        ([[1.0, 2.1]], r"重み\[0, 1\] が 2.1 です。2 のはずです。ヒント"),
        ([[np.nan, 2.0]], r"重み\[0, 0\] が nan"),
        ([[1.0, 2.00001]], r"重み\[0, 1\] が 2\.00001 です。2 のはずです。途中で丸め"),
    ],
)
def test_close_says_where(got, message):
    with pytest.raises(NotYet, match=message):
        require_close("重み", got, [[1.0, 2.0]], "ヒント")


def test_close_for_booleans_and_scalars():
    with pytest.raises(NotYet, match="True か False"):
        require_close("マスク", [1, 0], [True, False])
    with pytest.raises(NotYet, match=r"マスク\[1\] が True です。False のはずです"):
        require_close("マスク", [True, True], [True, False])
    with pytest.raises(NotYet, match="値 が 3 です。2 のはずです"):
        require_close("値", 3, 2)
    require_close("値", 2.0000001, 2)
