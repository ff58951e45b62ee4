"""Each check passes a right answer, and tells each wrong one what is wrong with it."""

import numpy as np
import pytest

from attention_book import causal_mask, padding_mask, softmax
from attention_book.exercises import NotYet, check_causal_weights, check_repaired_masks


def filled(mask, value=-np.inf):
    return lambda scores: softmax(np.where(mask, scores, value))


def naive(scores):
    """Without the guard of the package: a row without a key gives NaN."""
    hidden = np.where(causal_mask(4) & ~np.eye(4, dtype=bool), scores, -np.inf)
    powers = np.exp(hidden - hidden.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def no_maximum(scores):
    powers = np.exp(np.where(causal_mask(4), scores, -np.inf))
    return powers / powers.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_causal_weights_pass(capsys, dtype):
    check_causal_weights(lambda scores: filled(causal_mask(4))(scores.astype(dtype)))
    assert capsys.readouterr().out.startswith("合格です")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda s: softmax(s)[0], r"形 \(4,\) の重み"),
        (filled(causal_mask(4).T), "上下が逆"),
        (filled(~causal_mask(4)), "上下が逆"),
        (filled(np.tri(4, k=-1, dtype=bool)), "自分自身まで"),
        (naive, "自分自身まで"),
        (softmax, r"1行目の重みに、未来の2列目が 0\.\d+ で"),
        (filled(np.tri(4, k=1, dtype=bool)), "1行目の重みに、未来の2列目"),
        (lambda s: softmax(s + np.tri(4)), "1行目の重みに、未来の2列目"),
        (lambda s: np.where(causal_mask(4), softmax(s), 0), r"行の合計が .*softmaxの前"),
        (lambda s: softmax(np.where(causal_mask(4), s, -np.inf), axis=0), r"行の合計が .*axis=-1"),
        (lambda s: filled(causal_mask(4))(2 * s), r"重み\[1, 0\] が .*もう割りません"),
        (filled(causal_mask(4), -1e9), "-np.inf を使いましょう"),
        (lambda s: softmax(s + np.triu(np.ones((4, 4)), 1) * -np.inf), r"すべてNaN.*np\.where"),
        (no_maximum, "-4294967296|-2147483648|NaNになりました.*最大値を行ごとに"),
        (filled(causal_mask(4, window=2)), "3行目の重みで、見てよい1列目まで"),
        (lambda s: filled(causal_mask(4))(s).round(5), "途中で丸めたり"),
        (lambda s: (filled(causal_mask(4))(s), s[0]), "形の違う配列"),
    ],
)
def test_causal_weights_name_the_fault(answer, message):
    with pytest.raises(NotYet, match=message):
        check_causal_weights(answer)


def last(query_len, key_len):
    return causal_mask(query_len, key_len, offset=key_len - query_len)


def padded(ids):
    return (ids != 0)[:, None, None, :]


def counted(ids):
    """Right only where the padding comes last."""
    return padding_mask((ids != 0).sum(axis=1), ids.shape[1])


RIGHT = {"first": causal_mask, "second": causal_mask, "third": last, "fourth": padded}


def test_repaired_masks_pass(capsys):
    check_repaired_masks(**RIGHT)
    assert capsys.readouterr().out.startswith("合格です")


def rows_too(ids):
    real = ids != 0
    return (real[:, :, None] & real[:, None, :])[:, None]


@pytest.mark.parametrize(
    ("which", "answer", "message"),
    [
        (
            "first",
            lambda n: causal_mask(n).T,
            "1つ目：未来の2番目のキーを変えると、1番目の出力.*漏れ、10か所.*隠しすぎ、10か所",
        ),
        ("first", lambda n: np.tril(np.ones((n, n))), "1つ目：bool.*dtype=float64"),
        ("first", lambda n: causal_mask(n + 1), r"1つ目：形が \(6, 6\) です。\(5, 5\)"),
        ("first", lambda n: None, "None です"),
        ("second", lambda n: np.tri(n, k=1, dtype=bool), "2つ目：未来の2番目.*漏れ、4か所）。$"),
        ("second", lambda n: np.tri(n, k=-1, dtype=bool), "2つ目：見てよい1番目.*隠しすぎ、5か所.*1つもありません"),
        (
            "third",
            lambda a, b: causal_mask(a, b, offset=0),
            "3つ目：見てよい2番目のキーを変えても、1番目の出力.*6か所）。$",
        ),
        ("third", lambda a, b: causal_mask(a, b, offset=b - a).T, r"3つ目：形が \(5, 2\)"),
        ("fourth", lambda ids: ids != 0, r"4つ目：形が \(3, 5\) です.*\(3, 1, 1, 5\)"),
        ("fourth", lambda ids: (ids == 0)[:, None, None], "4つ目：見てよい1番目のキー"),
        ("fourth", counted, "4つ目：詰め物の1番目のキー.*隠しすぎ"),
        ("fourth", rows_too, "4つ目：見てよい1番目のキーを変えても、4番目の出力.*1つもありません"),
        ("fourth", lambda ids: np.ones((3, 1, 1, 5), dtype=bool), "4つ目：詰め物の4番目のキー.*漏れ、10か所）。$"),
    ],
)
def test_repaired_masks_name_the_fault(which, answer, message):
    with pytest.raises(NotYet, match=message):
        check_repaired_masks(**RIGHT | {which: answer})


def test_a_padding_mask_that_cannot_spread_is_refused():
    with pytest.raises(NotYet, match=r"4つ目：形が \(2, 1, 1, 5\)"):
        check_repaired_masks(**RIGHT | {"fourth": lambda ids: np.ones((2, 1, 1, 5), dtype=bool)})
