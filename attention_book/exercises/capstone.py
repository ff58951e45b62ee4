"""capstone の総合演習を調べます。12の試験を、上から順に行います。"""

import numpy as np

from attention_book.attention import scaled_dot_product_attention
from attention_book.exercises._grade import NotYet, ask, passed, require, require_close, require_sums_of_one
from attention_book.heads import merge_heads, split_heads

BATCH, L, S, EMBED_DIM, NUM_HEADS, HEAD_DIM = 6, 5, 7, 10, 4, 3  # no two alike, so that a mix-up shows


def check_capstone(answer, step=5):
    """自分で書いたmulti-head attentionの層を、12の試験で調べます。

    最初に落ちた試験で止まります。
    後の試験は、前の試験に通ったことを前提にしています。

    Parameters
    ----------
    answer : callable
        ``answer(x, W, *, num_heads, mask, is_causal, memory, cache)`` が、出力と重みの組を返します。
        `x` は形 ``(..., L, embed_dim)``、`W` は行列の組 ``(W_q, W_k, W_v, W_o)`` です。
        `mask` から後は、使う手順になってから渡されます。
    step : int, default 5
        いくつ目の手順までを調べるか。1から5で、省くと12の試験をすべて行います。

    Raises
    ------
    NotYet
        まだ違うとき。文が、最初に落ちた試験と、次に見る所を伝えます。

    References
    ----------
    Vaswani et al. (2017), "Attention Is All You Need", 3.2節。
    Ainslie et al. (2023), "GQA"（ヘッドの共有）。

    Examples
    --------
    >>> def layer(x, W, *, num_heads):
    ...     return x, x
    >>> check_capstone(layer, step=1)
    Traceback (most recent call last):
    attention_book.exercises._grade.NotYet: 試験1「形」：重みの形が (5, 10) です。(num_heads, L, S) = (4, 5, 5) のはずです。
    """
    require(callable(answer), f"関数の名前だけを渡してください（かっこを付けません）: {answer!r}。")
    require(step in range(1, 6), f"step は1から5の整数です: {step!r}。")
    names = {}  # by step
    for n, (when, name, test, hint) in enumerate(TESTS, 1):
        if when > step:
            break
        try:
            with np.errstate(all="ignore"):  # a NaN shows in the answer; the message says more than a warning
                test(answer)
        except NotYet as error:
            raise NotYet(f"試験{n}「{name}」：{error}") from None
        except Exception as error:
            raise NotYet(f"試験{n}「{name}」：{type(error).__name__} で止まりました（{error}）。{hint}") from error
        names.setdefault(when, []).append(name)
    passed("、\n".join(map("、".join, names.values())))


def shapes(answer):
    for batch, lead in (((), ""), ((BATCH,), "batch, ")):
        x, W = _example(0, batch)
        output, weights = _run(answer, x, W)
        want = (*batch, NUM_HEADS, L, L)
        require(
            np.shape(weights) != (*batch, L, L),
            f"重みの形が {np.shape(weights)} です。ヘッドごとの重みを、平均せずに返します。",
        )
        require(
            np.shape(weights) == want,
            f"重みの形が {np.shape(weights)} です。({lead}num_heads, L, S) = {want} のはずです。",
        )
        require(
            np.shape(output) == x.shape,
            f"出力の形が {np.shape(output)} です。入力と同じ {x.shape} のはずです。つないでから W_o を掛けます。",
        )


def row_sums(answer):
    x, W = _example(1)
    require_sums_of_one("重みの行", _run(answer, x, W)[1], "softmaxは、キーが並ぶ最後の軸（axis=-1）に掛けます。")
    hint = "大きなスコアで桁があふれます。行の最大値を引いてから、指数を取ります。"
    require_sums_of_one("重みの行", _run(answer, x * 1000, W)[1], hint)


def formula(answer):
    x, W = _example(2)
    output, weights = _run(answer, x, W)
    for scale, message in (
        (1, "スコアを割っていません。head_dimの平方根で割ります。"),
        (1 / HEAD_DIM, "head_dimそのもので割っています。その平方根で割ります。"),
        (EMBED_DIM**-0.5, "embed_dimの平方根で割っています。内積を取る長さは、head_dimです。"),
        ((NUM_HEADS * HEAD_DIM) ** -0.5, "全部のヘッドを合わせた長さで割っています。head_dimの平方根で割ります。"),
    ):
        require(not np.allclose(weights, _book(x, W, scale=scale)[1]), message)
    want = _book(x, W)
    hint = "割る数のほかに、分け方を見ます。reshapeでヘッドの軸を作り、それから長さの前へ移します。"
    require_close("重み", weights, want[1], hint)
    hint = "重みは合っています。つなぎ方を見ます。ヘッドの軸を長さの後ろへ戻してから、reshapeします。"
    require_close("出力", output, want[0], hint)


