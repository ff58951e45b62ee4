"""Faults that were reported in public, and others of the same kind; every kernel must be free of them.

The id of a case names the report. Expected is the 60-digit answer (`exact`) or a closed form, never another library.
"""

import numpy as np
import pytest

from attention_book import (
    MultiHeadAttention,
    blockwise_attention,
    causal_mask,
    online_attention,
    padding_mask,
    scaled_dot_product_attention,
)

same = np.testing.assert_array_equal
TOLERANCE = {"float64": (1e-12, 1e-14), "float32": (2e-5, 2e-6), "float16": (1e-3, 1e-4)}
RNG = np.random.default_rng(20240605)
START = RNG.bit_generator.state
INF, NAN = np.inf, np.nan


@pytest.fixture(autouse=True)
def the_same_numbers_in_any_order_of_the_tests():
    RNG.bit_generator.state = START


def normal(*shape, dtype=float):
    return RNG.normal(size=shape).astype(dtype)


def qkv(L, S, *batch, dtype=float, size=1):
    return tuple(size * normal(*batch, *n, dtype=dtype) for n in ((L, 4), (S, 4), (S, 2)))


def half(*rows):
    return np.array(rows, np.float16)


def single(*rows):
    return np.array(rows, np.float32)


ROW = np.array([[True] * 3, [False] * 3, [True, False, True]])
PER_HEAD = np.stack([ROW, ~ROW])[None]  # a row that is empty in one head only
BAND = np.tri(9, dtype=bool) & ~np.tri(9, k=-3, dtype=bool)
LAST, FIRST = {"mask": [False, False, True, True]}, {"mask": [True, True, False]}
HUGE = [[4.5e4], [6.7e4], [0.0]], [[1.0], [2.0], [99.0]]  # times -4.5e4: -2e9, -3e9 and, hidden, 0
FORTY, CAUSAL = [40] * 64, {"is_causal": True}

