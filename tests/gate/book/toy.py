"""What the small book teaches; the tests change it, and the numbers in the file beside it."""

from pathlib import Path

import numpy as np

SCALE = 0.5


def scaled(x):
    return SCALE * np.asarray(x, dtype=float)


def softmax(x):
    """Shift by the largest score first."""
    shifted = np.exp(x - x.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)


def weights(q, k):
    return softmax(q @ k.T / np.sqrt(q.shape[-1]))


def table():
    return np.loadtxt(Path(__file__).with_suffix(".csv"), delimiter=",")
