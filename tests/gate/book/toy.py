"""What the small book teaches; the tests change it."""

import numpy as np

SCALE = 0.5


def scaled(x):
    return SCALE * np.asarray(x, dtype=float)
