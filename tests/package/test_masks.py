"""causal_mask and padding_mask against torch and their definitions, and their errors."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_book import blockwise_attention, causal_mask, padding_mask

same = np.testing.assert_array_equal


lengths = st.integers(0, 6) | st.integers(0, 300)


@given(lengths, lengths, st.integers(-7, 7) | st.integers(-400, 400) | st.just(2**40))
def test_causal_equals_torch_and_its_definition(L, S, offset):
    mask = causal_mask(L, S, offset=offset)
    assert mask.dtype == bool
    same(mask, torch.ones(L, S, dtype=torch.bool).tril(offset))
    same(mask, np.arange(S) <= np.arange(L)[:, None] + offset)


@given(lengths, lengths, st.integers(-400, 300), st.integers(1, 400))
def test_window_keeps_the_newest_keys(L, S, offset, window):
    age = offset + np.arange(L)[:, None] - np.arange(S)
    same(causal_mask(L, S, offset=offset, window=window), (age >= 0) & (age < window))


FAR = [(1, 4, 10, 2), (3, 4, 2**40, 7), (2, 2, 0, 2**70), (2, 2, 2**70, 2**70), (2, 5, 2**70, 2**70 - 3)]


@pytest.mark.parametrize(("L", "S", "offset", "window"), FAR)
def test_window_far_from_the_keys(L, S, offset, window):
    seen = [[0 <= offset + i - j < window for j in range(S)] for i in range(L)]
    same(causal_mask(L, S, offset=offset, window=window), seen)
    output = blockwise_attention(np.eye(L, 1), np.eye(S, 1), np.eye(S), is_causal=True, offset=offset, window=window)
    same(output > 0, seen)


@given(st.integers(0, 20), st.integers(0, 20))
def test_causal_of_the_last_queries_is_the_end_of_the_square(new, old):
    square = causal_mask(np.int64(old + new))
    same(square, causal_mask(old + new, old + new, offset=0))
    same(causal_mask(new, old + new, offset=old), square[old:])


@given(st.lists(st.integers(0, 200), max_size=5), st.sampled_from([int, np.uint8]))
def test_padding_equals_torch(lengths, dtype):
    mask = padding_mask(np.array(lengths, dtype), 200)
    assert (mask.shape, mask.dtype) == ((len(lengths), 1, 1, 200), bool)
    same(mask[:, 0, 0], torch.arange(200) < torch.tensor(lengths).reshape(-1, 1))
    same(mask, padding_mask(lengths, 200))
    assert mask.sum(axis=(1, 2, 3)).tolist() == lengths


@pytest.mark.parametrize(
    ("error", "fragments", "call"),
    [
        (ValueError, "2|5|offset=0|offset=3", lambda: causal_mask(2, 5)),
        (ValueError, "5|2|offset=0|offset=-3", lambda: causal_mask(5, 2)),
        (ValueError, "query_len|-1", lambda: causal_mask(-1)),
        (ValueError, "key_len|-2", lambda: causal_mask(3, -2, offset=0)),
        (TypeError, "query_len|True", lambda: causal_mask(True)),
        (TypeError, "query_len|3.0", lambda: causal_mask(3.0)),
        (TypeError, "key_len|[3]", lambda: causal_mask(3, [3])),
        (TypeError, "offset|True", lambda: causal_mask(3, offset=True)),
        (ValueError, "window|0", lambda: causal_mask(3, window=0)),
        (TypeError, "window|1.0", lambda: causal_mask(3, window=1.0)),
        (TypeError, "offset|'1'", lambda: causal_mask(3, offset="1")),
        (ValueError, "max_len=4|3 から 5", lambda: padding_mask([3, 5], 4)),
        (ValueError, "max_len=4|-1 から 2", lambda: padding_mask([-1, 2], 4)),
        (ValueError, "lengths|()", lambda: padding_mask(3, 4)),
        (ValueError, "lengths|(1, 2)", lambda: padding_mask([[1, 2]], 4)),
        (TypeError, "lengths|float64", lambda: padding_mask([1.0, 2.0], 4)),
        (TypeError, "lengths|bool", lambda: padding_mask([True, False], 4)),
        (TypeError, "lengths|timedelta64", lambda: padding_mask(np.array([1, 2], "m8[s]"), 4)),
        (TypeError, "lengths|<U1", lambda: padding_mask(["1"], 4)),
        (TypeError, "max_len|4.0", lambda: padding_mask([1], 4.0)),
        (ValueError, "lengths", lambda: padding_mask([[1], [1, 2]], 4)),
    ],
)
def test_refuses(refuses, error, fragments, call):
    refuses(error, fragments, call)
