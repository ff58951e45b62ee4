"""What must hold for every kernel, whatever the numbers are."""

from functools import partial
from typing import NamedTuple

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_book import causal_mask
from attention_book.online import attend, merge

close = partial(np.testing.assert_allclose, rtol=1e-9, atol=1e-11)
same = np.testing.assert_array_equal


class Problem(NamedTuple):
    """Small arrays, and a random mask for who wants it."""

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    mask: np.ndarray  # (L, S)
    rng: np.random.Generator

    @property
    def inputs(self):
        return self[:3]

    def weights(self, kernel, **options):
        """The weights of any kernel: what it makes of one-hot values."""
        return kernel(self.query, self.key, np.eye(self.key.shape[-2]), **options)


@st.composite
def problems(draw, square=False):
    batch = draw(st.sampled_from([(), (2,), (2, 1)]))
    L, S, head_dim, value_dim = draw(st.tuples(*[st.integers(1, 6)] * 4))
    S = L if square else S
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    query = rng.normal(size=(*batch, L, head_dim)) * draw(st.sampled_from([0.01, 1, 30]))
    key, value = (rng.normal(size=(*batch, S, n)) for n in (head_dim, value_dim))
    return Problem(query, key, value, rng.random((L, S)) < 0.6, rng)


few = settings(max_examples=20)  # for each of the kernels


@few
@given(p=problems())
def test_rows_sum_to_one_and_each_output_lies_between_the_values(kernel, p):
    weights, output = p.weights(kernel), kernel(*p.inputs)
    assert (weights >= 0).all()
    close(weights.sum(axis=-1), np.ones(output.shape[:-1]))
    assert (output <= p.value.max(axis=-2, keepdims=True) + 1e-12).all()
    assert (output >= p.value.min(axis=-2, keepdims=True) - 1e-12).all()


@few
@given(p=problems())
def test_masked_rows_sum_to_one_or_are_exactly_zero(kernel, p):
    weights, any_key = p.weights(kernel, mask=p.mask), p.mask.any(axis=-1)
    assert (weights[..., ~p.mask] == 0).all()
    close(weights.sum(axis=-1), np.broadcast_to(any_key, weights.shape[:-1]))
    assert (kernel(*p.inputs, mask=p.mask)[..., ~any_key, :] == 0).all()


@few
@given(p=problems())
def test_the_order_of_the_keys_is_nothing_and_of_the_queries_is_kept(kernel, p):
    expected = kernel(*p.inputs)
    keys, queries = p.rng.permutation(p.mask.shape[1]), p.rng.permutation(p.mask.shape[0])
    close(kernel(p.query, p.key[..., keys, :], p.value[..., keys, :]), expected)
    close(kernel(p.query[..., queries, :], p.key, p.value), expected[..., queries, :])


@few
@given(p=problems(square=True), junk=st.sampled_from([np.nan, 1e300]))
def test_the_future_never_leaks(kernel, p, junk):
    now = p.rng.integers(1, p.key.shape[-2] + 1)
    later_key, later_value = p.key.copy(), p.value.copy()
    later_key[..., now:, :], later_value[..., now:, :] = junk, 1e3
    before = kernel(*p.inputs, is_causal=True)[..., :now, :]
    same(kernel(p.query, later_key, later_value, is_causal=True)[..., :now, :], before)  # bit for bit
    close(kernel(*(a[..., :now, :] for a in p.inputs), is_causal=True), before)
    close(before[..., 0, :], p.value[..., 0, :])


@few
@given(p=problems(), junk=st.sampled_from([0.0, np.nan, np.inf, 1e300]))
def test_a_mask_is_the_same_as_deleting_the_keys(kernel, p, junk):
    keep = p.mask[0]
    expected = kernel(p.query, p.key[..., keep, :], p.value[..., keep, :])
    close(kernel(p.query, np.where(keep[:, None], p.key, junk), p.value, mask=keep), expected)


