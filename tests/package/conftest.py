"""Shared by the tests of the package: a repeatable hypothesis profile, the kernels, an exact answer, two checks."""

import re
from functools import partial

import mpmath
import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from attention_book import blockwise_attention, online_attention, scaled_dot_product_attention

# derandomize: every run draws the same examples
settings.register_profile(
    "package",
    settings(max_examples=60, derandomize=True, deadline=None, database=None),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("package")

TOLERANCE = {"float64": (1e-12, 1e-14), "float32": (1e-5, 1e-6), "float16": (4e-3, 4e-3)}

KERNELS = {
    "naive": scaled_dot_product_attention,
    **{f"blocks of {n}": partial(blockwise_attention, block_size=n) for n in (1, 3, 128)},
    **{
        f"online {n}x{m}": partial(online_attention, block_size=n, key_block_size=m)
        for n, m in ((1, 1), (3, 2), (128, 512))
    },
}


@pytest.fixture(scope="session", params=KERNELS.values(), ids=KERNELS)
def kernel(request):
    """Every way to compute the same attention."""
    return request.param


@pytest.fixture(scope="session")
def exact():
    """exact(query, key, value, **options): the definition in 60 digits; a hidden key never enters."""

    def attention(query, key, value, *, mask=True, bias=0.0, is_causal=False, offset=0, window=None, scale=None):
        number = np.vectorize(lambda x: mpmath.mpf(float(x)), otypes=[object])
        query, key, value = (np.asarray(a) for a in (query, key, value))
        batch = np.broadcast_shapes(*(a.shape[:-2] for a in (query, key, value)))
        query, key, value = (np.broadcast_to(a, (*batch, *a.shape[-2:])) for a in (query, key, value))
        shape = (*batch, query.shape[-2], key.shape[-2])
        age = offset + np.arange(shape[-2])[:, None] - np.arange(shape[-1])  # 0: the query itself, 1: just before
        seen = np.broadcast_to(mask, shape) & ((age >= 0) & (age < (window or np.inf)) | (not is_causal))
        bias = np.broadcast_to(bias, shape)
        output = np.zeros((*shape[:-1], value.shape[-1]))
        with mpmath.workdps(60):
            scale = 1 / mpmath.sqrt(query.shape[-1]) if scale is None else mpmath.mpf(scale)
            for i in np.ndindex(shape[:-1]):
                keys = np.flatnonzero(seen[i] & (bias[i] != -np.inf))
                if keys.size:
                    scores = (number(key[i[:-1]][keys]) * number(query[i])).sum(axis=-1) * scale + number(bias[i][keys])
                    e = np.array([mpmath.exp(x) for x in scores - max(scores)])
                    output[i] = (e[:, None] * number(value[i[:-1]][keys])).sum(axis=0) / e.sum()
        return output

    return attention


@pytest.fixture(scope="session")
def agrees():
    """agrees(actual, expected): same shape, same dtype, equal within the tolerance of the dtype."""

    def check(actual, expected):
        expected = np.asarray(expected)  # it may be a torch tensor
        assert (actual.shape, actual.dtype) == (expected.shape, expected.dtype)
        rtol, atol = TOLERANCE[str(actual.dtype)]
        np.testing.assert_allclose(actual.astype(float), expected.astype(float), rtol, atol)

    return check


@pytest.fixture(scope="session")
def refuses():
    """refuses(error, "a|b", call): a Japanese error with `a` and `b` in it, no words of NumPy."""

    def check(error, fragments, call):
        with pytest.raises((TypeError, ValueError)) as caught:
            call()
        message = str(caught.value)
        assert caught.type is error, message
        assert re.search("[ぁ-ん]", message), message
        assert not re.search("([A-Za-z]+ ){3}", message), message
        assert caught.value.__suppress_context__ or not caught.value.__context__  # printed above it
        assert [f for f in fragments.split("|") if f not in message] == []

    return check
