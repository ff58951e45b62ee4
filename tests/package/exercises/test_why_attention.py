"""The check passes a right answer, and tells each wrong one what is wrong with it."""

import numpy as np
import pytest

from attention_book.exercises import NotYet, check_path_length


def path_length(links, start, goal):
    reached = np.arange(len(links)) == start
    steps = 0
    while not reached[goal]:
        reached |= links[:, reached].any(axis=1)
        steps += 1
    return steps


def greedy(links, start, goal):
    """Count one step a token, or one where the goal is seen directly."""
    return 1 if links[goal, start] else goal - start


def nearest(links, start, goal):
    """Go where the goal is nearest in the sequence."""
    steps = 0
    while start != goal:
        start = min(np.flatnonzero(links[:, start]), key=lambda place: abs(place - goal))
        steps += 1
    return steps


def by_threes(links, start, goal):
    """Right on all but the RNN: it jumps where no link is."""
    return 1 if links.all() else 2 if goal == 2 else -(-(goal - start) // 3)


def test_path_length_passes(capsys):
    check_path_length(path_length)
    assert capsys.readouterr().out.startswith("合格です")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda links, start, goal: links[goal], "1つの整数"),
        (nearest, "道が2つに分かれるとき、3 段"),
        (lambda links, start, goal: path_length(links.T, start, goal), "逆にたどっています"),
        (lambda links, start, goal: path_length(links, start, goal) + 1, "2つ先まで 3 段"),
        (lambda links, start, goal: goal - start, "直接見えるなら"),
        (lambda links, start, goal: 1 if links[goal, start] else 2, "RNNで8個先まで 2 段"),
        (by_threes, "RNNで8個先まで 3 段"),
        (greedy, "11個先まで 11 段.*中継"),
    ],
)
def test_path_length_names_the_fault(answer, message):
    with pytest.raises(NotYet, match=message):
        check_path_length(answer)