CASES = {
    # the exponential or the scores overflow
    "tensorflow#10142 exp of 200": (single([20, 0], [0, 20]), single([20, 0], [9, 9]), single([1], [2]), {}),
    "scipy#23225 exp of 1131": ([[40.0, 0]], [[40.0, 0], [39, 0]], normal(2, 3), {}),
    "scipy#23225 exp of a bias": (*qkv(2, 3), {"bias": [[1e4, 9e3, -1e4], [-800, -801, -900]]}),
    "scipy#23225 scores of 1e30": (single([1e15] * 4), single([1e15] * 4, [5e14] * 4), single([1], [2]), {}),
    "allo#176 everything times 1000": (*qkv(6, 8, size=1000), {}),
    "tinygrad#4985 102400 in float16": (half(FORTY, FORTY), half(FORTY, FORTY), half([1], [2]), {}),
    "transformers#9295 -102400 in float16": (-half(FORTY), half(FORTY, [40.25] * 64), half([1], [2]), {}),
    "the largest values of float16": (half([0.5]), half([1], [2]), half([65504], [65504]), {}),
    # rows that may see nothing
    "pytorch#103963 mlx#2395 one row": (*qkv(3, 3), {"mask": ROW}),
    "pytorch#103963 one row of one head": (*qkv(3, 3, 1, 2), {"mask": PER_HEAD}),
    "pytorch#40932 everything": (*qkv(3, 5, 2), {"mask": [False]}),
    "pytorch#81077 pytorch#26098 padding of length 0": (*qkv(2, 5, 3, 1), {"mask": padding_mask([5, 2, 0], 5)}),
    "pytorch#103749 transformers#26572 left padding": (*qkv(4, 4, 1), LAST | CAUSAL),
    "unsloth#9848 left padding and window": (*qkv(4, 4, 2), LAST | CAUSAL | {"window": 1}),
    "burn#4697 onnx#8068 a mask empties a causal row": (*qkv(2, 4), LAST | CAUSAL | {"offset": 1}),
    "pytorch#127055 whole blocks hidden": (*qkv(9, 9), {"mask": BAND}),
    "pytorch#127055 first keys hidden by the bias": (*qkv(4, 9), {"bias": np.where(np.arange(9) < 7, -INF, 0)}),
    # numbers in place of -inf
    "keras#21850 -1e9 is larger than real scores": ([[-4.5e4]], *HUGE, FIRST),
    "keras#21850 the same, causal": ([[-4.5e4]] * 2, *HUGE, CAUSAL | {"offset": 0}),
    "transformers#10484 -1e4 is larger than real scores": ([[-100.0]], [[101.0], [102.0], [0.0]], HUGE[1], FIRST),
    "fairseq#3575 apex#93 flax#982 -1e9 in float16": (*qkv(3, 3, dtype="f2"), CAUSAL),
    "transformers#17306 keras#17571 finfo.min - 30": (
        half([-20]),
        half([1], [1.5]),
        half([1], [2]),
        {"mask": [True, False]},
    ),
    # what a mask means
    "pytorch#170400 LLMs-from-scratch#1061 True is visible": (*qkv(4, 4), {"mask": np.tri(4, dtype=bool)}),
    "jax#32300 window alone": (*qkv(6, 6), CAUSAL | {"window": 3}),
    "pytorch#187801 mask and causal": (*qkv(4, 4, 2), CAUSAL | {"mask": ~np.eye(4, dtype=bool)}),
    "fast-transformers#101 batch = L = S": (*qkv(3, 3, 3, 2), {"mask": padding_mask([3, 1, 2], 3)}),
    "PyTorch-NLP#2 softmax over the keys": (*qkv(1, 2), {}),
    # where a causal mask starts
    "pytorch#103082 mlx#2835 from the start": (*qkv(2, 5), CAUSAL | {"offset": 0}),
    "flash-attention#951 onnx#8068 to the end": (*qkv(2, 5), CAUSAL | {"offset": 3}),
    "flash-attention#1778 more queries than keys": (*qkv(5, 2), CAUSAL | {"offset": -3}),
    "candle#3743 second chunk": (*qkv(3, 7, 2), CAUSAL | {"offset": 4}),
    # types and layout
    "triton#2296 numpy#26344 int8 wraps": (np.int8([[100, 20]]), np.int8([[100, 20], [104, 12]]), [[1.0], [2.0]], {}),
    "triton#2296 uint8 wraps": (np.uint8([[200]]), np.uint8([[200], [199]]), np.uint8([[255], [0]]), {"scale": -0.01}),
    "lists and integers": ([[1, 0], [0, 1]], [[1, 0], [1, 1]], [[1], [2]], {"mask": [[True, True], [True, False]]}),
    "numpy#13512 strides": (normal(6, 8)[::-2, ::-2], normal(4, 5).T, normal(9, 4)[:-6:-1, 1:3], {}),
    "scale 0": (*qkv(2, 3), {"scale": 0}),
    "scale below 0": (*qkv(2, 3), {"scale": -1.5}),
    "-0.0": ([[-0.0, 0.0]], [[0.0, -0.0], [-0.0, -0.0]], [[2.0], [4.0]], {}),
}


@pytest.mark.parametrize(("query", "key", "value", "options"), CASES.values(), ids=CASES)
def test_is_right(kernel, exact, query, key, value, options):
    inputs = tuple(np.array(a) if isinstance(a, list) else a for a in (query, key, value))
    output = kernel(query, key, value, **options)
    assert output.dtype == np.result_type(*(a.dtype if a.dtype.kind == "f" else float for a in inputs))
    rtol, atol = TOLERANCE[str(output.dtype)]
    np.testing.assert_allclose(output.astype(float), exact(*inputs, **options), rtol, atol)


THREE = [scaled_dot_product_attention, blockwise_attention, online_attention]


