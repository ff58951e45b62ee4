"""scaled_dot_product_attention against torch, what every kernel shares with it, and its errors."""

from functools import partial

import numpy as np
import pytest
import torch

from attention_book import padding_mask
from attention_book import scaled_dot_product_attention as attention

close = partial(np.testing.assert_allclose, rtol=1e-9, atol=1e-11)
same = np.testing.assert_array_equal
with_weights = partial(attention, return_weights=True)


def arrays(L=5, S=7, dtype=float):
    rng = np.random.default_rng(0)
    return [rng.normal(size=(2, 3, *n)).astype(dtype) for n in ((L, 4), (S, 4), (S, 6))]


MASK = np.random.default_rng(7).random((5, 7)) < 0.6
MASK[1] = False  # a query that may see nothing
BIAS = np.random.default_rng(8).normal(size=(3, 5, 7)).astype(np.float16)  # exact in every dtype
ORACLE = {
    "plain": {},
    "scale": {"scale": 0.3},
    "scale 0": {"scale": 0},
    "negative scale": {"scale": -2.0},
    "mask": {"mask": MASK},
    "one mask for all queries": {"mask": MASK[0]},
    "padding": {"mask": padding_mask([7, 2], 7)},
    "bias": {"bias": BIAS},
    "causal from the start": {"is_causal": True, "offset": 0},
    "causal to the end": {"is_causal": True, "offset": 2},
    "causal with empty rows": {"is_causal": True, "offset": -2},
    "causal and mask": {"is_causal": True, "offset": 2, "mask": MASK},
    "everything": {"is_causal": True, "offset": 1, "mask": MASK, "bias": BIAS, "scale": 1.5},
}


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("case", ORACLE)
def test_equals_torch(agrees, dtype, case):
    options, inputs = ORACLE[case], arrays(dtype=dtype)
    query, key, value = map(torch.from_numpy, inputs)
    allowed = torch.ones(5, 7, dtype=torch.bool).tril(options.get("offset", 7))
    allowed = allowed & torch.from_numpy(options.get("mask", MASK[:1] | True))
    bias = torch.from_numpy(options.get("bias", np.zeros(1))).to(query.dtype)
    sdpa = partial(
        torch.nn.functional.scaled_dot_product_attention,
        attn_mask=bias.masked_fill(~allowed, -torch.inf),
        scale=options.get("scale"),
    )
    output, weights = with_weights(*inputs, **options)
    agrees(output, sdpa(query, key, value))
    agrees(weights, sdpa(query, key, torch.eye(7, dtype=query.dtype).expand(2, 3, 7, 7)))
    agrees(attention(*inputs, **options), output)  # without return_weights: the output alone


def test_batches_broadcast():
    query, key, value = arrays()
    expected = attention(query, np.broadcast_to(key[0, 0], key.shape), value)
    close(attention(query, key[0, 0], value), expected)


def test_nan_and_infinity():
    query, key, value = arrays()
    hide = {"mask": np.arange(7) != 3}
    expected = attention(query, key, value, **hide)
    key[..., 3, :] = np.inf
    with np.errstate(invalid="ignore"):  # inf - inf inside the dot product
        close(attention(query, key, value, **hide), expected)
    query[0, 0, 1] = value[1, 1, 3] = np.nan
    nan = np.isnan(attention(query, arrays()[1], value, **hide))
    assert nan[0, 0, 1].all()  # the row of that query only
    assert nan[1, 1].all()  # a hidden value is multiplied by 0, and 0 * NaN is NaN
    assert nan.sum() == 6 + 5 * 6


HIDE = [{"mask": MASK & False}, {"bias": np.full(7, -np.inf)}, {"is_causal": True, "offset": -9}]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("hide", HIDE, ids=["mask", "bias", "causal"])
def test_rows_that_see_nothing_are_plain_zeros(dtype, hide):
    for answer in with_weights(*(-abs(a) for a in arrays(dtype=dtype)), **hide):
        assert answer.dtype == dtype
        assert (answer == 0).all()
        assert not np.signbit(answer).any()  # 0., not -0.