@few
@given(p=problems())
def test_hiding_a_key_never_lowers_another_weight(kernel, p):
    fewer = p.mask & (p.rng.random(p.mask.shape) < 0.7)
    more, less = (p.weights(kernel, mask=m)[..., fewer] for m in (p.mask, fewer))
    assert (less >= more - 1e-12).all()


@few
@given(p=problems())
def test_a_shift_of_all_scores_or_of_all_keys_is_nothing(kernel, p):
    expected = kernel(*p.inputs, mask=p.mask)
    shift = p.rng.normal(size=(len(p.mask), 1)) * 50
    close(kernel(*p.inputs, bias=shift, mask=p.mask), expected)
    move = p.rng.normal(size=p.key.shape[-1])
    close(kernel(p.query, p.key + move, p.value, mask=p.mask), expected)


@few
@given(p=problems(), scale=st.floats(-3, 3))
def test_scale(kernel, p, scale):
    query, key, value = p.inputs
    close(kernel(query, key, value, scale=scale), kernel(query * scale, key, value, scale=1))
    close(kernel(query, key, value), kernel(query, key, value, scale=query.shape[-1] ** -0.5))
    mean = kernel(query, key, value, scale=0)
    close(mean, np.broadcast_to(value.mean(axis=-2, keepdims=True), mean.shape))
    scores = query @ key.swapaxes(-1, -2)
    best = scores.argmax(axis=-1)[..., None]  # random numbers: no two are equal
    close(kernel(query, key, value, scale=1e15), np.take_along_axis(value, best, axis=-2))


@few
@given(p=problems())
def test_linear_in_the_values(kernel, p):
    query, key, value = p.inputs
    other, constant = p.rng.normal(size=value.shape), p.rng.normal(size=value.shape[-1])
    output = kernel(*p.inputs)
    close(kernel(query, key, 2 * value - 3 * other), 2 * output - 3 * kernel(query, key, other))
    close(kernel(query, key, value + constant), output + constant)
    close(kernel(query, key, np.ones_like(value)), np.ones_like(output), rtol=1e-14)


@few
@given(p=problems())
def test_one_key_gives_its_value_exactly_and_a_second_copy_of_the_keys_is_nothing(kernel, p):
    output = kernel(p.query * 1e6, p.key[..., :1, :], p.value[..., :1, :])
    same(output, np.broadcast_to(p.value[..., :1, :], output.shape))
    twice = [np.concatenate([a, a], axis=-2) for a in (p.key, p.value)]
    close(kernel(p.query, *twice), kernel(*p.inputs))


@few
@given(p=problems())
def test_rotating_queries_and_keys_together_is_nothing(kernel, p):
    rotation, _ = np.linalg.qr(p.rng.normal(size=[p.query.shape[-1]] * 2))
    close(kernel(p.query @ rotation, p.key @ rotation, p.value), kernel(*p.inputs))


@few
@given(p=problems())
def test_a_batch_is_the_same_as_a_loop(kernel, p):
    output = kernel(*p.inputs, mask=p.mask)
    for i in np.ndindex(*p.query.shape[:-2]):
        close(output[i], kernel(*(a[i] for a in p.inputs), mask=p.mask))


@few
@given(p=problems(), offset=st.integers(-8, 8), window=st.none() | st.integers(1, 7))
def test_mask_and_causal_are_both_kept(kernel, p, offset, window):
    causal = {"is_causal": True, "offset": offset, "window": window}
    triangle = causal_mask(*p.mask.shape, offset=offset, window=window)
    close(kernel(*p.inputs, mask=p.mask, **causal), kernel(*p.inputs, mask=p.mask & triangle))
    close(kernel(*p.inputs, **causal), kernel(*p.inputs, mask=triangle))


