"""Each check passes a right answer, and tells each wrong one what is wrong with it."""

import numpy as np
import pytest

from attention_book.exercises import NotYet, check_attend_block, check_cache_bytes


def right(top, total, mixed, scores, value):
    new = np.maximum(top, scores.max(axis=-1, keepdims=True))
    safe = np.where(new == -np.inf, 0, new)
    x, e = np.exp(top - safe), np.exp(scores - safe)
    return new, total * x + e.sum(axis=-1, keepdims=True), mixed * x + e @ value


def unguarded(top, total, mixed, scores, value):
    new = np.maximum(top, scores.max(axis=-1, keepdims=True))
    x, e = np.exp(top - new), np.exp(scores - new)
    return new, total * x + e.sum(axis=-1, keepdims=True), mixed * x + e @ value


def faulty(**lines):
    """The right answer with some of its lines replaced."""

    def attend_block(top, total, mixed, scores, value):
        new = np.maximum(top, scores.max(axis=-1, keepdims=True))
        kept = {"top": top, "total": total, "mixed": mixed, "scores": scores, "value": value, "np": np}
        kept |= {"new": new, "safe": np.where(new == -np.inf, 0, new)}
        for name, line in (RIGHT | lines).items():
            kept[name] = eval(line, kept)
        return kept["new_top"], kept["new_total"], kept["new_mixed"]

    return attend_block


ROW_SUMS = "e.sum(axis=-1, keepdims=True)"
RIGHT = {
    "x": "np.exp(top - safe)",
    "e": "np.exp(scores - safe)",
    "new_top": "new",
    "new_total": f"total * x + {ROW_SUMS}",
    "new_mixed": "mixed * x + e @ value",
}


def skips_hidden(top, total, mixed, scores, value):
    """Looks at the whole block at once, and does not see one row that sees nothing."""
    return (top, total, mixed) if (scores == -np.inf).all() else unguarded(top, total, mixed, scores, value)


def block_top(top, total, mixed, scores, value):
    """Takes the maximum of the new block for that of all."""
    new = scores.max(axis=-1, keepdims=True)
    x, e = np.exp(top - new), np.exp(scores - new)
    return new, total * x + e.sum(axis=-1, keepdims=True), mixed * x + e @ value


def in_place(top, total, mixed, scores, value):
    answer = right(top, total, mixed, scores, value)
    scores -= 1
    return answer


def test_right_answers_pass(capsys):
    check_attend_block(right)
    check_attend_block(faulty())
    check_cache_bytes(lambda n, layers, h, kv, d, size: 2 * n * layers * kv * d * size)
    assert capsys.readouterr().out.count("合格です") == 3


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda *args: None, r"答えが None です"),
        (in_place, "書き換えられました"),
        (lambda *args: right(*args)[1:], "3つを、この順に"),
        (lambda *args: tuple(right(*args)[i] for i in (0, 2, 1)), "返す順が違います"),
        (faulty(new_top="safe"), "隠したキーだけの行"),
        (lambda top, *args: (right(top, *args)[0][:, 0], *right(top, *args)[1:]), r"topの形が \(3,\).*keepdims"),
        (faulty(new_top="scores.max() + 0 * top"), r"^top\[.*行ごとの最大値"),
        (faulty(new_mixed=f"(mixed * x + e @ value) / {ROW_SUMS}"), "もう合計で割っています"),
        (faulty(new_total="total + e.sum() + 0 * top"), r"^total\[.*行ごとの合計"),
        (faulty(new_mixed="mixed * x + scores @ value"), r"^mixed\[.*value を掛けます"),
        (faulty(new_top="np.where(top == -np.inf, new, top)"), r"^2つのブロックのtop"),
        (faulty(new_total=ROW_SUMS), "分母"),
        (faulty(x="np.ones_like(top)"), "新しい最大値に合わせていません"),
        (faulty(new_mixed="mixed + e @ value"), "新しい最大値に合わせていません"),
        (faulty(new_total=f"total * x**2 + {ROW_SUMS}"), "^2つのブロックのtotal"),
        (faulty(new_mixed="mixed * x**2 + e @ value"), "^2つのブロックのmixed"),
        (faulty(e="np.exp(scores - scores.max(axis=-1, keepdims=True))"), "順番を入れ替えると"),
        (block_top, "順番を入れ替えると"),
        (faulty(e="np.exp(scores) * np.exp(-safe)"), "桁あふれ"),
        (unguarded, "全部を隠したブロックを見ただけ"),
        (skips_hidden, "隠したキーだけの行"),
    ],
)
def test_attend_block_names_the_fault(answer, message):
    with pytest.raises(NotYet, match=message):
        check_attend_block(answer)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda n, layers, h, kv, d, size: n * layers * kv * d * size, "ちょうど半分"),
        (lambda n, layers, h, kv, d, size: 2 * n * layers * kv * d, "個数のまま"),
        (lambda n, layers, h, kv, d, size: 2 * n * layers * kv * d * size * 8, "ビット"),
        (lambda n, layers, h, kv, d, size: 2 * n * kv * d * size, "1層分"),
        (lambda n, layers, h, kv, d, size: 2 * n * layers * d * size, "ヘッド1つ分"),
        (lambda n, layers, h, kv, d, size: 2 * n * layers * h * d * size, "クエリのヘッド"),
        (lambda n, layers, h, kv, d, size: 2 * n * n * layers * kv * d * size, "トークンの組"),
        (lambda n, layers, h, kv, d, size: layers * kv * d, "バイト数 が 8.192e\\+04"),
        (lambda n, layers, h, kv, d, size: "たくさん", "実数の配列"),
        (lambda *sizes: 2 * 4096 * 80 * 8 * 128 * 4, "引数から計算"),
    ],
)
def test_cache_bytes_names_the_fault(answer, message):
    with pytest.raises(NotYet, match=message):
        check_cache_bytes(answer)