@pytest.mark.parametrize("attention", THREE)
@pytest.mark.parametrize(
    ("dtype", "n"), [("f2", 70_000), ("f4", 200_000)], ids=["numpy#7930 numpy#22448", "numpy#29772"]
)
def test_many_equal_keys_do_not_overflow_or_lose_digits(attention, dtype, n):
    value = np.tile(np.array([[0.0], [1.0]], dtype), (n // 2, 1))
    output = attention(np.zeros((1, 1), dtype), np.zeros((n, 1), dtype), value)
    np.testing.assert_allclose(output.astype(float), 0.5, rtol=2e-5)


@pytest.mark.parametrize("attention", THREE)
def test_a_band_that_hides_whole_blocks_pytorch_127055(attention):
    x = np.ones((600, 2), np.float32)
    band = causal_mask(600, window=10)
    np.testing.assert_allclose(attention(x, x, x, mask=band), x, rtol=1e-6)
    assert (attention(x, x, x, mask=band & (np.arange(600) < 300))[310:] == 0).all()


LOWEST = [np.finfo(np.float32).min, -1e9, -3e38]


@pytest.mark.parametrize("lowest", LOWEST, ids=["pytorch#110213 finfo.min", "pytorch#109517 -1e9", "-3e38"])
@pytest.mark.parametrize("hidden", [1, 2])
def test_a_finite_bias_is_no_mask_and_stays_between_the_values(kernel, lowest, hidden):
    query, key, value = (np.array(a, np.float32) for a in ([[1]], [[-1], [-2]], [[1], [2]]))
    bias = np.where(np.arange(2) < hidden, lowest, 0).astype(np.float32)
    output = kernel(query, key, value, bias=bias)
    assert (output >= 1 - 1e-6).all()
    assert (output <= 2 + 1e-6).all()
    assert hidden == 2 or output == 2


HIDE = [{"mask": [True, True, False]}, {"is_causal": True, "offset": -1}, {"is_causal": True, "offset": 2, "window": 1}]


@pytest.mark.parametrize("bad", [NAN, INF, -INF, 1e300], ids=["pytorch#101967", "inf", "-inf", "1e300"])
@pytest.mark.parametrize("hide", HIDE, ids=["mask", "causal", "window"])
def test_a_bad_hidden_key_vanishes(kernel, bad, hide):
    query, key, value = qkv(3, 3)
    expected = kernel(query, key, value, **hide)
    key[0 if "window" in hide else 2] = bad
    np.testing.assert_allclose(kernel(query, key, value, **hide), expected, rtol=1e-12)
    key[:2] = NAN
    assert "window" in hide or np.isnan(kernel(query, key, value, **hide)).any()  # a visible one does not
    assert np.isnan(kernel(query, key, value, bias=[-INF, -INF, 0])).all()  # a bias is added: NaN - inf is NaN


@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"mask": np.eye(3, dtype=bool)}], ids=str)
def test_nan_stays_visible_and_alone_torch_xpu_ops_5022(kernel, options):
    query, key, value = qkv(3, 3, 2)
    expected = kernel(query, key, value, **options)
    query[0, 1, 2] = NAN
    output = kernel(query, key, value, **options)
    assert np.isnan(output[0, 1]).all()
    output[0, 1] = expected[0, 1]
    same(output, expected)
    visible_value = np.where(np.arange(3)[:, None] == 0, NAN, value)
    assert np.isnan(kernel(key, key, visible_value, **options)[:, 0]).all()


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2"])
@pytest.mark.parametrize(("L", "S", "n"), [(1, 1, 1), (1, 3, 1), (3, 1, 2), (3, 4, 2), (20, 30, 1), (1, 30, 3)])
def test_rows_that_see_nothing_print_no_minus_zero(kernel, dtype, L, S, n):
    for options in ({"mask": [[False]]}, {"bias": [-INF]}, {"is_causal": True, "offset": -L}):
        output = kernel(-np.ones((L, n), dtype), np.ones((S, n), dtype), -np.ones((S, n), dtype), **options)
        assert not output.any()
        assert "-0" not in str(output)


@pytest.mark.parametrize("batch", [(), (0,), (2, 0)])
@pytest.mark.parametrize(("L", "S"), [(2, 0), (0, 2), (0, 0)])
@pytest.mark.parametrize(
    "options", [{}, {"is_causal": True, "offset": 0, "window": 1}, {"mask": [[True]], "bias": 1.0}]
)
def test_no_keys_no_queries_no_batch_jax_7643_pytorch_141218(kernel, batch, L, S, options):
    output = kernel(
        np.ones((*batch, L, 4), "f4"), np.ones((*batch, S, 4), "f4"), np.ones((*batch, S, 3), "f4"), **options
    )
    same(output, np.zeros((*batch, L, 3)))
    assert output.dtype == np.float32


@pytest.mark.parametrize("size", [5e-324, 1e-310, 2.2e-308])
def test_subnormal_values_are_not_flushed_to_zero(kernel, size):
    output = kernel(np.zeros((2, 1)), np.zeros((4, 1)), np.full((4, 1), size))
    np.testing.assert_allclose(output, size, rtol=1e-12, atol=1e-323)
    assert (output > 0).all() or size == 5e-324  # a quarter of the smallest number is 0


@pytest.mark.parametrize("writeable", [True, False])
def test_inputs_are_not_written_to_bohrium_16(kernel, writeable):
    given = [*(a.astype("f4") for a in qkv(4, 4, 2)), ROW[[0, 1, 2, 0]][:, [0, 1, 2, 0]].copy(), normal(4, 4)]
    before = [a.copy() for a in given]
    for a in given:
        a.flags.writeable = writeable
    output = kernel(*given[:3], mask=given[3], bias=given[4], is_causal=True)
    assert (output.dtype, output.flags.writeable) == (np.float32, True)  # x / np.sqrt(d) is float64: numpy#25098
    for a, b in zip(given, before, strict=True):
        same(a, b)
        assert not np.shares_memory(output, a)