def batch(answer):
    x, W = _example(3, (BATCH,))
    together = _run(answer, x, W)
    for n in range(BATCH):
        for name, got, alone in zip(("出力", "重み"), together, _run(answer, x[n], W), strict=True):
            require(
                np.allclose(got[n], alone),
                f"{n + 1}番目の系列の{name}が、1つだけ渡したときと違います。ほかの系列が混ざっています。"
                "軸は後ろから数えます（長さは-2、ヘッドは-3）。",
            )


def leak(answer):
    x, W = _example(4)
    before = _run(answer, x, W, is_causal=True)[0]
    require(np.isfinite(before).all(), "出力にNaNがあります。どの行も、自分自身は見てよい場所です。")
    moved = np.zeros((L, L), dtype=bool)
    for j in range(L):
        changed = x + (np.arange(L) == j)[:, None]
        moved[:, j] = (np.abs(_run(answer, changed, W, is_causal=True)[0] - before) > 1e-9).any(axis=-1)
    past = np.tri(L, dtype=bool)
    faults = []
    for wrong, text in (
        (moved & ~past, "未来の{}番目のトークンを変えると、{}番目の出力が動きます（漏れ、{}か所）。"),
        (past & ~moved, "{}番目のトークンを変えても、{}番目の出力が動きません（隠しすぎ、{}か所）。"),
    ):
        if wrong.any():
            i, j = np.argwhere(wrong)[0] + 1
            faults.append(text.format(j, i, wrong.sum()))
    hint = "softmaxの前に、見てよくない場所のスコアを-infにします。見てよい場所は、下三角です。"
    require(not faults, f"{''.join(faults)}{hint}")
    hint = "大きなスコアで、見てよい場所の指数がどれも0になります。行の最大値は、未来を-infにしてから取ります。"
    require_sums_of_one("重みの行", _run(answer, x * 1000, W, is_causal=True)[1], hint)


def padding(answer):
    x, W = _example(5, (BATCH,))
    past = np.tri(L, dtype=bool)
    lengths = np.array([3, 5, 1, 4, 2, 5])
    right = np.arange(L) < lengths[:, None]
    left = right[:, ::-1]  # with a causal mask, padding on the right is in the future anyway
    for real, options, when in ((right, {}, ""), (left, {"is_causal": True}, "is_causal=Trueも渡すと、")):
        mask = real[:, None, None, :]
        output, turned = (_run(answer, x, W, mask=m, **options)[0] for m in (mask, ~mask))
        unmasked = _run(answer, x, W, **options)[0]
        for n, here in enumerate(real):
            alone = _run(answer, x[n, here], W, **options)[0]
            if np.allclose(output[n, here], alone):
                continue
            hint = "すべての系列に、その系列のマスクを使います。"
            either = _book(x, W, mask=mask | past)[0]
            if np.allclose(_run(answer, x, W, mask=mask, is_causal=True)[0], either):
                hint = "maskとis_causalは、両方で許された場所だけを残します（`&`）。"
            elif np.allclose(output, unmasked):
                hint = "maskが使われていません。"
            elif options and np.allclose(output[n, here], _run(answer, x, W, mask=mask)[0][n, here]):
                hint = "maskがあると、is_causalが使われません。両方で許された場所だけを残します。"
            elif np.allclose(turned[n, here], alone):
                hint = "maskの意味が逆です。Trueが「見てよい」です。"
            require(False, f"{when}{n + 1}番目の系列の出力が、詰め物なしで計算したときと違います。{hint}")
    causal = _run(answer, x, W, is_causal=True)[0]
    hint = "is_causal=Trueと同じ答えになります。maskの行は、クエリごとに違うことがあります。"
    require_close("下三角のmaskを渡したときの出力", _run(answer, x, W, mask=past)[0], causal, hint)


