"""The check passes a right answer, and tells each wrong one what is wrong with it."""

import numpy as np
import pytest

from attention_book import softmax
from attention_book.exercises import NotYet, check_soft_lookup


def lookup(query, keys, values, temperature):
    return softmax(keys @ query / temperature) @ values


def overflowing(query, keys, values, temperature):
    powers = np.exp(keys @ query / temperature)
    return powers / powers.sum() @ values


def hard(query, keys, values, temperature):
    return values[(keys @ query).argmax()]


def hard_when_cold(query, keys, values, temperature):
    return (hard if temperature < 0.01 else lookup)(query, keys, values, temperature)


def never_cold(query, keys, values, temperature):
    return lookup(query, keys, values, max(temperature, 1.0))


def test_soft_lookup_passes(capsys):
    check_soft_lookup(lookup)
    assert capsys.readouterr().out.startswith("合格です")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda q, k, v, t: softmax(k @ q / t), "重みでしょうか"),
        (lambda q, k, v, t: softmax(k @ q / t)[:2], r"形が \(2,\)"),
        (lambda q, k, v, t: softmax(k @ q * t) @ v, "温度を掛けています"),
        (lambda q, k, v, t: softmax(k @ q / t / np.sqrt(2)) @ v, "√2でも割っています"),
        (lambda q, k, v, t: softmax(k @ q) @ v, r"温度2の出力\[0\]"),
        (hard, r"温度2の出力\[0\]"),
        (overflowing, "最大値を引く"),
        (never_cold, r"温度0.001の出力\[0\]"),
        (hard_when_cold, "同点のキー"),
    ],
)
def test_soft_lookup_names_the_fault(answer, message):
    with pytest.raises(NotYet, match=message):
        check_soft_lookup(answer)