@pytest.mark.parametrize("return_weights", [True, False])
def test_causal_is_never_silently_off_pytorch_99282(return_weights):
    layer = MultiHeadAttention(normal(24, 8), normal(24), normal(8, 8), normal(8), num_heads=2)
    x = normal(2, 5, 8)
    answer = layer(x, is_causal=True, return_weights=return_weights)
    output = answer[0] if return_weights else answer
    np.testing.assert_allclose(output, layer(x, mask=np.tri(5, dtype=bool)), rtol=1e-12)
    assert abs(output - layer(x)).max() > 0.1
    assert not return_weights or answer[1].shape == (2, 2, 5, 5)  # not averaged over the heads: pytorch#34537


def test_a_padding_mask_for_heads_is_refused_where_there_are_none(kernel, refuses):
    """fast-transformers#101: (batch, S) with batch == L would hide the wrong keys; this shape cannot be taken for it."""
    mask = padding_mask([3, 1, 2], 3)
    refuses(ValueError, "mask|(3, 1, 1, 3)|(3, 3, 3)", lambda: kernel(*qkv(3, 3, 3), mask=mask))
    by_hand = kernel(*(arrays := qkv(3, 3, 3)), mask=mask[:, 0])
    for i, n in enumerate((3, 1, 2)):
        query, key, value = (a[i] for a in arrays)
        np.testing.assert_allclose(by_hand[i], kernel(query, key[:n], value[:n]), rtol=1e-12)


OVERFLOW = {
    "query times scale": (np.full((1, 1), 1e308), {"scale": 10.0}),
    "query times scale, below 0": (np.full((1, 1), -1e308), {"scale": 10.0}),
    "query times key": (single([-3e38]), {}),
    "infinite query": (np.full((1, 1), INF), {"scale": 0.0}),
    "infinite query below 0": (np.full((1, 1), -INF), {}),
}
HIDE_LAST = {
    "two keys": {},
    "mask": {"mask": [True, True, False]},
    "causal": {"is_causal": True, "offset": 1},
    "bias": {"bias": [0.0, 0.0, -INF]},
}


@pytest.mark.parametrize("hide", HIDE_LAST.values(), ids=HIDE_LAST)
@pytest.mark.parametrize(("query", "options"), OVERFLOW.values(), ids=OVERFLOW)
def test_an_overflow_shows_in_the_answer_not_in_a_warning(kernel, query, options, hide):
    """A row of -inf only is no row that sees nothing, unless all of its keys are hidden."""
    key = single([2], [4], [-8])[: 3 if hide else 2]
    output = kernel(query, key, key, **hide, **options)
    assert np.isnan(output) or output == 4


@pytest.mark.parametrize(("bias", "expected"), [([-1e300, 0, -INF], 4), ([-1e300, -2e300, -INF], NAN), ([-INF] * 3, 0)])
def test_a_bias_too_large_for_float32_hides_nothing(kernel, bias, expected):
    same(kernel(single([1]), single([2], [4], [-8]), single([2], [4], [-8]), bias=bias), [[expected]])


def test_a_row_that_sees_nothing_stays_zero_beside_one_that_overflows(kernel):
    query, key = single([-3e38], [-3e38], [1]), single([2], [4])
    for hide in ({"mask": [[True, True], [False, False], [True, True]]}, {"bias": [[0, 0], [-INF, -INF], [0, 0]]}):
        output = kernel(query, key, key, **hide)
        assert np.isnan(output[0])
        assert output[1] == 0
        assert 2 < output[2] < 4
    hidden = kernel(query, key, key, is_causal=True, offset=-1)
    assert hidden[0] == 0
    assert np.isnan(hidden[1])
    assert hidden[2] > 2


def test_the_largest_values_are_mixed_or_overflow_visibly(kernel, request):
    """Blocks sum before they divide (their docstring says so): the naive form alone stays below the largest float."""
    value = np.full((2, 1), 3e38, np.float32)
    expected = 3e38 if request.node.callspec.id.startswith("naive") else np.inf
    np.testing.assert_allclose(kernel(np.zeros((1, 1), "f4"), np.zeros((2, 1), "f4"), value), [[expected]], rtol=1e-6)
