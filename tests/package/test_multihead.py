"""split_heads, merge_heads and MultiHeadAttention against torch, their invariants and errors."""

import dataclasses

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_book import (
    MultiHeadAttention,
    causal_mask,
    merge_heads,
    padding_mask,
    scaled_dot_product_attention,
    split_heads,
)

same = np.testing.assert_array_equal


def tokens(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=(*shape, 8))


def torch_layer(dtype):
    torch.manual_seed(0)
    layer = torch.nn.MultiheadAttention(8, 2, batch_first=True, dtype=dtype)
    torch.nn.init.normal_(layer.in_proj_bias)  # torch starts at zero, which hides a lost bias
    torch.nn.init.normal_(layer.out_proj.bias)
    return layer


WEIGHTS = {
    "in_proj_weight": tokens(24, seed=5),
    "in_proj_bias": tokens(3, seed=6).ravel(),
    "out_proj_weight": tokens(8, seed=7),
    "out_proj_bias": tokens(seed=8),
}
LAYER = MultiHeadAttention(**WEIGHTS, num_heads=2)


@given(st.sampled_from([(), (2,), (2, 3)]), st.integers(0, 4), st.integers(1, 4), st.integers(1, 3))
def test_split_equals_torch_and_merge_is_its_inverse(batch, L, num_heads, head_dim):
    x = np.random.default_rng(0).normal(size=(*batch, L, num_heads * head_dim)).astype(np.float32)
    x.flags.writeable = False
    heads = split_heads(x, np.int64(num_heads))
    same(heads, torch.tensor(x).unflatten(-1, (num_heads, head_dim)).transpose(-2, -3))
    same(merge_heads(heads), x)
    assert heads.dtype == merge_heads(heads).dtype == np.float32


KEY, VALUE = tokens(3, 7, seed=1), tokens(3, 7, seed=2)
SQUARE, PER_HEAD = (np.random.default_rng(3).random(n) < 0.5 for n in ((5, 5), (3, 2, 5, 5)))
SQUARE[..., 0] = PER_HEAD[..., 0] = True  # torch gives NaN for a query that may see nothing
ORACLE = {
    "self": {},
    "causal": {"is_causal": True},
    "cross": {"key": KEY},
    "cross with its own values": {"key": KEY, "value": VALUE},
    "mask": {"mask": SQUARE},
    "causal and mask": {"mask": SQUARE, "is_causal": True},
    "mask per head": {"mask": PER_HEAD},
    "padding": {"key": KEY, "mask": padding_mask([7, 1, 4], 7)},
}


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("case", ORACLE)
def test_equals_torch_with_copied_weights(agrees, dtype, case):
    options = {n: a.astype(dtype) if n in ("key", "value") else a for n, a in ORACLE[case].items()}
    query = tokens(3, 5).astype(dtype)
    key = options.get("key", query)
    value = options.get("value", key)
    allowed = np.broadcast_to(options.get("mask", True), (3, 2, 5, key.shape[1]))
    if "is_causal" in options:
        allowed = allowed & causal_mask(5)
    hidden = torch.from_numpy(~allowed.reshape(6, 5, -1))  # in torch's layer True hides
    layer = torch_layer(getattr(torch, dtype))
    inputs = map(torch.from_numpy, (query, key, value))
    with torch.no_grad():
        expected = layer(*inputs, attn_mask=hidden, average_attn_weights=False)

    ours = MultiHeadAttention.from_torch(layer.state_dict(), num_heads=2)
    output, weights = ours(query, **options, return_weights=True)
    agrees(output, expected[0])
    agrees(weights, expected[1])
    agrees(ours(query, **options), output)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_from_torch_without_biases(agrees, dtype):
    torch.manual_seed(1)
    layer = torch.nn.MultiheadAttention(8, 4, bias=False, batch_first=True, dtype=dtype)
    x = torch.randn(3, 5, 8, dtype=dtype)
    with torch.no_grad():
        expected, _ = layer(x, x, x)
    ours = MultiHeadAttention.from_torch(layer.state_dict(), num_heads=4)
    agrees(ours(x.numpy()), expected)
    assert ours.in_proj_bias.dtype == ours.out_proj_bias.dtype == ours.in_proj_weight.dtype