def empty_row(answer):
    x, W = _example(6, (BATCH,))
    second = np.arange(BATCH) == 1
    for pads, options, when, where in (
        (L, {}, "", ""),
        (2, {"is_causal": True}, "左の詰め物のmaskとis_causal=Trueを渡すと、", "空の行は、2つを合わせてから探します。"),
    ):
        mask = ~(second[:, None] & (np.arange(L) < pads))[:, None, None]
        masked, unmasked = _run(answer, x, W, mask=mask, **options), _run(answer, x, W, **options)
        for name, got, full in zip(("出力", "重み"), masked, unmasked, strict=True):
            empty = got[1, ..., :pads, :]
            require(
                not np.isnan(empty).any(),
                f"{when}見てよいキーが1つもない行の{name}がNaNになります。{where}"
                "-infから-infを引かないように、0で割らないようにします。",
            )
            require(
                np.allclose(empty, 0),
                f"{when}見てよいキーが1つもない行の{name}が0ではありません。{where}"
                "隠したはずのキーが混ざっています（-1e9ではなく-infを使います）。",
            )
            require_close(f"ほかの系列の{name}", got[~second], full[~second], "空の行だけを0にします。")


def cross(answer):
    x, W = _example(7, (BATCH,))
    memory = _example(8, (BATCH,), length=S)[0]
    output, weights = _run(answer, x, W, memory=memory)
    for shape, message in (
        ((L, L), "キーがxから作られています。キーとバリューは、memoryから作ります。"),
        ((S, L), "クエリとキーが入れ替わっています。クエリはxから、キーはmemoryから作ります。"),
    ):
        require(np.shape(weights)[-2:] != shape, f"重みの最後の2つの軸が {shape} です。{message}")
    want = _book(x, W, memory)
    require_close("重み", weights, want[1], "クエリはxから、キーはmemoryから作ります。")
    require_close("出力", output, want[0], "バリューも、memoryから作ります。")
    mask = (np.arange(S) < S - 2)[None, None, None]
    padded, want = _run(answer, x, W, memory=memory, mask=mask)[0], _book(x, W, memory[:, :-2])[0]
    require_close("memoryに詰め物があるときの出力", padded, want, "memoryがあっても、maskを使います。")


def grouped(answer):
    for batch in ((BATCH,), ()):
        x, W = _example(9, batch, num_kv_heads=2)
        output, weights = _run(answer, x, W)
        W_q, W_k, W_v, W_o = W
        tiled = _book(x, (W_q, np.tile(W_k, 2), np.tile(W_v, 2), W_o))
        require(
            not (np.shape(weights) == tiled[1].shape and np.allclose(weights, tiled[1])),
            "共有の順が違います。クエリの1番目と2番目が、同じ1番目のキーを使います（tileではなくrepeatです）。",
        )
        want = _book(x, W)
        require_close("重み", weights, want[1], _SHARED)
        require_close("出力", output, want[0], "バリューのヘッドも、キーと同じように共有します。")


def cached(answer):
    for batch in ((BATCH,), ()):
        x, W = _example(10, batch, num_kv_heads=2)
        whole = _run(answer, x, W, is_causal=True)[0]
        cache, start = {}, 0
        for end in (1, 3, 4, 5):  # two at once in the middle: there the alignment shows
            output, weights = _run(answer, x[..., start:end, :], W, is_causal=True, cache=cache)
            require(
                np.shape(weights)[-1] == end,
                f"{end}個目まで進んだのに、キーが {np.shape(weights)[-1]} 個です。cacheの後ろに、新しいキーを足します。",
            )
            hint = "長さが違うときは、最後のクエリを最後のキーに合わせます（末尾ぞろえ）。"
            require_close(f"{end}個目までの出力", output, whole[..., start:end, :], hint)
            start = end
        for name in ("key", "value"):
            want = (*batch, 2, L, HEAD_DIM)
            require(name in cache, f'cache["{name}"] がありません。次の呼び出しのために入れておきます。')
            require(
                np.shape(cache[name]) == want,
                f'cache["{name}"] の形が {np.shape(cache[name])} です。{want} のはずです。'
                "ヘッドに分けた後、増やす前に控えます。",
            )


def dtype(answer):
    x, W = _example(11)
    want = _run(answer, x, W, is_causal=True)[0]
    for given, cache, more, hint in (
        (np.float32, None, "", "np.sqrt(3) はfloat64なので、配列に掛けると広がります。3 ** -0.5 なら広がりません。"),
        (np.float32, {}, "と空のcache", "np.zerosはfloat64なので、つなぐと広がります。dtypeもキーにそろえます。"),
        (np.float64, None, "", "桁が減ります。決まったdtypeに変えず、渡されたdtypeで返します。"),
    ):
        got = _run(answer, x.astype(given), [w.astype(given) for w in W], is_causal=True, cache=cache)
        for name, array in zip(("出力", "重み"), got, strict=True):
            require(
                np.asarray(array).dtype == given,
                f"{given.__name__}{more}を渡したのに、{name}が {np.asarray(array).dtype} です。{hint}",
            )
        require_close("出力", got[0], want, "float64の答えから離れています。", atol=1e-4)


