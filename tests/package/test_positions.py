"""sinusoidal_positions and rotary_positions against their formulas, the relative property, and their errors."""

import cmath

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_book import rotary_positions, sinusoidal_positions

same = np.testing.assert_array_equal


@pytest.mark.parametrize(("length", "embed_dim"), [(0, 4), (1, 2), (3, 8), (60, 6)])
def test_sinusoidal_is_its_formula(agrees, length, embed_dim):
    expected = np.zeros((length, embed_dim))
    for position, i in np.ndindex(length, embed_dim):
        with mpmath.workdps(30):
            angle = position / mpmath.power(10000, mpmath.mpf(i // 2 * 2) / embed_dim)
            expected[position, i] = mpmath.cos(angle) if i % 2 else mpmath.sin(angle)
    agrees(sinusoidal_positions(length, np.int64(embed_dim)), expected)


def test_sinusoidal_positions_a_step_apart_differ_by_one_rotation():
    pairs = sinusoidal_positions(300, 16).reshape(300, 8, 2) @ [1j, 1]  # cos + i sin
    np.testing.assert_allclose(abs(pairs), 1, rtol=1e-12)
    np.testing.assert_allclose(pairs[7:] / pairs[:-7], np.broadcast_to(pairs[7], (293, 8)), rtol=1e-11)


POSITIONS = {"default": None, "later": [5, 6, 7, 8], "any order": [3, 0, -2, 0], "between": [0.5, 1.25, 0.0, 1e4]}


@pytest.mark.parametrize("positions", POSITIONS.values(), ids=POSITIONS)
@pytest.mark.parametrize("base", [None, 100, 0.5])
def test_rotary_multiplies_each_pair_by_one_complex_number(agrees, positions, base):
    x = np.random.default_rng(0).normal(size=(2, 3, 4, 6))
    expected = np.empty_like(x)
    for *i, n, pair in np.ndindex(2, 3, 4, 3):
        angle = (n if positions is None else positions[n]) * (base or 10_000) ** (-2 * pair / 6)
        z = complex(*x[*i, n, 2 * pair : 2 * pair + 2]) * cmath.exp(1j * angle)
        expected[*i, n, 2 * pair : 2 * pair + 2] = z.real, z.imag
    agrees(rotary_positions(x, positions, **({"base": base} if base else {})), expected)


@given(st.integers(1, 4), st.integers(0, 2**32 - 1), st.integers(-500, 500))
def test_rotary_products_depend_on_the_distance_only(pairs, seed, shift):
    rng = np.random.default_rng(seed)
    query, key = (x / np.linalg.norm(x, axis=-1, keepdims=True) for x in rng.normal(size=(2, 5, 2 * pairs)))
    positions, others = rng.integers(-500, 500, size=(2, 5))
    here = rotary_positions(query, positions) @ rotary_positions(key, others).T
    moved = rotary_positions(query, positions + shift) @ rotary_positions(key, others + shift).T
    np.testing.assert_allclose(moved, here, rtol=0, atol=1e-12)
    lengths = np.linalg.norm(rotary_positions(query, positions), axis=-1)
    np.testing.assert_allclose(lengths, 1, rtol=1e-14)
    same(rotary_positions(query, np.zeros(5)), query)
    np.testing.assert_allclose(rotary_positions(rotary_positions(query, positions), -positions), query, atol=1e-14)


def test_rotary_notices_the_order():
    x = np.ones((3, 4))
    scores = rotary_positions(x) @ rotary_positions(x).T
    assert scores[0, 0] > scores[0, 1] > scores[0, 2]


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int8"])
def test_rotary_keeps_the_dtype_and_the_input_and_is_rounded_once(dtype):
    x = (10 * np.random.default_rng(0).normal(size=(50, 8))).astype(dtype)[::-1]
    x.flags.writeable, before = False, x.copy()
    output, fine = rotary_positions(x), rotary_positions(x.astype(float))
    assert output.dtype == ("float64" if dtype == "int8" else dtype)
    assert (abs(output - fine) <= 0.51 * np.spacing(abs(output))).all()
    same(x, before)
    assert rotary_positions(x[:0]).shape == (0, 8)


def test_numbers_that_overflow_show_in_the_answer():
    assert np.isnan(rotary_positions([[np.inf, 1.0], [np.inf, 1.0]])).any()
    assert np.isinf(rotary_positions(np.float16([[65504, 65504]]), [1.0])).any()
    assert np.isnan(rotary_positions([[1.0, 0.0, 1.0, 0.0]], [1e200], base=1e-300)).any()


X = np.ones((3, 4))


@pytest.mark.parametrize(
    ("error", "fragments", "call"),
    [
        (ValueError, "3|偶数", lambda: sinusoidal_positions(2, 3)),
        (ValueError, "次元|0", lambda: sinusoidal_positions(2, 0)),
        (ValueError, "length|-1", lambda: sinusoidal_positions(-1, 4)),
        (TypeError, "length|2.0", lambda: sinusoidal_positions(2.0, 4)),
        (TypeError, "次元|4.0", lambda: sinusoidal_positions(2, 4.0)),
        (ValueError, "3|偶数", lambda: rotary_positions(X[:, :3])),
        (ValueError, "次元|0", lambda: rotary_positions(X[:, :0])),
        (ValueError, "x |(4,)|x[None]", lambda: rotary_positions(X[0])),
        (TypeError, "x |complex128", lambda: rotary_positions(X * 1j)),
        (ValueError, "positions|(3,)|(2,)", lambda: rotary_positions(X, [0, 1])),
        (ValueError, "positions|(3,)|(1, 3)", lambda: rotary_positions(X, [[0, 1, 2]])),
        (ValueError, "positions|(3,)|()", lambda: rotary_positions(X, 5)),
        (ValueError, "positions|有限|inf", lambda: rotary_positions(X, [0, 1, np.inf])),
        (TypeError, "positions|bool", lambda: rotary_positions(X, [True] * 3)),
        (ValueError, "base|正|0", lambda: rotary_positions(X, base=0)),
        (ValueError, "base|-2.0", lambda: rotary_positions(X, base=-2)),
        (ValueError, "base|nan", lambda: rotary_positions(X, base=np.nan)),
        (TypeError, "base|'10'", lambda: rotary_positions(X, base="10")),
    ],
)
def test_refuses(refuses, error, fragments, call):
    refuses(error, fragments, call)
