"""A copy of lines of toy.py: no page runs it from here."""

import numpy as np

SCALE = 0.5


def scaled(x):
    return SCALE * np.asarray(x, dtype=float)