def errors(answer):
    x, W = _example(12)
    columns = NUM_HEADS * HEAD_DIM
    for options, kind, words, what in (
        ({"num_heads": 5}, ValueError, ("5", str(columns)), f"W_qの{columns}列を割り切れないnum_heads=5"),
        ({"num_heads": NUM_HEADS, "mask": np.tri(L)}, TypeError, ("bool",), "実数のマスク"),
        ({"num_heads": NUM_HEADS, "mask": np.tri(L, dtype=int)}, TypeError, ("bool",), "整数のマスク"),
    ):
        try:
            answer(x, W, **options)
        except Exception as error:
            require(
                isinstance(error, kind),
                f"{what}は {kind.__name__} で断ります。{type(error).__name__} が出ました（{error}）。",
            )
            missing = [word for word in words if word not in str(error)]
            require(not missing, f"{what}を断る文に「{'」「'.join(missing)}」がありません: {error}")
        else:
            require(False, f"{what}を断らずに、答えを返しました。{kind.__name__} にします。")


_AXES = "軸の順と、行列を掛ける向きを見ます。"
_SHARED = (
    "キーのヘッドの数は、W_kの列の数をhead_dimで割ったものです。"
    "バッチの軸はないこともあるので、軸は後ろから数えます（ヘッドは-3）。"
)
_OPTIONS = "引数の名前と、配列の形を見ます。"
TESTS = (  # (the step that needs it, name, function, hint where the answer stops with an error)
    (1, "形", shapes, _AXES),
    (1, "行の合計", row_sums, _AXES),
    (1, "SDPAとの一致", formula, _AXES),
    (1, "バッチの独立", batch, _AXES),
    (2, "漏れ", leak, _OPTIONS),
    (2, "詰め物", padding, "maskの形は (batch, 1, 1, S) や (L, S) で、スコアに広がります。"),
    (2, "空の行", empty_row, "maskの形は (batch, 1, 1, S) で、スコアに広がります。"),
    (3, "cross-attention", cross, "キーとバリューをmemoryから作ります。長さは、クエリと違います。"),
    (3, "ヘッドの共有", grouped, _SHARED),
    (4, "キャッシュ", cached, "cacheは、初めは空の辞書です。足すのは、長さの軸（-2）です。"),
    (5, "dtype", dtype, _OPTIONS),
    (5, "エラーの文", errors, _OPTIONS),
)


def _example(seed, batch=(), *, length=L, num_kv_heads=NUM_HEADS):
    """Return x (*batch, length, EMBED_DIM) and the four matrices, scaled so that scores are of size 1."""
    rng = np.random.default_rng(seed)
    shared = num_kv_heads * HEAD_DIM
    inner = NUM_HEADS * HEAD_DIM
    W = [
        rng.normal(size=size) / size[0] ** 0.5
        for size in ((EMBED_DIM, inner), (EMBED_DIM, shared), (EMBED_DIM, shared), (inner, EMBED_DIM))
    ]
    return rng.normal(size=(*batch, length, EMBED_DIM)), tuple(W)


def _run(answer, x, W, *, cache=None, is_causal=None, **arrays):
    """Call the answer with only the options of the test; it may change the cache, and nothing else."""
    options = {"num_heads": NUM_HEADS}
    if cache is not None:
        options["cache"] = cache
    if is_causal is not None:
        options["is_causal"] = is_causal

    def call(x, *W, **arrays):
        return answer(x, W, **options, **arrays)

    got = ask(call, x, *W, **arrays)
    require(
        isinstance(got, tuple) and len(got) == 2, "return output, weights のように、出力と重みの2つを返してください。"
    )
    for name, part in zip(("出力", "重み"), got, strict=True):
        require(
            part is not None, f"{name}が None です。return output, weights のように、計算した配列を返してください。"
        )
    return got


def _book(x, W, memory=None, **options):
    """Return output and weights as the package computes them."""
    W_q, W_k, W_v, W_o = W
    memory = x if memory is None else memory
    query = split_heads(x @ W_q, NUM_HEADS)
    key, value = (split_heads(memory @ w, w.shape[1] // HEAD_DIM) for w in (W_k, W_v))
    output, weights = scaled_dot_product_attention(query, key, value, return_weights=True, **options)
    return merge_heads(output) @ W_o, weights