@few
@given(p=problems())
def test_bias_is_one_more_coordinate_and_minus_infinity_is_a_mask(kernel, p):
    (L, S), scale = p.mask.shape, p.query.shape[-1] ** -0.5
    bias = p.rng.normal(size=(L, S))
    one_hot, column = (np.broadcast_to(a, (*p.query.shape[:-2], *a.shape)) for a in (np.eye(L), bias.T))
    longer = [np.concatenate(pair, axis=-1) for pair in ((p.query * scale, one_hot), (p.key, column))]
    close(kernel(*p.inputs, bias=bias), kernel(*longer, p.value, scale=1))
    same(kernel(*p.inputs, bias=np.where(p.mask, 0, -np.inf)), kernel(*p.inputs, mask=p.mask))


@few
@given(p=problems())
def test_float32_is_near_float64(kernel, p):
    query = p.query / abs(p.query).max()
    output = kernel(*(a.astype(np.float32) for a in (query, p.key, p.value)))
    assert output.dtype == np.float32
    close(output, kernel(query, p.key, p.value), rtol=2e-5, atol=2e-5)


@st.composite
def calls(draw):
    """(query, key, value, options): any lengths, grouped heads, and every option there is."""
    size = st.integers(0, 5)
    L, S, batch, num_kv_heads = draw(st.tuples(size, size, st.sampled_from([(), (2,)]), st.sampled_from([1, 2, 4])))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    query = rng.normal(size=(*batch, 4, L, 3))
    key, value = (rng.normal(size=(*batch, num_kv_heads, S, n)) for n in (3, 2))
    shapes = st.sampled_from([(S,), (1, S), (L, 1), (L, S), (4, L, S), (4, 1, 1), (*batch, 1, L, S)])
    options = {"scale": draw(st.none() | st.floats(-3, 3))}
    if draw(st.booleans()):
        options["mask"] = rng.random(draw(shapes)) < 0.6
    if draw(st.booleans()):
        bias = rng.normal(size=draw(shapes))
        options["bias"] = np.where(bias < -1, -np.inf, bias)
    if draw(st.booleans()):
        window = draw(st.none() | st.integers(1, 6))
        offset = draw(st.integers(-6, 6))
        options |= {"is_causal": True, "offset": offset, "window": window}
    return query, key, value, options


@settings(max_examples=40)
@given(call=calls())
def test_every_kernel_gives_the_exact_answer(kernel, exact, call):
    query, key, value, options = call
    every_head = (np.repeat(a, 4 // a.shape[-3], axis=-3) for a in (key, value))  # kv head h // group
    close(kernel(query, key, value, **options), exact(query, *every_head, **options), rtol=1e-12, atol=1e-14)


@given(p=problems(), cuts=st.lists(st.integers(0, 6), max_size=4))
def test_parts_of_the_keys_merge_in_any_order(p, cuts):
    query, key, value = (a.reshape(-1, a.shape[-1])[: a.shape[-2]] for a in p.inputs)
    scores = np.where(p.mask, query @ key.T, -np.inf)
    spans = [slice(*pair) for pair in zip([0, *sorted(cuts)], [*sorted(cuts), None], strict=True)]
    parts = [attend(scores[:, s].copy(), value[s]) for s in spans]
    whole = attend(scores.copy(), value)
    while len(parts) > 1:
        p.rng.shuffle(parts)
        parts.append(merge(parts.pop(), parts.pop()))
    for a, b in zip(parts[0], whole, strict=True):
        close(a, b)
    close(parts[0].total, np.exp(scores - np.where(whole.top == -np.inf, 0, whole.top)).sum(axis=-1, keepdims=True))


@given(p=problems(), cut=st.integers(0, 6))
def test_two_halves_mix_by_their_log_sum_exp(kernel, p, cut):
    query, key, value = p.inputs
    scores = query @ key.swapaxes(-1, -2) * query.shape[-1] ** -0.5
    first, both = (np.logaddexp.reduce(s, axis=-1, keepdims=True) for s in (scores[..., :cut], scores))
    share = np.exp(first - both)
    a, b = (kernel(query, key[..., s, :], value[..., s, :]) for s in (slice(cut), slice(cut, None)))
    close(share * a + (1 - share) * b, kernel(*p.inputs))
