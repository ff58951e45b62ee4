"""The right layer passes all twelve tests; twelve broken ones fail one each, the very one that is meant for them."""

import numpy as np
import pytest

from attention_book.exercises import NotYet, check_capstone
from attention_book.exercises import capstone as module

NAMES = [name for _, name, _, _ in module.TESTS]


class Layer:
    """A plain layer whose parts a subclass breaks, one at a time."""

    def __call__(self, x, W, *, num_heads, mask=None, is_causal=False, memory=None, cache=None):
        W_q, W_k, W_v, W_o = W
        self.refuse(W_q.shape[1], num_heads, mask)
        source = self.source(x, memory)
        head_dim = W_q.shape[1] // num_heads
        query, key, value = (self.split(a @ w, head_dim) for a, w in ((x, W_q), (source, W_k), (source, W_v)))
        if cache is not None:
            key, value = self.extend(cache, key, value)
        keep = self.visible(query.shape[-2], key.shape[-2], is_causal)
        keep = keep if mask is None else self.both(keep, mask, is_causal)
        key, value = self.share(query, key), self.share(query, value)
        scores = self.scaled(query) @ key.swapaxes(-1, -2)
        weights = self.weigh(scores, keep)
        return self.merge(weights @ value) @ W_o, self.returned(weights)

    hidden = -np.inf

    def refuse(self, columns, num_heads, mask):
        if columns % num_heads:
            raise ValueError(f"{columns} 列は num_heads={num_heads} で割り切れません。")
        if mask is not None and mask.dtype != bool:
            raise TypeError(f"mask は bool にしてください: {mask.dtype}。")

    def source(self, x, memory):
        return x if memory is None else memory

    def split(self, x, head_dim):
        return x.reshape(*x.shape[:-1], -1, head_dim).swapaxes(-2, -3)

    def merge(self, x):
        x = x.swapaxes(-2, -3)
        return x.reshape(*x.shape[:-2], -1)

    def extend(self, cache, key, value):
        if cache:
            key = np.concatenate([cache["key"], key], axis=-2)
            value = np.concatenate([cache["value"], value], axis=-2)
        cache.update(key=key, value=value)
        return key, value

    def visible(self, query_len, key_len, is_causal):
        return np.tri(query_len, key_len, key_len - query_len if is_causal else key_len, dtype=bool)

    def both(self, keep, mask, is_causal):
        return keep & mask

    def share(self, query, x):
        return np.repeat(x, query.shape[-3] // x.shape[-3], axis=-3)

    def scaled(self, query):
        return query * query.shape[-1] ** -0.5

    def weigh(self, scores, keep):
        return self.softmax(np.where(keep, scores, self.hidden))

    def softmax(self, scores, axis=-1):
        top = scores.max(axis=axis, keepdims=True)
        powers = np.exp(scores - np.where(top == -np.inf, 0, top))
        total = powers.sum(axis=axis, keepdims=True)
        return powers / np.where(total == 0, 1, total)

    def returned(self, weights):
        return weights


def broken(**parts):
    """A layer whose methods are replaced; each takes the right layer first, to call what it replaces."""
    return type("Broken", (Layer,), parts)()


def naive_softmax(self, scores):
    powers = np.exp(scores)
    return powers / powers.sum(axis=-1, keepdims=True)


def nan_softmax(self, scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


class EmptyRowsOfMask(Layer):
    """Looks for empty rows in the mask alone, and misses those that is_causal empties with it."""

    def __call__(self, x, W, *, mask=None, **options):
        self.seen = mask is None or mask.any(axis=-1, keepdims=True)
        return super().__call__(x, W, mask=mask, **options)

    def softmax(self, scores):
        return np.where(self.seen, nan_softmax(self, scores), 0)


def largest_of_all(self, scores, keep):
    """Right until a hidden score is far above those that may be seen."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True)) * keep
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total == 0, 1, total)


def one_bad_row(self, scores):
    weights = Layer.softmax(self, scores)
    weights[..., -1, -1, :] /= 2
    return weights


def wrong_split(self, x, head_dim):
    return x.reshape(*x.shape[:-2], -1, x.shape[-2], head_dim)


def wrong_merge(self, x):
    return x.reshape(*x.shape[:-3], x.shape[-2], -1)


def merge_of_one(self, x):
    """Right for one sequence: its heads are the first axis."""
    x = np.swapaxes(x, 0, -2)
    return x.reshape(*(x.shape[:-2] if x.ndim == 3 else (x.shape[2], x.shape[0])), -1)


def top_left(self, query_len, key_len, is_causal):
    return np.tri(query_len, key_len, 0 if is_causal else key_len, dtype=bool)


def keep_shared(self, cache, key, value):
    key, value = (np.repeat(a, 4 // a.shape[-3], axis=-3) for a in (key, value))
    return Layer.extend(self, cache, key, value)


def extend_third_axis(self, cache, key, value):
    """Right for a batch: there the third axis is the length."""
    for name, new in (("key", key), ("value", value)):
        cache[name] = np.concatenate([cache[name], new], axis=2) if name in cache else new
    return cache["key"], cache["value"]


def extend_zeros(self, cache, key, value):
    for name, new in (("key", key), ("value", value)):
        cache[name] = np.concatenate([cache.get(name, np.zeros_like(new[..., :0, :], dtype=float)), new], axis=-2)
    return cache["key"], cache["value"]


def refuse_floats(self, columns, num_heads, mask):
    Layer.refuse(self, columns, num_heads, None if mask is None or mask.dtype.kind != "f" else mask)


def silent(self, columns, num_heads, mask):
    """Refuse nothing."""


TWELVE = [  # one broken layer for each test, in their order
    broken(returned=lambda self, weights: weights.mean(axis=-3)),
    broken(softmax=lambda self, scores: Layer.softmax(self, scores, axis=-2)),
    broken(scaled=lambda self, query: query),
    broken(merge=merge_of_one),
    broken(visible=lambda self, query_len, key_len, is_causal: np.ones((query_len, key_len), dtype=bool)),
    broken(both=lambda self, keep, mask, is_causal: keep & mask[..., :1, :]),
    broken(hidden=-1e9),
    broken(source=lambda self, x, memory: x),
    broken(share=lambda self, query, x: np.concatenate([x] * (query.shape[-3] // x.shape[-3]), axis=-3)),
    broken(visible=top_left),
    broken(scaled=lambda self, query: query / np.sqrt(query.shape[-1])),
    broken(refuse=silent),
]


def failing(answer):
    """The names of the tests that fail, each run alone."""
    names = []
    for _, name, test, _ in module.TESTS:
        try:
            with np.errstate(all="ignore"):
                test(answer)
        except Exception:
            names.append(name)
    return names


def passed(capsys):
    """The names that the check prints, one line a step."""
    return capsys.readouterr().out.removeprefix("合格です：").replace("\n", "").split("、")


def test_right_layer_passes_all_twelve(capsys):
    check_capstone(Layer())
    assert passed(capsys) == NAMES
    assert len(NAMES) == len(set(NAMES)) == 12


@pytest.mark.parametrize(("step", "count"), [(1, 4), (2, 7), (3, 9), (4, 10), (5, 12)])
def test_steps_run_their_tests(capsys, step, count):
    """A step runs its tests and those before, and gives no option that only a later one needs."""
    options = {1: (), 2: ("mask", "is_causal"), 3: ("memory",), 4: ("cache",), 5: ()}
    known = {"num_heads", *(name for n in range(1, step + 1) for name in options[n])}

    def layer(x, W, **given):
        assert given.keys() <= known
        return Layer()(x, W, **given)

    check_capstone(layer, step=step)
    assert passed(capsys) == NAMES[:count]


@pytest.mark.parametrize("n", range(12))
def test_each_broken_layer_fails_the_test_meant_for_it(n):
    """It passes those before; from the sixth on it passes those after, too, which build on the first five."""
    with pytest.raises(NotYet, match=rf"^試験{n + 1}「{NAMES[n]}」："):
        check_capstone(TWELVE[n])
    failed = failing(TWELVE[n])
    assert failed[0] == NAMES[n]
    assert n < 5 or failed == [NAMES[n]]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (..., "関数の名前だけ"),
        (lambda x, W, **options: None, "試験1「形」：答えが None"),
        (lambda x, W, **options: x, "試験1「形」：return output, weights"),
        (lambda x, W: (x, x), r"試験1「形」：TypeError で止まりました（.*num_heads.*）。軸の順"),
        (TWELVE[0], r"重みの形が \(5, 5\) です。ヘッドごとの重みを、平均せずに"),
        (broken(returned=lambda self, w: None), "重みが None です"),
        (broken(returned=lambda self, w: w.swapaxes(-2, -3)), r"\(num_heads, L, S\) = \(4, 5, 5\) のはずです"),
        (broken(merge=lambda self, x: x.mean(axis=-3)), "試験1「形」：ValueError で止まりました"),
        (lambda x, W, **o: (Layer()(x, W, **o)[0][..., :-1], Layer()(x, W, **o)[1]), r"出力の形が \(5, 9\) です"),
        (TWELVE[1], "最後の軸（axis=-1）に掛けます"),
        (broken(softmax=one_bad_row), r"試験2.*行の合計が 0\.5 で.*最後の軸"),
        (
            broken(softmax=lambda self, scores: Layer.softmax(self, scores) / 1.0001),
            r"合計が 0\.9999\d* で.*小さな数",
        ),
        (broken(softmax=naive_softmax), "行の合計が .*nan.*最大値を引いてから"),
        (TWELVE[2], "スコアを割っていません"),
        (broken(scaled=lambda self, q: q / q.shape[-1]), "head_dimそのもので割っています"),
        (broken(scaled=lambda self, q: q / 10**0.5), "embed_dimの平方根で割っています"),
        (broken(scaled=lambda self, q: q / 12**0.5), "全部のヘッドを合わせた長さで"),
        (broken(split=wrong_split), r"試験3.*重み\[0, 0, 0\].*分け方を見ます"),
        (broken(merge=wrong_merge), r"試験3.*出力\[.*つなぎ方を見ます"),
        (TWELVE[3], "1番目の系列の出力が、1つだけ渡したときと違います"),
        (TWELVE[4], r"未来の2番目のトークンを変えると、1番目の出力が動きます（漏れ、10か所）"),
        (
            broken(visible=lambda self, L, S, c: np.tri(L, S, dtype=bool).T | (not c)),
            "漏れ、10か所）。1番目.*隠しすぎ、10か所",
        ),
        (
            broken(visible=lambda self, L, S, c: np.tri(L, S, -1, dtype=bool) | (not c), softmax=nan_softmax),
            "NaNがあります",
        ),
        (broken(weigh=largest_of_all), "試験5.*行の合計が 0 で.*未来を-infにしてから"),
        (broken(both=lambda self, keep, mask, c: keep), "1番目の系列の出力が.*maskが使われていません"),
        (broken(both=lambda self, keep, mask, c: keep & ~mask), "maskの意味が逆です"),
        (broken(both=lambda self, keep, mask, c: keep & mask[:1]), "2番目の系列.*その系列のマスクを使います"),
        (
            broken(both=lambda self, keep, mask, c: keep if c else mask),
            "is_causal=Trueも渡すと、1番目の系列.*maskが使われて",
        ),
        (broken(both=lambda self, keep, mask, c: mask), "is_causal=Trueも渡すと、1番目の系列.*is_causalが使われません"),
        (broken(both=lambda self, keep, mask, c: keep | mask), "試験6.*両方で許された場所だけを残します（`&`）"),
        (
            broken(both=lambda self, keep, mask, c: keep | mask if c else mask),
            "is_causal=Trueも渡すと、1番目の系列.*両方で許された場所だけを残します（`&`）",
        ),
        (TWELVE[5], "試験6.*下三角のmask.*クエリごとに違う"),
        (TWELVE[6], "行の出力が0ではありません"),
        (broken(softmax=nan_softmax), "：見てよいキーが1つもない行の出力がNaNになります"),
        (EmptyRowsOfMask(), "試験7.*is_causal=Trueを渡すと、.*行の出力がNaNになります。空の行は、2つを合わせてから"),
        (TWELVE[7], r"軸が \(5, 5\) です。キーがxから"),
        (
            lambda x, W, memory=None, **o: Layer()(
                *((x, W) if memory is None else (memory, W)), memory=x if memory is not None else None, **o
            ),
            "クエリとキーが入れ替わって",
        ),
        (
            lambda x, W, memory=None, mask=None, **o: Layer()(
                x, W, memory=memory, mask=mask if memory is None else None, **o
            ),
            r"試験8.*memoryに詰め物があるときの出力\[.*maskを使います",
        ),
        (TWELVE[8], "tileではなくrepeat"),
        (broken(share=lambda self, query, x: x), "試験9「ヘッドの共有」：ValueError で止まりました.*W_kの列の数"),
        (
            broken(share=lambda self, query, x: np.repeat(x, query.shape[-3] // x.shape[-3], axis=1)),
            "試験9「ヘッドの共有」：ValueError で止まりました.*後ろから数えます",
        ),
        (TWELVE[9], r"3個目までの出力\[0, 0, 0\].*末尾ぞろえ"),
        (broken(extend=lambda self, cache, key, value: (key, value)), "3個目まで進んだのに、キーが 2 個です"),
        (broken(extend=keep_shared), r'cache\["key"\] の形が \(6, 4, 5, 3\) です。\(6, 2, 5, 3\) のはずです'),
        (broken(extend=extend_third_axis), "試験10.*軸（-2）"),
        (TWELVE[10], "出力が float64 です"),
        (broken(returned=lambda self, w: w.astype(float)), "重みが float64 です"),
        (broken(extend=extend_zeros), "試験11.*空のcacheを渡したのに、出力が float64 です。np.zeros"),
        (
            lambda x, W, **o: tuple(a.astype(np.float32) for a in Layer()(x, W, **o)),
            "試験11.*float64を渡したのに、出力が float32 です。桁が減ります",
        ),
        (TWELVE[11], "W_qの12列を割り切れないnum_heads=5を断らずに"),
        (broken(refuse=refuse_floats), "試験12.*整数のマスクを断らずに"),
    ],
)
def test_messages(answer, message):
    with pytest.raises(NotYet, match=message):
        check_capstone(answer)


@pytest.mark.parametrize("step", [0, 6, "all"])
def test_step_is_one_of_five(step):
    with pytest.raises(NotYet, match="1から5"):
        check_capstone(Layer(), step=step)