@pytest.mark.parametrize("batch", [(), (0,), (2, 0)])
@pytest.mark.parametrize(("L", "S"), [(2, 0), (0, 2), (0, 0), (2, 3)])
@pytest.mark.parametrize("options", [{}, {"is_causal": True, "offset": 0, "mask": [[True]]}])
def test_empty_inputs(batch, L, S, options):
    query, key, value = (np.ones((*batch, n, 4), np.float32) for n in (L, S, S))
    output, weights = with_weights(query, key, value, **options)
    assert (output.shape, weights.shape) == (query.shape, (*batch, L, S))
    assert output.dtype == weights.dtype == np.float32
    assert (output == min(S, 1)).all()


@pytest.mark.parametrize("types", ["eee", "fff", "ddd", "eef", "fdf", "bbb", "iii", "fif"])
def test_dtype_is_the_common_one_and_integers_become_float64(types):
    inputs = [(10 * a).astype(t) for a, t in zip(arrays(), types, strict=True)]
    output, weights = with_weights(*inputs, bias=np.ones(7), mask=MASK)
    expected = max(types.replace("i", "d").replace("b", "d"), key="efd".index)
    assert output.dtype == weights.dtype == np.dtype(expected)
    exact = attention(*(a.astype(float).tolist() for a in inputs), mask=MASK.tolist())
    np.testing.assert_allclose(output, exact, rtol=4e-3, atol=0.02)


def test_float16_is_computed_in_float32_and_rounded_once():
    inputs = [3 * a for a in arrays(dtype=np.float16)]
    output, exact = attention(*inputs), attention(*(a.astype(float) for a in inputs))
    assert (abs(output - exact) <= 0.51 * np.spacing(abs(output)) + 1e-5).all()
    large = np.full((2, 64), 40, np.float16)  # the dot product is 102400: float16 ends at 65504
    assert (attention(large, large, np.eye(2, dtype=np.float16)) == 0.5).all()


def test_any_real_number_is_a_scale(kernel):
    x = np.ones((2, 1)), np.array([[1e-20], [0]]), np.array([[1.0], [2]])
    for scale in (10**20, 1e20, np.float32(1e20), np.longdouble(1e20), np.array(1e20)):
        np.testing.assert_allclose(kernel(*x, scale=scale), kernel(*x, scale=1e20), rtol=1e-6)
    same(kernel(*x, scale=np.int8(3)), kernel(*x, scale=3.0))


def test_settings_of_the_reader_do_not_stop_it(kernel):
    with np.errstate(all="raise"):
        same(kernel([[1000.0]], [[1.0], [0.0]], [[1.0], [2.0]]), [[1.0]])


def test_a_masked_array_that_hides_nothing_is_an_array(kernel):
    same(kernel(np.ma.array(Q), K, V), kernel(Q, K, V))


@pytest.mark.parametrize("writeable", [True, False])
def test_inputs_are_not_changed_and_may_be_read_only_and_strided(writeable):
    query, key, value = arrays()
    given = [
        query[..., ::-1, ::2],
        key[..., ::2],
        value[..., ::-1],
        MASK.copy(),
        BIAS.astype(float),
    ]
    before = [a.copy() for a in given]
    for a in given:
        a.flags.writeable = writeable
    answers = [attention(*a[:3], mask=a[3], bias=a[4]) for a in (given, before)]
    close(*answers)
    for a, b in zip(given, before, strict=True):
        same(a, b)


Q, K, V = np.zeros((5, 4)), np.zeros((7, 4)), np.zeros((7, 6))
single = np.float32
RAGGED = [[1.0], [1.0, 2.0]]


