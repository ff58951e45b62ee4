"""KVCache: what it holds, what it costs, and decoding that equals the parallel pass."""

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_book import KVCache, MultiHeadAttention

same = np.testing.assert_array_equal


def tokens(*shape, seed=0, dtype=float):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


chunks = st.lists(st.integers(0, 5), min_size=1, max_size=5)


def spans(sizes):
    ends = np.cumsum(sizes)
    return [slice(end - n, end) for n, end in zip(sizes, ends, strict=True)]


@given(chunks, st.sampled_from(["f2", "f4", "f8", "i4"]))
def test_returns_everything_so_far_in_views_that_stay_valid(sizes, dtype):
    key, value = tokens(2, sum(sizes), 3, dtype=dtype), tokens(2, sum(sizes), 4, dtype=dtype)
    cache, views = KVCache(), []
    for span in spans(sizes):
        given = [a[:, span].copy() for a in (key, value)]
        views.append(cache.append(*given))
        for a in given:
            a[...] = 99  # what was appended is a copy
        for seen, length in zip(views, np.cumsum(sizes), strict=False):  # the old views too
            for part, whole in zip(seen, (key, value), strict=True):
                same(part, whole[:, :length])
                assert part.dtype == ("f8" if dtype == "i4" else dtype)
                assert not part.flags.writeable
        assert len(cache) == views[-1][0].shape[-2]


@pytest.mark.parametrize("first", [0, 1, 5])
def test_room_doubles_so_copies_are_few(first):
    cache, n = KVCache(), 1000
    views = [cache.append(np.ones((2, first, 3)), np.ones((2, first, 3)))[0]]
    views += [cache.append(np.ones((2, 1, 3)), np.ones((2, 1, 3)))[0] for _ in range(n)]
    rooms = {id(view.base): view.base.shape[-2] for view in views}  # the views keep each of them alive
    assert np.log2(n / max(first, 1)) <= len(rooms) <= 3 + np.log2(n)
    assert max(rooms.values()) < 2 * (n + first)


@settings(max_examples=20)
@given(sizes=chunks, num_kv_heads=st.sampled_from([1, 2, 4]), window=st.none() | st.integers(1, 6))
def test_decoding_in_chunks_equals_the_parallel_pass(kernel, sizes, num_kv_heads, window):
    n, options = sum(sizes), {"is_causal": True, "window": window}
    query, key, value = tokens(4, n, 3), tokens(num_kv_heads, n, 3, seed=1), tokens(num_kv_heads, n, 2, seed=2)
    cache, parts = KVCache(), []
    for span in spans(sizes):
        seen = cache.append(key[:, span], value[:, span])
        parts.append(kernel(query[:, span], *seen, offset=span.start, **options))
    np.testing.assert_allclose(np.concatenate(parts, axis=-2), kernel(query, key, value, **options), 1e-12, 1e-14)


def layer(num_kv_heads=4, dtype=float):
    rows = 8 + 2 * num_kv_heads * 2
    weights = tokens(rows, 8), tokens(rows, seed=1), tokens(8, 8, seed=2), tokens(8, seed=3)
    return MultiHeadAttention(*((a / 3).astype(dtype) for a in weights), num_heads=4)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("num_kv_heads", [1, 2, 4])
@pytest.mark.parametrize("options", [{}, {"window": 3}], ids=["causal", "window"])
@pytest.mark.parametrize("sizes", [[1] * 9, [4, 1, 1, 3], [9]], ids=str)
def test_a_layer_with_a_cache_equals_the_parallel_pass(agrees, sizes, options, num_kv_heads, dtype):
    ours, x = layer(num_kv_heads, dtype), tokens(2, 9, 8, dtype=dtype)
    expected, weights = ours(x, is_causal=True, return_weights=True, **options)
    cache, other = KVCache(), KVCache()
    for span in spans(sizes):
        output = ours(x[:, span], cache=cache, is_causal=True, **options)
        agrees(output, expected[:, span])
        again, part = ours(x[:, span], cache=other, is_causal=True, return_weights=True, **options)
        agrees(again, output)
        agrees(part, weights[..., span, : span.stop])
    assert len(cache) == len(other) == 9
    assert cache.append(*np.empty((2, 2, num_kv_heads, 0, 2), dtype))[0].shape == (2, num_kv_heads, 9, 2)


