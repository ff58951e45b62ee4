"""Each check passes a right answer, and tells each wrong one what is wrong with it."""

import numpy as np
import pytest

from attention_book import merge_heads, split_heads
from attention_book.exercises import NotYet, check_heads, check_prune_head


def wrong_split(x, num_heads):
    return x.reshape(num_heads, len(x), -1)


def wrong_merge(heads):
    return heads.reshape(heads.shape[1], -1)


def prune(W_o, num_heads, head):
    return np.delete(W_o.reshape(num_heads, -1, W_o.shape[1]), head, axis=0).reshape(-1, W_o.shape[1])


def test_right_answers_pass(capsys):
    check_heads(split_heads, merge_heads)
    check_prune_head(prune)
    assert capsys.readouterr().out.count("合格です") == 2


@pytest.mark.parametrize(
    ("split", "merge", "message"),
    [
        (wrong_split, merge_heads, "分け方だけが違います"),
        (split_heads, wrong_merge, "つなぎ方だけが違います"),
        (wrong_split, wrong_merge, "分け方も、つなぎ方も違います。続けて使うと元に戻りますが"),
        (wrong_split, lambda heads: merge_heads(heads[::-1]), "分け方も、つなぎ方も違います。続けて使うとヘッド"),
        (
            lambda x, h: x.reshape(len(x), -1, h).transpose(2, 0, 1),
            lambda heads: heads.transpose(1, 2, 0).reshape(heads.shape[1], -1),
            r"元に戻りますが、成分の取り方が違います.*\[0 1 2 3\]",
        ),
        (lambda x, h: (x, x[0]), merge_heads, "形の違う配列"),
        (lambda x, h: split_heads(x, h).swapaxes(0, 1), merge_heads, r"分けた結果の形が \(5, 3, 4\)"),
        (split_heads, lambda heads: heads[0], r"つないだ結果の形が \(5, 4\)"),
    ],
)
def test_heads_names_the_fault(split, merge, message):
    with pytest.raises(NotYet, match=message):
        check_heads(split, merge)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda W, h, n: np.where(np.arange(len(W))[:, None] // 4 == n, 0, W), "大きさが変わっていません"),
        (lambda W, h, n: np.delete(W, n, axis=1), "7 列のまま"),
        (lambda W, h, n: W[0], "7 列のまま"),
        (lambda W, h, n: np.delete(W, n, axis=0), "11 行になりました"),
        (lambda W, h, n: prune(W, h, n - 1), "head=0 の行"),
        (lambda W, h, n: prune(W, h, n + 1), "head=2 の行"),
        (lambda W, h, n: np.delete(W, slice(n, None, h), axis=0), "続いた head_dim 行"),
        (lambda W, h, n: np.concatenate([W[: n * 4], W[-(h - 1 - n) * 4 :]]), r"head=2 のとき、形が \(20, 7\)"),
        (lambda W, h, n: prune(W, h, 1), "head=0 を除いた"),
    ],
)
def test_prune_head_names_the_fault(answer, message):
    with pytest.raises(NotYet, match=message):
        check_prune_head(answer)