@pytest.mark.parametrize("num_kv_heads", [1, 2, 4])
@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"is_causal": True, "window": 2}], ids=str)
def test_grouped_heads_equal_torch_and_a_layer_with_the_rows_repeated(agrees, num_kv_heads, options):
    rows = np.arange(num_kv_heads * 2).reshape(num_kv_heads, 2)  # of W_K, for each of its heads
    full = np.repeat(rows, 4 // num_kv_heads, axis=0).ravel()  # each serves neighbouring query heads
    end = 8 + rows.size
    every = np.concatenate([np.arange(8), 8 + full, end + full])
    weight, bias, out, out_bias = (tokens(n, seed=n) for n in (end + rows.size, 1, 8, 1))
    bias = np.resize(bias, len(weight))
    grouped = MultiHeadAttention(weight, bias, out, out_bias[0], num_heads=4)
    repeated = MultiHeadAttention(weight[every], bias[every], out, out_bias[0], num_heads=4)
    x = tokens(3, 5, seed=9)
    agrees(grouped(x, **options), repeated(x, **options))
    agrees(grouped(x, **options, return_weights=True)[1], repeated(x, **options, return_weights=True)[1])

    query, key, value = (split_heads(p, p.shape[-1] // 2) for p in np.split(x @ weight.T + bias, [8, end], axis=-1))
    allowed = causal_mask(5, window=options.get("window")) if options else np.ones((5, 5), bool)
    expected = torch.nn.functional.scaled_dot_product_attention(
        *map(torch.from_numpy, (query, key, value)), attn_mask=torch.from_numpy(allowed), enable_gqa=True
    )
    agrees(scaled_dot_product_attention(query, key, value, **options), expected)
    agrees(grouped(x, **options), merge_heads(expected.numpy()) @ out.T + out_bias[0])


def test_from_torch_copies_the_weights():
    layer, x = torch_layer(torch.float64), tokens(5)
    ours = MultiHeadAttention.from_torch(layer.state_dict(), num_heads=2)
    before = ours(x)
    torch.nn.init.zeros_(layer.in_proj_weight)
    same(ours(x), before)
    assert (ours.embed_dim, ours.num_heads) == (8, 2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        ours.num_heads = 4


def test_key_and_value_left_out():
    x = tokens(3, 5)
    same(LAYER(x), LAYER(x, x, x))
    same(LAYER(x, KEY), LAYER(x, KEY, KEY))
    same(LAYER(x, value=x + 1), LAYER(x, x, x + 1))


def test_invariants_of_the_whole_layer():
    x = tokens(3, 5)
    causal = LAYER(x, is_causal=True)
    for i in range(3):  # batch = loop
        np.testing.assert_allclose(causal[i], LAYER(x[i], is_causal=True), rtol=1e-9)
    later = np.where(np.arange(5)[:, None] < 3, x, -1e3)
    same(LAYER(later, is_causal=True)[:, :3], causal[:, :3])
    padding = padding_mask([5, 2, 3], 5)
    real = padding.reshape(3, 5)
    junk = np.where(real[..., None], x, 1e3)
    same(LAYER(junk, mask=padding)[real], LAYER(x, mask=padding)[real])


@pytest.mark.parametrize(("batch", "L", "S"), [((), 2, 0), ((), 0, 3), ((0,), 2, 3), ((2,), 0, 0)])
def test_a_query_that_sees_nothing_gives_the_bias_of_the_output(batch, L, S):
    output, weights = LAYER(tokens(*batch, L), tokens(*batch, S), return_weights=True)
    assert (output.shape, weights.shape) == ((*batch, L, 8), (*batch, 2, L, S))
    assert S or (output == LAYER.out_proj_bias).all()
    hidden = LAYER(tokens(*batch, L), tokens(*batch, S), mask=np.zeros(S, bool))
    assert (hidden == LAYER.out_proj_bias).all()


def test_integers_and_lists_become_float64(agrees):
    x = np.arange(16, dtype=np.int8).reshape(2, 8)
    agrees(LAYER(x), LAYER(x.astype(float)))
    agrees(LAYER(x.tolist()), LAYER(x.astype(float)))


@pytest.mark.parametrize("writeable", [True, False])
def test_inputs_are_not_changed_and_may_be_read_only(writeable):
    inputs = {"query": tokens(3, 5)[::-1], "key": KEY.copy(), "value": VALUE[..., ::-1].copy()}
    given = inputs | {n: a.copy() for n, a in WEIGHTS.items()}
    before = {n: a.copy() for n, a in given.items()}
    for a in given.values():
        a.flags.writeable = writeable
    layer = MultiHeadAttention(*(given[n] for n in WEIGHTS), num_heads=2)
    expected = LAYER(before["query"], before["key"], before["value"])
    np.testing.assert_allclose(layer(*inputs.values()), expected, rtol=1e-9)
    for name, a in given.items():
        same(a, before[name])


def build(**change):
    return MultiHeadAttention(**WEIGHTS | {"num_heads": 2} | change)


def from_torch(**options):
    layer = torch.nn.MultiheadAttention(8, 2, **options)
    return MultiHeadAttention.from_torch(layer.state_dict(), 2)


X, RAGGED = tokens(3, 5), [[1.0], [1.0, 2.0]]


@pytest.mark.parametrize(
    ("error", "fragments", "call"),
    [
        (ValueError, "x |(8,)", lambda: split_heads(X[0, 0], 2)),
        (ValueError, "embed_dim=8|num_heads=3", lambda: split_heads(X, 3)),
        (ValueError, "embed_dim=0", lambda: split_heads(X[..., :0], 2)),
        (ValueError, "num_heads|0", lambda: split_heads(X, 0)),
        (TypeError, "num_heads|2.0", lambda: split_heads(X, 2.0)),
        (TypeError, "num_heads|True", lambda: split_heads(X, True)),
        (TypeError, "x |<U1", lambda: split_heads([["a", "b"]], 2)),
        (ValueError, "x |同じ長さ", lambda: split_heads(RAGGED, 1)),
        (ValueError, "x |(5, 8)|num_heads", lambda: merge_heads(X[0])),
        (ValueError, "in_proj_weight|(24, 8)|(8, 24)", lambda: build(in_proj_weight=tokens(24).T)),
        (ValueError, "in_proj_bias|(24,)|(8,)", lambda: build(in_proj_bias=tokens())),
        (ValueError, "out_proj_weight|(8, 8)|(6, 8)", lambda: build(out_proj_weight=tokens(6))),
        (ValueError, "out_proj_bias|(8,)|(1, 8)", lambda: build(out_proj_bias=tokens(1))),
        (ValueError, "out_proj_weight|()", lambda: build(out_proj_weight=1.0)),
        (TypeError, "out_proj_bias|complex128", lambda: build(out_proj_bias=tokens() * 1j)),
        (ValueError, "embed_dim=8|num_heads=3", lambda: build(num_heads=3)),
        (TypeError, "num_heads|'2'", lambda: build(num_heads="2")),
        (ValueError, "23 行|head_dim=4", lambda: build(in_proj_weight=tokens(23), in_proj_bias=tokens(23)[:, 0])),
        (ValueError, "8 行|num_kv_heads", lambda: build(in_proj_weight=tokens(8), in_proj_bias=tokens())),
        (ValueError, "4 行|num_kv_heads", lambda: build(in_proj_weight=tokens(4), in_proj_bias=tokens()[:4])),
        (ValueError, "32 行|num_heads=2", lambda: build(in_proj_weight=tokens(32), in_proj_bias=tokens(4).ravel())),
        (ValueError, "window=2|is_causal=True", lambda: LAYER(X, window=2)),
        (ValueError, "bias_k|add_bias_kv", lambda: from_torch(add_bias_kv=True)),
        (ValueError, "in_proj_weight|q_proj_weight", lambda: from_torch(kdim=4, vdim=4)),
        (ValueError, "in_proj_weight|空", lambda: MultiHeadAttention.from_torch({}, 2)),
        (ValueError, "in_proj_weight|1", lambda: MultiHeadAttention.from_torch({1: 2, "a": 3}, 2)),
        (TypeError, "state_dict()|MultiheadAttention", lambda: MultiHeadAttention.from_torch(theirs(), 2)),
        (
            TypeError,
            "Parameter|.detach()",
            lambda: MultiHeadAttention.from_torch(dict(theirs().named_parameters()), 2),
        ),
        (
            TypeError,
            "Tensor|.float()",
            lambda: MultiHeadAttention.from_torch(theirs().bfloat16().state_dict(), 2),
        ),
        (TypeError, "cache|KVCache()|True", lambda: LAYER(X, cache=True)),
        (ValueError, "query|(8,)|embed_dim=8", lambda: LAYER(X[0, 0])),
        (ValueError, "query|(3, 5, 6)|embed_dim=8", lambda: LAYER(X[..., :6])),
        (ValueError, "value|(3, 5, 6)", lambda: LAYER(X, X, X[..., :6])),
        (ValueError, "key|value|7|5", lambda: LAYER(X, KEY, X)),
        (ValueError, "先頭の次元", lambda: LAYER(X, X[:2])),
        (TypeError, "key|complex128", lambda: LAYER(X, X * 1j)),
        (ValueError, "query|同じ長さ", lambda: LAYER(RAGGED)),
        (TypeError, "mask|float64", lambda: LAYER(X, mask=np.ones((5, 5)))),
        (ValueError, "mask|(3, 5)|(3, 2, 5, 5)", lambda: LAYER(X, mask=SQUARE[:3])),
        (ValueError, "5|7", lambda: LAYER(X, KEY, is_causal=True)),
        (ValueError, "mask", lambda: LAYER(X, mask=RAGGED)),
    ],
)
def test_refuses(refuses, error, fragments, call):
    refuses(error, fragments, call)


def theirs():
    return torch.nn.MultiheadAttention(8, 2)


def test_a_number_of_heads_in_a_narrow_dtype_does_not_wrap():
    same(split_heads(X, np.uint8(2)), split_heads(X, 2))
    same(split_heads(np.zeros((5, 300)), np.uint8(2)), split_heads(np.zeros((5, 300)), 2))
    same(build(num_heads=np.uint8(2))(X), build(num_heads=2)(X))


def test_a_layer_keeps_its_weights():
    weight = tokens(24)
    ours = build(in_proj_weight=weight)
    before = ours(X)
    weight[:] = 0
    same(ours(X), before)


def test_numbers_that_overflow_show_in_the_answer():
    assert np.isnan(LAYER(np.full((2, 8), np.inf))).any()
    assert not np.isfinite(build(in_proj_weight=np.full((24, 8), 1e200))(np.full((2, 8), 1e200))).all()


@pytest.mark.parametrize("name", ["in_proj_weight", "out_proj.weight"])
def test_from_torch_refuses_a_number(refuses, name):
    weights = {"in_proj_weight": tokens(24), "out_proj.weight": tokens(8)}
    refuses(ValueError, "proj_weight|()", lambda: MultiHeadAttention.from_torch(weights | {name: 1.0}, 2))