def test_a_layer_with_a_cache_sees_all_of_it_without_causal_and_keeps_a_given_offset(agrees):
    ours, x, cache = layer(), tokens(5, 8), KVCache()
    agrees(ours(x[:3], cache=cache), ours(x[:3]))
    agrees(ours(x[3:], cache=cache), ours(x[3:], x))
    agrees(ours(x[:2], x[:0], cache=cache, is_causal=True, offset=1), ours(x[:2], x, is_causal=True, offset=1))
    hide = np.arange(5) != 1
    agrees(ours(x[:2], x[:0], cache=cache, mask=hide), ours(x[:2], x, mask=hide))


K, V = tokens(2, 3, 4), tokens(2, 3, 6)
REFUSED = [
    (ValueError, "key (2, 3, 4)|value (2, 2, 6)", (K, V[:, :2])),
    (ValueError, "key (2, 3, 4)|value (1, 3, 6)", (K, V[:1])),
    (ValueError, "key|(2, 3, 4)|(2, 3, 3)|KVCache()", (K[..., :3], V)),
    (ValueError, "value|(2, 3, 6)|(2, 3, 5)", (K, V[..., :5])),
    (ValueError, "key|(2, 3, 4)|(1, 3, 4)", (K[:1], V[:1])),
    (ValueError, "key|(2, 3, 4)|(3, 4)", (K[0], V[0])),
    (ValueError, "key|(4,)", (K[0, 0], V)),
    (TypeError, "value|float64|float32|astype(float64)", (K, V.astype(np.float32))),
    (TypeError, "key|complex128", (K * 1j, V)),
]


@pytest.mark.parametrize(("error", "fragments", "inputs"), REFUSED)
def test_refuses_and_keeps_what_it_had(refuses, error, fragments, inputs):
    cache = KVCache()
    old = cache.append(K, V)
    refuses(error, fragments, lambda: cache.append(*inputs))
    assert len(cache) == 3
    for seen, a in zip(old, (K, V), strict=True):
        same(seen, a)
    for seen, a in zip(cache.append(K, V), (K, V), strict=True):
        same(seen, np.concatenate([a, a], axis=-2))


def test_a_refused_first_append_leaves_it_empty(refuses):
    cache = KVCache()
    refuses(ValueError, "key|value", lambda: cache.append(K, V[:1]))
    assert len(cache) == 0
    assert cache.append(V, K)[0].shape == V.shape  # any shape is still free


BAD = [
    (ValueError, "mask|(9, 9)", {"mask": np.ones((9, 9), bool)}),
    (TypeError, "mask|float64", {"mask": [1.0]}),
    (ValueError, "window=2|is_causal=True", {"window": 2}),
]


@pytest.mark.parametrize(("error", "fragments", "options"), BAD)
@pytest.mark.parametrize("before", [0, 2])
def test_a_layer_that_refuses_leaves_the_cache_unchanged(refuses, before, error, fragments, options):
    ours, cache = layer(), KVCache()
    if before:
        ours(tokens(before, 8), cache=cache)
    refuses(error, fragments, lambda: ours(tokens(1, 8), cache=cache, **options))
    assert len(cache) == before


def test_a_copy_and_its_original_grow_apart():
    """Beam search: what is added to one is not seen in the other, nor in what it returned, with room to spare or not."""
    for size in range(1, 6):
        cache = KVCache()
        for token in tokens(size, 1, 1):
            cache.append(token, token)
        other = copy.copy(cache)
        assert len(other) == size
        one, two = (some.append([[x]], [[-x]]) for some, x in ((cache, 10.0), (other, 20.0)))
        for token in tokens(4, 1, 1):
            other.append(token, token)
        for a, b, x in ((one, two, 10.0), (two, one, 20.0)):
            assert (a[0][-1], a[1][-1]) == (x, -x)
            same(a[0][:-1], b[0][:-1])
    assert len(copy.copy(KVCache())) == 0
