"""entropy against torch and its bounds, softmax_jacobian against torch and small steps, and their errors."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from attention_book import entropy, softmax, softmax_jacobian

shapes = hnp.array_shapes(min_dims=1, max_dims=3, max_side=6)
scores = hnp.arrays(float, shapes, elements=st.floats(-5, 5))


@given(scores)
def test_entropy_equals_torch_and_lies_between_0_and_log_s(x):
    bits = entropy(softmax(x))
    expected = torch.distributions.Categorical(logits=torch.from_numpy(x)).entropy()
    np.testing.assert_allclose(bits, expected, rtol=1e-12, atol=1e-14)
    assert bits.shape == x.shape[:-1]
    assert (bits >= 0).all()
    assert (bits <= np.log(x.shape[-1]) + 1e-12).all()


@pytest.mark.parametrize("S", [1, 2, 7, 1000])
def test_entropy_of_one_key_and_of_equal_weights(S):
    np.testing.assert_allclose(entropy(np.full(S, 1 / S)), np.log(S), rtol=1e-12, atol=1e-14)
    sharp = entropy(np.eye(S)[-1])
    assert (sharp, np.signbit(sharp)) == (0, False)  # 0.0, not -0.0
    wide = np.concatenate([np.full(S, 1 / S), np.zeros(5)])  # 0 log 0 is 0, without a warning
    np.testing.assert_allclose(entropy(wide), np.log(S), rtol=1e-12, atol=1e-14)


def test_entropy_of_no_keys_of_nan_and_of_integers():
    assert entropy(np.zeros((2, 3, 0))).tolist() == [[0] * 3] * 2
    assert np.isnan(entropy([[np.nan, 1.0], [0.5, 0.5]])).tolist() == [True, False]
    assert entropy([1, 0]) == 0
    assert entropy(np.ones((2, 1), np.float32)).dtype == np.float32


def test_entropy_float16_is_computed_in_float32_and_rounded_once():
    weights = softmax(np.random.default_rng(0).normal(size=(50, 300)).astype(np.float16))
    answer, fine = entropy(weights), entropy(weights.astype(float))
    assert answer.dtype == np.float16
    assert (abs(answer - fine) <= 0.51 * np.spacing(answer)).all()


@given(scores)
def test_jacobian_equals_torch_and_small_steps(x):
    jacobian, step = softmax_jacobian(softmax(x)), 1e-6
    assert jacobian.shape == (*x.shape, x.shape[-1])
    for i in np.ndindex(x.shape[:-1]):
        oracle = torch.autograd.functional.jacobian(lambda t: t.softmax(-1), torch.tensor(x[i]))
        np.testing.assert_allclose(jacobian[i], oracle, rtol=1e-12, atol=1e-14)
        for j, e in enumerate(step * np.eye(x.shape[-1])):
            slope = (softmax(x[i] + e) - softmax(x[i] - e)) / (2 * step)
            np.testing.assert_allclose(jacobian[i][:, j], slope, atol=1e-9)


@given(scores)
def test_jacobian_is_symmetric_and_its_rows_sum_to_zero(x):
    jacobian = softmax_jacobian(softmax(x))
    np.testing.assert_allclose(jacobian, jacobian.swapaxes(-1, -2), rtol=1e-12, atol=1e-16)
    np.testing.assert_allclose(jacobian.sum(axis=-1), 0, atol=1e-14)
    assert (np.linalg.eigvalsh(jacobian) >= -1e-14).all()


def test_jacobian_vanishes_where_softmax_is_saturated():
    slopes = [abs(softmax_jacobian(softmax([0.0, size]))).max() for size in (0, 2, 10, 800)]
    assert slopes == sorted(slopes, reverse=True)
    assert (slopes[0], slopes[-1]) == (0.25, 0)


@pytest.mark.parametrize(("dtype", "expected"), [("f2", "f2"), ("f4", "f4"), ("f8", "f8"), ("i4", "f8")])
def test_jacobian_keeps_the_dtype_and_the_input(dtype, expected):
    weights = np.eye(3, dtype=dtype)
    weights.flags.writeable = False
    assert softmax_jacobian(weights).dtype == expected
    assert softmax_jacobian(np.zeros((2, 0), dtype)).shape == (2, 0, 0)
    assert (softmax_jacobian(weights) == 0).all()


@pytest.mark.parametrize("function", [entropy, softmax_jacobian])
@pytest.mark.parametrize(
    ("error", "fragments", "weights"),
    [
        (ValueError, "1次元以上|1.0", 1.0),
        (TypeError, "weights|bool", [True, False]),
        (TypeError, "weights|complex128", [1j]),
        (ValueError, "weights|同じ長さ", [[1.0], [0.5, 0.5]]),
    ],
)
def test_refuses(refuses, function, error, fragments, weights):
    refuses(error, fragments, lambda: function(weights))


def test_entropy_refuses_scores(refuses):
    refuses(ValueError, "weights|0から1|-3.0|softmax", lambda: entropy([[0.5, 0.5], [-3.0, 4.0]]))
    refuses(ValueError, "weights|0から1|4.0|softmax", lambda: entropy([[3.0, 4.0]]))


def test_rounded_weights_and_infinity():
    assert abs(entropy(np.float32([1 + 1e-6, 0]))) < 1e-5
    assert np.isnan(softmax_jacobian([np.inf, 0.0])).any()
