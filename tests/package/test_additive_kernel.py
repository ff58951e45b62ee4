"""additive_attention and kernel_regression against loops over single numbers, their limits, and their errors."""

from functools import partial

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_book import additive_attention, kernel_regression, padding_mask, scaled_dot_product_attention

same = np.testing.assert_array_equal
close = partial(np.testing.assert_allclose, rtol=1e-12, atol=1e-14)


def tokens(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


QUERY, KEY, VALUE = tokens(2, 3, 4), tokens(2, 5, 6, seed=1), tokens(2, 5, 2, seed=2)
W = {"query_weight": tokens(4, 7, seed=3), "key_weight": tokens(6, 7, seed=4), "score_weight": tokens(7, seed=5)}
MASK = tokens(2, 3, 5, seed=6) > 0
MASK[1, 2] = False
additive = partial(additive_attention, **W, return_weights=True)
POINTS = tokens(2, 5, 4, seed=7)


def mix(scores, value):
    """Weights and output of one query, from the list of its scores; None hides a key."""
    e = [0 if s is None else mpmath.exp(s) for s in scores]
    weights = [x / (sum(e) or 1) for x in e]
    return weights, [sum(w * float(v[d]) for w, v in zip(weights, value, strict=True)) for d in range(len(value[0]))]


def loop(score, query, key, value):
    with mpmath.workdps(30):
        rows = {
            (b, i): mix([score(b, i, j) for j in range(key.shape[1])], value[b]) for b, i in np.ndindex(query.shape[:2])
        }
    return tuple(np.array([r[n] for r in rows.values()], float).reshape(*query.shape[:2], -1) for n in (1, 0))


@pytest.mark.parametrize(
    "mask", [None, MASK, MASK[1], padding_mask([5, 0], 5)[:, 0]], ids=["no", "all", "one", "padding"]
)
def test_additive_equals_loops(mask):
    allowed = np.broadcast_to(True if mask is None else mask, (2, 3, 5))

    def score(b, i, j):
        if allowed[b, i, j]:
            dots = (
                mpmath.fdot(map(float, QUERY[b, i]), map(float, W["query_weight"][:, h]))
                + mpmath.fdot(map(float, KEY[b, j]), map(float, W["key_weight"][:, h]))
                for h in range(7)
            )
            return sum(mpmath.tanh(x) * float(w) for x, w in zip(dots, W["score_weight"], strict=True))

    for actual, expected in zip(additive(QUERY, KEY, VALUE, mask=mask), loop(score, QUERY, KEY, VALUE), strict=True):
        close(actual, expected)


def test_additive_properties():
    output, weights = additive(QUERY, KEY, VALUE, mask=MASK)
    same(additive_attention(QUERY, KEY, VALUE, **W, mask=MASK), output)
    assert (weights[~MASK] == 0).all()
    close(weights.sum(axis=-1), MASK.any(axis=-1))
    assert not np.signbit(additive(QUERY, KEY, -abs(VALUE), mask=MASK)[0][1, 2]).any()
    whole = additive(QUERY, KEY, VALUE)[0]
    assert (whole <= VALUE.max(axis=-2, keepdims=True)).all()
    assert (whole >= VALUE.min(axis=-2, keepdims=True)).all()
    keep = [0, 2, 3]
    close(
        additive(QUERY, KEY, VALUE, mask=np.isin(range(5), keep))[0], additive(QUERY, KEY[:, keep], VALUE[:, keep])[0]
    )
    close(additive(QUERY[0], KEY, VALUE)[0][1], additive(QUERY[0], KEY[1], VALUE[1])[0])
    junk = np.where(MASK[1, 0][:, None], KEY, np.nan)  # the NaN of a hidden key vanishes
    same(additive(QUERY, junk, VALUE, mask=MASK[1, 0])[0], additive(QUERY, KEY, VALUE, mask=MASK[1, 0])[0])
    assert (additive(QUERY, KEY[:, :0], VALUE[:, :0])[0] == 0).all()
    values = tokens(4, 2, 5, 3)  # the values alone have a larger batch
    for i, mixed in enumerate(additive(QUERY, KEY, values, mask=MASK)[0]):
        close(mixed, additive(QUERY, KEY, values[i], mask=MASK)[0])


def test_kernel_regression_equals_loops(agrees):
    def score(b, i, j):
        squares = (mpmath.mpf(float(x) - float(y)) ** 2 for x, y in zip(QUERY[b, i], POINTS[b, j], strict=True))
        return -sum(squares) / (2 * mpmath.mpf(0.7) ** 2)

    answers = kernel_regression(QUERY, POINTS, VALUE, bandwidth=0.7, return_weights=True)
    for actual, expected in zip(answers, loop(score, QUERY, POINTS, VALUE), strict=True):
        agrees(actual, expected)
    agrees(kernel_regression(QUERY, POINTS, VALUE, bandwidth=np.float64(0.7)), answers[0])
    single = [a.astype(np.float32) for a in (QUERY, POINTS, VALUE)]
    agrees(kernel_regression(*single, bandwidth=0.7), answers[0].astype(np.float32))


@given(st.integers(0, 2**32 - 1), st.floats(0.3, 3))
def test_kernel_regression_is_dot_product_attention_if_and_only_if_the_keys_are_equally_long(seed, bandwidth):
    rng = np.random.default_rng(seed)
    query, key = rng.normal(size=(3, 4)), rng.normal(size=(5, 4))
    unit = key / np.linalg.norm(key, axis=-1, keepdims=True)
    for keys, equal in ((1.7 * unit, True), (unit * [[1], [1], [1], [1], [1.5]], False)):
        dots = scaled_dot_product_attention(query, keys, np.eye(5), scale=bandwidth**-2)
        distances = kernel_regression(query, keys, np.eye(5), bandwidth=bandwidth)
        assert np.allclose(dots, distances, rtol=1e-10, atol=1e-13) == equal


def test_kernel_regression_limits():
    regression = partial(kernel_regression, QUERY, POINTS, VALUE)
    mean = np.broadcast_to(VALUE.mean(axis=1, keepdims=True), (2, 3, 2))
    np.testing.assert_allclose(regression(bandwidth=1e8), mean, rtol=1e-12)
    nearest = np.linalg.norm(QUERY[:, :, None] - POINTS[:, None], axis=-1).argmin(axis=-1)
    same(regression(bandwidth=1e-3), np.take_along_axis(VALUE, nearest[..., None], axis=1))
    close(kernel_regression(QUERY * 5 + 9, POINTS * 5 + 9, VALUE, bandwidth=5), regression(bandwidth=1), rtol=1e-9)
    assert (kernel_regression(QUERY, POINTS[:, :0], VALUE[:, :0], bandwidth=1) == 0).all()


FAR = {
    "narrow": ([[0.0]], [[1.0], [2.0]], 1e-200),
    "far": ([[0.0]], [[1e200], [2e200]], 1.0),
    "float16": (np.zeros((1, 1), np.float16), np.array([[300], [310]], np.float16), 1.0),
}


@pytest.mark.parametrize(("query", "key", "bandwidth"), FAR.values(), ids=FAR)
def test_the_nearest_point_wins_however_far_it_is(query, key, bandwidth):
    assert kernel_regression(query, key, [[10.0], [20.0]], bandwidth=bandwidth) == [[10.0]]


def test_an_infinite_key_that_is_hidden_does_not_warn_in_additive_attention():
    key = np.where(np.arange(5)[:, None] == 3, np.inf, KEY)
    hide = np.arange(5) != 3
    same(additive(QUERY, key, VALUE, mask=hide)[0], additive(QUERY, KEY, VALUE, mask=hide)[0])


def test_additive_float16_is_computed_in_float32_and_rounded_once():
    inputs = [a.astype(np.float16) for a in (QUERY, KEY, VALUE, *W.values())]
    output, fine = (
        additive_attention(*a[:3], **dict(zip(W, a[3:], strict=True)))
        for a in (inputs, [a.astype(float) for a in inputs])
    )
    assert output.dtype == np.float16
    assert (abs(output - fine) <= 0.51 * np.spacing(abs(output)) + 1e-6).all()


@pytest.mark.parametrize("mask", [None, [True, True, False]])
def test_an_overflow_of_additive_scores_shows_in_the_answer(mask):
    x, weight = [[1.0]], {"query_weight": [[1.0, 1.0]], "key_weight": [[1.0, 1.0]], "score_weight": [-1.7e308] * 2}
    assert np.isnan(additive_attention(x, [[1.0], [1.0], [0.0]], [[1.0], [2.0], [3.0]], mask=mask, **weight))


def test_an_infinite_value_does_not_warn_in_additive_attention():
    weight = {"query_weight": [[1.0]], "key_weight": [[1.0]], "score_weight": [1.0]}
    hidden = additive_attention([[1.0]], [[1.0], [0.0]], [[1.0], [np.inf]], mask=[[True, False]], **weight)
    assert np.isnan(hidden)


SINGLE = [np.float32(a) for a in ([[0]], [[1], [2]], [[10], [20]])]


def refused(function, *inputs, **options):
    return lambda: function(*inputs, **options)


regression, wrong = partial(kernel_regression, bandwidth=1.0), partial(refused, additive, QUERY, KEY, VALUE)


@pytest.mark.parametrize(
    ("error", "fragments", "call"),
    [
        (ValueError, "query_weight|(4, 7)|(5, 7)", wrong(query_weight=tokens(5, 7))),
        (ValueError, "key_weight|(6, 7)|(6, 2)", wrong(key_weight=tokens(6, 2))),
        (
            ValueError,
            "score_weight|(1,)|(7, 1)",
            refused(
                additive,
                QUERY,
                KEY,
                VALUE,
                score_weight=tokens(7, 1),
                query_weight=tokens(4, 1),
                key_weight=tokens(6, 1),
            ),
        ),
        (ValueError, "query_weight|(4, 0)", wrong(score_weight=1.0)),
        (ValueError, "key (2, 5, 6)|value (2, 4, 2)", refused(additive, QUERY, KEY, VALUE[:, :4])),
        (ValueError, "(2, 3, 4)|(3, 5, 6)", refused(additive, QUERY, np.ones((3, 5, 6)), VALUE)),
        (ValueError, "mask|(3, 4)|(2, 3, 5)", wrong(mask=MASK[0, :, :4])),
        (
            ValueError,
            "mask|(2, 3, 5)|(3, 5)",
            refused(additive, QUERY[0], KEY[0], VALUE[0], mask=MASK),
        ),  # would enlarge
        (TypeError, "mask|float64", wrong(mask=MASK * 1.0)),
        (TypeError, "score_weight|complex128", wrong(score_weight=W["score_weight"] * 1j)),
        (ValueError, "query|(4,)", refused(additive, QUERY[0, 0], KEY, VALUE)),
        (ValueError, "query (2, 3, 4)|key (2, 5, 6)", refused(regression, QUERY, KEY, VALUE)),
        (ValueError, "key (2, 5, 4)|value (2, 4, 2)", refused(regression, QUERY, POINTS, VALUE[:, :4])),
        (ValueError, "(2, 3, 4)|(3, 5, 4)", refused(regression, QUERY, np.ones((3, 5, 4)), VALUE)),
        (ValueError, "bandwidth|正|0.0", refused(regression, QUERY, POINTS, VALUE, bandwidth=0)),
        (ValueError, "bandwidth|-1.0", refused(regression, QUERY, POINTS, VALUE, bandwidth=-1)),
        (ValueError, "bandwidth|inf", refused(regression, QUERY, POINTS, VALUE, bandwidth=np.inf)),
        (ValueError, "bandwidth=1e-50|float32|0.0", refused(regression, *SINGLE, bandwidth=1e-50)),
        (TypeError, "bandwidth|1j", refused(regression, QUERY, POINTS, VALUE, bandwidth=1j)),
        (TypeError, "key|<U1", refused(regression, QUERY, [["a"]], VALUE)),
    ],
)
def test_refuses(refuses, error, fragments, call):
    refuses(error, fragments, call)
