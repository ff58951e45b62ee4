"""Each check passes a right answer, and tells each wrong one what is wrong with it."""

import numpy as np
import pytest

from attention_book import rotary_positions
from attention_book.exercises import NotYet, check_position_head, check_rotation

MARK, CONSTANT, CONTENT = np.eye(5)[:, :1], np.eye(5)[:, 1:2], np.eye(5)[:, 2:3]
NOTHING = np.zeros((5, 2))


def rotate(x, positions, *, speeds=None, sign=1):
    """By complex numbers."""
    speeds = 10_000 ** (-np.arange(0, 6, 2) / 6) if speeds is None else speeds
    pairs = x[:, 0::2] + 1j * x[:, 1::2]
    turned = pairs * np.exp(sign * 1j * positions[:, None] * speeds)
    return np.stack([turned.real, turned.imag], axis=-1).reshape(x.shape)


def rotate_halves(x, positions):
    angles = np.tile(positions[:, None] * 10_000 ** (-np.arange(0, 6, 2) / 6), 2)
    return x * np.cos(angles) + np.c_[-x[:, 3:], x[:, :3]] * np.sin(angles)


def read(output):
    return 1 / output[:, 0] - 1


def test_right_answers_pass(capsys):
    check_rotation(rotate)
    check_position_head(NOTHING, NOTHING, MARK, read)
    # a head that prefers the first token: e^s / (e^s + position)
    check_position_head(CONSTANT, MARK, 2 * MARK, lambda out: np.e * (2 / out[:, 0] - 1))
    assert capsys.readouterr().out.count("合格です") == 3


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda x, p: rotate(x, p)[:, :2], r"形が \(5, 2\)"),
        (lambda x, p: rotate(x, p, sign=-1), "向きが逆"),
        (lambda x, p: rotate(x, np.arange(5)), "行の番号"),
        (rotate_halves, "隣り合う2つ"),
        (lambda x, p: rotate(x, p)[:, [0, 2, 4, 1, 3, 5]], "並べ方が違います"),
        (lambda x, p: rotate(x, p, speeds=np.ones(3)), "同じ速さ"),
        (lambda x, p: x + np.sin(p)[:, None], "長さが変わっています"),
        (lambda x, p: rotate(x, p, speeds=10_000 ** (-np.arange(3) / 6)), r"回した結果\[1, 2\].*-2 \* t / head_dim"),
        (lambda x, p: rotate(x, p, speeds=10_000 ** (np.arange(0, 6, 2) / 6)), r"回した結果\[1, 2\]"),
        (lambda x, p: rotary_positions(x, p, base=100), r"回した結果\[1, 2\]"),
        (lambda x, p: x, r"回した結果\[1, 0\]"),
    ],
)
def test_rotation_names_the_fault(answer, message):
    with pytest.raises(NotYet, match=message):
        check_rotation(answer)


@pytest.mark.parametrize(
    ("W_q", "W_k", "W_v", "how", "message"),
    [
        (..., NOTHING, MARK, read, "W_q がまだ"),
        (NOTHING, NOTHING[:4], MARK, read, r"W_k は5行の実数の行列にしてください: 形 \(4, 2\)"),
        (NOTHING, NOTHING, MARK.astype(bool), read, "W_v は5行の実数.*bool"),
        (NOTHING, NOTHING[:, :1], MARK, read, r"W_q \(5, 2\) と W_k \(5, 1\)"),
        (NOTHING, NOTHING, np.eye(5), read, r"W_v の形が \(5, 5\)"),
        (CONTENT, MARK, MARK, read, "内容で重みが変わります"),
        (NOTHING, NOTHING, MARK + CONTENT, read, "内容で出力が変わります"),
        (NOTHING, NOTHING, CONSTANT, read, "同じ出力になる位置"),
        (NOTHING, NOTHING, 0 * MARK, read, "同じ出力になる位置"),
        (CONSTANT, 1000 * MARK, MARK, read, "同じ出力になる位置"),  # it sees the first token only
        (NOTHING, NOTHING, MARK, lambda out: 1 / out - 1, r"読んだ位置の形が \(6, 1\)"),
        (NOTHING, NOTHING, MARK, lambda out: np.arange(len(out)), "行の番号"),
        (NOTHING, NOTHING, MARK, lambda out: 1 / out[:, 0], "1から数えています"),
        (NOTHING, NOTHING, MARK, lambda out: out[:, 0], r"読んだ位置\[0\]"),
    ],
)
def test_position_head_names_the_fault(W_q, W_k, W_v, how, message):
    with pytest.raises(NotYet, match=message):
        check_position_head(W_q, W_k, W_v, how)
