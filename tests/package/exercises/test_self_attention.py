"""Each check passes a right answer, and tells each wrong one what is wrong with it."""

import numpy as np
import pytest

from attention_book import scaled_dot_product_attention, softmax
from attention_book.exercises import NotYet, check_cross_attention, check_name_ratio


def ratio(pronoun, first, second, W_q, W_k):
    query = pronoun @ W_q
    return np.exp((query @ (first @ W_k) - query @ (second @ W_k)) / np.sqrt(W_k.shape[1]))


def unscaled(pronoun, first, second, W_q, W_k):
    return ratio(pronoun, first, second, W_q, W_k) ** 2  # head_dim is 4


def of_scores(pronoun, first, second, W_q, W_k):
    query = pronoun @ W_q
    return query @ (first @ W_k) / (query @ (second @ W_k))


def upside_down(pronoun, first, second, W_q, W_k):
    return ratio(pronoun, second, first, W_q, W_k)


def names_ask(pronoun, first, second, W_q, W_k):
    return np.exp(((first - second) @ W_q) @ (pronoun @ W_k) / 2)


def cross(x, memory, W_q, W_k, W_v):
    return scaled_dot_product_attention(x @ W_q, memory @ W_k, memory @ W_v, return_weights=True)


def with_softmax(x, memory, W_q, W_k, W_v, *, axis=-1, scale=0.5):
    weights = softmax(x @ W_q @ (memory @ W_k).T * scale, axis=axis)
    return weights @ (memory @ W_v), weights


def test_right_answers_pass(capsys):
    check_name_ratio(ratio)
    check_cross_attention(cross)
    check_cross_attention(with_softmax)
    assert capsys.readouterr().out.count("合格です") == 3


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (unscaled, "√d_kで割っていません"),
        (lambda *a: np.log(ratio(*a)), "差のままです。.*expを取ります"),
        (lambda *a: np.log(unscaled(*a)), "差のままです。.*√d_kで割って"),
        (lambda *a: np.exp(np.log(unscaled(*a)) / 4), "head_dimそのもので割って"),
        (lambda *a: np.exp(np.log(unscaled(*a)) / np.sqrt(6)), "√embed_dimで割って"),
        (lambda *a: ratio(*a) / (1 + ratio(*a)), "重みそのもの"),
        (of_scores, "スコアの比"),
        (upside_down, "比が逆さま"),
        (names_ask, "名前のほうがクエリ"),
        (lambda *a: np.full(2, ratio(*a)), r"形 \(2,\) の値"),
        (lambda *a: ratio(*a) + 0.1, "約分されて消えます"),
    ],
)
def test_ratio_names_the_fault(answer, message):
    with pytest.raises(NotYet, match=message):
        check_name_ratio(answer)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda *a: cross(*a)[0], "出力と重みを返してください"),
        (lambda x, memory, *W: cross(memory, x, *W), r"形が \(5, 3\) .*入れ替わって"),
        (lambda x, memory, *W: cross(x, x, *W), r"形が \(3, 3\) .*キーがx"),
        (lambda x, memory, *W: cross(memory, memory, *W), r"形が \(5, 5\) .*クエリがmemory"),
        (lambda *a: cross(*a[:2], *(W[:, :1] for W in a[2:]))[::-1], r"形が \(3, 1\) .*\(L, S\) = \(3, 5\)"),
        (lambda *a: cross(*a)[::-1], "順番が逆"),
        (lambda *a: with_softmax(*a, axis=0), "行の合計が .*axis=-1"),
        (lambda *a: with_softmax(*a, scale=1), "√d_kで割ったか"),
        (lambda x, memory, W_q, W_k, W_v: cross(x, memory, W_k, W_q, W_v), "キーにW_k"),
        (lambda x, memory, W_q, W_k, W_v: cross(x, memory, W_q, W_k, -W_v), "memory @ W_v"),
    ],
)
def test_cross_attention_names_the_fault(answer, message):
    with pytest.raises(NotYet, match=message):
        check_cross_attention(answer)
