"""blockwise_attention and online_attention: as the naive form where blocks end, and less work and memory."""

import tracemalloc
from functools import partial

import numpy as np
import pytest

from attention_book import blockwise_attention, causal_mask, online_attention
from attention_book import scaled_dot_product_attention as attention

OPTIONS = {
    "full": {},
    "causal": {"is_causal": True, "offset": 430},
    "causal, the first rows empty": {"is_causal": True, "offset": -140},
    "window": {"is_causal": True, "offset": 430, "window": 100},
    "mask": {"mask": np.random.default_rng(1).random((270, 700)) < 0.3},
    "whole blocks hidden": {"mask": np.arange(700) // 100 % 2 == np.arange(270)[:, None] // 192 % 2},
    "bias": {"bias": np.linspace(-900, 900, 700)},
    "everything": {
        "is_causal": True,
        "offset": 400,
        "window": 300,
        "mask": np.random.default_rng(2).random((270, 700)) < 0.3,
        "bias": np.random.default_rng(3).normal(size=(6, 270, 1)),
        "scale": -0.7,
    },
}


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("blocked", [blockwise_attention, online_attention])
def test_equals_the_naive_form_over_several_blocks(agrees, blocked, options, dtype):
    rng = np.random.default_rng(0)
    query, key, value = (rng.normal(size=n).astype(dtype) for n in ((6, 270, 8), (2, 700, 8), (3, 700, 5)))
    agrees(blocked(query, key, value, **options), attention(query, key, value, **options))


CAUSAL = [{"offset": 0}, {"offset": 5}, {"offset": -7}, {"offset": 5, "window": 4}, {"offset": -3, "window": 1}]


@pytest.mark.parametrize("options", [*CAUSAL, {"offset": 14}, {"offset": 99}, {"offset": -99, "window": 3}])
@pytest.mark.parametrize("rows", [1, 4, 99])
@pytest.mark.parametrize(
    "blocked", [blockwise_attention, *(partial(online_attention, key_block_size=n) for n in (1, 3))]
)
def test_a_block_touches_only_keys_that_one_of_its_queries_sees(blocked, rows, options):
    """0 * NaN is NaN: a NaN in the values reaches every row that is multiplied with it, seen or not."""
    L, S = 13, 15
    seen = causal_mask(L, S, **options)
    touched = np.concatenate(
        [seen[i : i + rows].any(axis=0, keepdims=True).repeat(L, 0)[:rows] for i in range(0, L, rows)]
    )[:L]
    for key in range(S):
        value = np.where(np.arange(S) == key, np.nan, 1.0)[:, None]
        output = blocked(np.ones((L, 1)), np.ones((S, 1)), value, is_causal=True, block_size=rows, **options)
        np.testing.assert_array_equal(np.isnan(output[:, 0]), touched[:, key])


LONG = {"full": {}, "causal": {"is_causal": True}, "window": {"is_causal": True, "window": 256}}
# the copy of the query, times scale, is 2 MiB: as large as the output
ONLINE = (online_attention, 4)


@pytest.mark.parametrize("options", LONG.values(), ids=LONG)
@pytest.mark.parametrize(("blocked", "limit"), [(blockwise_attention, 10), ONLINE])
def test_memory_beyond_the_inputs_output_included(blocked, limit, options):
    query, key, value = np.random.default_rng(0).normal(size=(3, 8192, 64)).astype(np.float32)
    tracemalloc.start()
    output = blocked(query, key, value, **options)
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    assert output.nbytes / 2**20 == 2
    assert 2 < peak <= limit


@pytest.mark.parametrize("length", [100, 1024])  # within one block, and over several
@pytest.mark.parametrize("blocked", [blockwise_attention, online_attention])
def test_memory_does_not_grow_with_the_number_of_heads(blocked, length):
    query, key, value = np.random.default_rng(0).normal(size=(3, 8, 1024, 4)).astype(np.float32)
    tracemalloc.start()
    blocked(query[:, :length], key, value)
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    assert peak < 1  # the scores of one block and head are 0.5 MiB


@pytest.mark.parametrize("blocked", [blockwise_attention, online_attention])
def test_a_long_mask_is_not_copied(blocked):
    query, key, value = np.random.default_rng(0).normal(size=(3, 4096, 8)).astype(np.float32)
    mask = np.tri(4096, dtype=bool)  # 16 MiB
    tracemalloc.start()
    blocked(query, key, value, mask=mask)
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    assert peak < 6


Q = np.ones((3, 2))


@pytest.mark.parametrize(
    ("error", "fragments", "call"),
    [
        (ValueError, "block_size|0", lambda: blockwise_attention(Q, Q, Q, block_size=0)),
        (TypeError, "block_size|2.0", lambda: blockwise_attention(Q, Q, Q, block_size=2.0)),
        (ValueError, "block_size|-1", lambda: online_attention(Q, Q, Q, block_size=-1)),
        (ValueError, "key_block_size|0", lambda: online_attention(Q, Q, Q, key_block_size=0)),
        (TypeError, "key_block_size|True", lambda: online_attention(Q, Q, Q, key_block_size=True)),
    ],
)
def test_refuses(refuses, error, fragments, call):
    refuses(error, fragments, call)
