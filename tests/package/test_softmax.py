"""softmax against torch, its invariants, and its errors."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from attention_book import softmax

shapes = hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=6)
scores = hnp.arrays(float, shapes, elements=st.floats(-1e4, 1e4) | st.just(-np.inf))


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("size", [1, 1000])
@pytest.mark.parametrize("shape", [(3, 4, 5), (4,), (0,), (2, 0), (0, 3)])
def test_equals_torch(agrees, dtype, size, shape):
    x = (np.random.default_rng(0).normal(size=shape) * size).astype(dtype)
    for axis in range(-x.ndim, x.ndim):
        agrees(softmax(x, axis), torch.softmax(torch.from_numpy(x), axis))
    agrees(softmax(x), softmax(x, axis=-1))


def test_float16_is_rounded_only_once():
    x = (np.random.default_rng(2).normal(size=(50, 40)) * 3).astype(np.float16)
    answer, exact = softmax(x), softmax(x.astype(float))
    assert (abs(answer - exact) <= 0.51 * np.spacing(answer)).all()
    many = softmax(np.zeros(70_000, np.float16))  # a float16 sum would overflow
    assert (many == np.float16(1 / 70_000)).all()


@given(scores, st.floats(-1e4, 1e4))
def test_rows_sum_to_one_or_are_exactly_zero_and_a_shift_changes_nothing(x, shift):
    weights, visible = softmax(x), x > -np.inf
    assert (weights >= 0).all()
    assert (weights[~visible] == 0).all()
    np.testing.assert_allclose(weights.sum(axis=-1), visible.any(axis=-1), atol=1e-12)
    np.testing.assert_allclose(softmax(x + shift), weights, rtol=1e-7, atol=1e-11)


def test_nan_stays_visible_in_its_row_only():
    weights = softmax([[np.nan, 1, -np.inf], [0, 0, -np.inf], [np.inf, 0, 0]])
    assert np.isnan(weights[[0, 2]]).any(axis=-1).all()
    assert weights[1].tolist() == [0.5, 0.5, 0]


@pytest.mark.parametrize(
    "x",
    [
        [1e300, 0, -1e300],
        [-2e9, -3e9, -np.inf],  # -1e9 in place of -inf would win
        np.array([60_000, 0, -60_000], np.float16),
        ([1.7e308, 0, -1.7e308]),  # RuntimeWarning: overflow in subtract
    ],
)
def test_extreme_scores(x):
    assert softmax(x).tolist() == [1, 0, 0]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64"])
def test_integers_become_float64_and_do_not_wrap(agrees, dtype):
    agrees(softmax(np.array([100, 3, 127], dtype)), softmax([100.0, 3.0, 127.0]))


@pytest.mark.parametrize("writeable", [True, False])
def test_input_is_not_changed_and_may_be_read_only(writeable):
    x = np.arange(12.0).reshape(3, 4)[::-1, ::2]
    x.flags.writeable, before = writeable, x.copy()
    np.testing.assert_allclose(softmax(x), softmax(before), rtol=1e-12)
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize(
    ("error", "fragments", "x", "axis"),
    [
        (ValueError, "x |同じ長さ", [[1.0], [1.0, 2.0]], -1),
        (TypeError, "x |dtype=<U1", ["a", "b"], -1),
        (TypeError, "x |dtype=complex128", [1j, 2.0], -1),
        (TypeError, "x |dtype=bool", [True, False], -1),
        (ValueError, "axis=2|(1, 2)|-2 から 1", [[1.0, 2.0]], 2),
        (TypeError, "axis|None", [[1.0, 2.0]], None),
        (TypeError, "axis|0.5", [[1.0, 2.0]], 0.5),
    ],
)
def test_refuses(refuses, error, fragments, x, axis):
    refuses(error, fragments, lambda: softmax(x, axis))