@pytest.mark.parametrize(
    ("error", "fragments", "inputs", "options"),
    [
        (ValueError, "query|(4,)|query[None]", (Q[0], K, V), {}),
        (ValueError, "value|()", (Q, K, 3.0), {}),
        (ValueError, "query (5, 3)|key (7, 4)|head_dim", (Q[:, :3], K, V), {}),
        (ValueError, "head_dim|(5, 0)", (Q[:, :0], K[:, :0], V), {}),  # pytorch#141218
        (ValueError, "key (7, 4)|value (6, 6)", (Q, K, V[:6]), {}),  # pytorch#193728
        (ValueError, "(2, 5, 4)|(3, 7, 4)|(7, 6)", (np.stack([Q] * 2), np.stack([K] * 3), V), {}),
        (ValueError, "value|同じ長さ", (Q, K, RAGGED), {}),
        (TypeError, "key|dtype=<U", (Q, K.astype(str), V), {}),
        (TypeError, "value|complex128", (Q, K, V + 1j), {}),
        (TypeError, "mask|float64|astype(bool)|bias=", (Q, K, V), {"mask": np.ones((5, 7))}),  # pytorch#21518
        (TypeError, "mask|int64", (Q, K, V), {"mask": np.ones((5, 7), int)}),  # pytorch#33763
        (ValueError, "mask|(2, 7)|(5, 7)|padding_mask()", (Q, K, V), {"mask": MASK[:2]}),  # pytorch#97605
        (TypeError, "mask|uint8", (Q, K, V), {"mask": MASK.astype(np.uint8)}),
        (TypeError, "mask|bias=", (Q, K, V), {"mask": np.where(MASK, 0, -np.inf)}),
        (ValueError, "(3, 5, 4)|(2, 7, 4)|倍数", (np.stack([Q] * 3), np.stack([K] * 2), V), {}),
        (ValueError, "mask|(1, 5, 7)|(5, 7)", (Q, K, V), {"mask": MASK[None]}),  # would enlarge: pytorch#120810
        (ValueError, "mask|(5, 7)|(1, 7)", (Q[:1], K, V), {"mask": MASK}),  # would enlarge
        (ValueError, "bias|(7, 5)|(5, 7)", (Q, K, V), {"bias": BIAS[0].T}),
        (ValueError, "bias|(3, 5, 7)|(5, 7)", (Q, K, V), {"bias": BIAS}),  # would enlarge
        (TypeError, "bias|bool", (Q, K, V), {"bias": MASK}),
        (ValueError, "5|7|offset=0|offset=2", (Q, K, V), {"is_causal": True}),  # pytorch#103082
        (ValueError, "offset=2|is_causal=True", (Q, K, V), {"offset": 2}),
        (ValueError, "window=2|is_causal=True", (Q, K, V), {"window": 2}),
        (ValueError, "window|0", (Q, K, V), {"is_causal": True, "offset": 2, "window": 0}),
        (TypeError, "offset|0.5", (Q, K, V), {"is_causal": True, "offset": 0.5}),
        (ValueError, "scale|nan", (Q, K, V), {"scale": np.nan}),  # torch gives 0
        (ValueError, "scale|inf", (Q, K, V), {"scale": np.inf}),
        (ValueError, "mask", (Q, K, V), {"mask": RAGGED}),
        (TypeError, "scale|0.5", (Q, K, V), {"scale": "0.5"}),
        (TypeError, "scale|1j", (Q, K, V), {"scale": 1j}),
        (TypeError, "scale", (Q, K, V), {"scale": np.ones(4)}),
        (TypeError, "scale|True", (Q, K, V), {"scale": True}),
        (TypeError, "scale|timedelta64", (Q, K, V), {"scale": np.timedelta64(1, "s")}),
        (ValueError, "scale|同じ長さ", (Q, K, V), {"scale": RAGGED}),
        (ValueError, "scale|有限", (Q, K, V), {"scale": np.longdouble("1e400")}),
        (ValueError, "scale|有限|1000", (Q, K, V), {"scale": 10**400}),
        (ValueError, "scale=1e+300|float32|inf", (single(Q), single(K), single(V)), {"scale": 1e300}),
        (ValueError, "scale=1e-55|float32|0.0|astype(float)", (single(Q), single(K), single(V)), {"scale": 1e-55}),
        (ValueError, "scale=1e-45|float32", (single(Q), single(K), single(V)), {"scale": 1e-45}),  # 40 % too large
        (ValueError, "scale|float64で表せる", (Q, K, V), {"scale": np.nextafter(np.longdouble(0), 1)}),
        (TypeError, "is_causal|True|mask=", (Q, K, V), {"is_causal": MASK}),
        (TypeError, "is_causal|1", (Q, K, V), {"is_causal": 1}),
        (TypeError, "value|masked array|filled()", (Q, K, np.ma.array(V, mask=V == 0)), {}),
        (TypeError, "mask|masked array", (Q, K, V), {"mask": np.ma.array(MASK, mask=MASK)}),
        (TypeError, "query|Tensor|.detach()", (torch.zeros(5, 4, requires_grad=True), K, V), {}),
        (TypeError, "key|Tensor|.float()", (Q, torch.zeros(7, 4).bfloat16(), V), {}),
    ],
)
def test_refuses(kernel, refuses, error, fragments, inputs, options):
    refuses(error, fragments, lambda: kernel(*inputs, **options))
