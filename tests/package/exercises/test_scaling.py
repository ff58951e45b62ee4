"""Each check passes a right answer, and tells each wrong one what is wrong with it."""

import numpy as np
import pytest

from attention_book.exercises import NotYet, check_divisor, check_head_scores


def test_divisor_passes(capsys):
    check_divisor(lambda d, q_std, k_std: q_std * k_std * d**0.5)
    assert capsys.readouterr().out.startswith("合格です")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda d, q_std, k_std: d, "64 で割ると、標準偏差が 0.1 に.*標準偏差に直して"),
        (lambda d, q_std, k_std: d**-0.5, "0.125 で割ると、標準偏差が .*割る数を返します"),
        (lambda d, q_std, k_std: d**0.5, "4 で割ると、標準偏差が 2.0 に.*クエリを2倍"),
        (lambda d, q_std, k_std: q_std**2 * k_std**2 * d**0.5, "16 で割ると、標準偏差が 0.5 に"),
        (lambda d, q_std, k_std: q_std * d**0.5, "10 で割ると、標準偏差が 3.0 に.*キーを3倍"),
        (lambda d, q_std, k_std: 0, "割る数が 0 です"),
        (lambda d, q_std, k_std: np.ones(3), "正の数を1つ"),
        (lambda d, q_std, k_std: "√d", "正の数を1つ"),
        (lambda d, q_std, k_std: None, "None です"),
    ],
)
def test_divisor_names_the_fault(answer, message):
    with pytest.raises(NotYet, match=message):
        check_divisor(answer)


def raw(x, W_q, W_k):
    return (x @ W_q) @ (x @ W_k).T


def test_head_scores_pass(capsys):
    check_head_scores(lambda x, W_q, W_k: raw(x, W_q, W_k) * W_k.shape[1] ** -0.5)
    assert capsys.readouterr().out.startswith("合格です")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (raw, "割っていません"),
        (lambda x, W_q, W_k: raw(x, W_q, W_k) / W_q.shape[1], "head_dimそのもの"),
        (lambda x, W_q, W_k: raw(x, W_q, W_k) / np.sqrt(x.shape[1]), "embed_dimの平方根"),
        (lambda x, W_q, W_k: raw(x, W_q, W_k) / np.sqrt(len(x)), "トークンの数の平方根"),
        (lambda x, W_q, W_k: raw(x, W_q, W_k).T / 2, r"スコア\[0, 1\] が .*行がクエリ"),
        (lambda x, W_q, W_k: (x @ W_q / 2).T @ (x @ W_k), r"形が \(4, 4\) です"),
    ],
)
def test_head_scores_name_the_fault(answer, message):
    with pytest.raises(NotYet, match=message):
        check_head_scores(answer)
