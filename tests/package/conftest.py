"""Shared by the tests of the package: one repeatable hypothesis profile, and two checks."""

import re

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# derandomize: every run draws the same examples
settings.register_profile(
    "package",
    settings(max_examples=60, derandomize=True, deadline=None, database=None),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("package")

TOLERANCE = {"float64": (1e-12, 1e-14), "float32": (1e-5, 1e-6), "float16": (4e-3, 4e-3)}


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
