"""練習の答えを調べる道具。何がまだ違うかと、次に見る所を、日本語で伝えます。"""

import copy

import numpy as np

ALMOST = "途中で丸めたり、小さな数を足したりしていませんか。"  # the hint where an answer is nearly right


class NotYet(AssertionError):
    """答えがまだ合格していないことを表します。文が、何がまだ違うかを伝えます。"""


def ask(answer, *args, **kwargs):
    """Return what the reader's function answers; it must answer something, and leave its arguments alone."""
    if not callable(answer):
        raise NotYet(f"関数の名前だけを渡してください（かっこを付けません）: {answer!r}。")
    before = copy.deepcopy((*args, *kwargs.values()))
    result = answer(*args, **kwargs)
    if result is None:
        raise NotYet("答えが None です。... を計算に書き換え、return で返してください。")
    after = (*args, *kwargs.values())
    if not all(np.array_equal(old, new) for old, new in zip(before, after, strict=True)):
        raise NotYet("渡した配列が書き換えられました。新しい配列を作って返してください。")
    return result


def ask_array(answer, *args, **kwargs):
    """Return what the reader's function answers, as one array."""
    result = ask(answer, *args, **kwargs)
    try:
        return np.asarray(result)
    except ValueError:  # a pair of arrays, such as output and weights
        raise NotYet("形の違う配列が、いくつか返りました。求めている配列を1つだけ、return で返してください。") from None


def require(condition, message):
    if not condition:
        raise NotYet(message)


def require_close(name, got, want, hint="", *, atol=1e-6):
    """Compare arrays; the message names the first entry that is wrong, and gives the hint."""
    want = np.asarray(want)
    try:
        got = np.asarray(got)
    except ValueError:  # rows of different lengths
        raise NotYet(f"{name}を配列にできません。どの行も同じ長さにしてください。") from None
    require(
        got.dtype == bool if want.dtype == bool else got.dtype.kind in "fiu",
        f"{name}は{'True か False' if want.dtype == bool else '実数'}の配列にしてください: dtype={got.dtype}。",
    )
    require(got.shape == want.shape, f"{name}の形が {got.shape} です。{want.shape} のはずです。{hint}")
    wrong = ~np.isclose(got, want, rtol=atol, atol=atol, equal_nan=True)
    if wrong.any():
        index = tuple(int(i) for i in np.argwhere(wrong)[0])
        place = f"{name}[{', '.join(map(str, index))}]" if index else name
        is_, should = _short(got[index]), _short(want[index])
        if is_ == should:
            is_, should = (f"{x[index]:.9g}" for x in (got, want))
            hint = ALMOST
        raise NotYet(f"{place} が {is_} です。{should} のはずです。{hint}")


def require_sums_of_one(name, weights, hint):
    """Compare the sums of the rows with 1; the message names the sum that is furthest from it."""
    sums = np.sum(weights, axis=-1).ravel()
    worst = sums[np.abs(sums - 1).argmax()]
    if abs(worst - 1) < 0.01:
        hint = ALMOST
    require(np.allclose(sums, 1), f"{name}の合計が {worst:.6g} です。1のはずです。{hint}")


def passed(what):
    print(f"合格です：{what}")


def _short(value):
    return str(bool(value)) if value.dtype == bool else f"{value:.4g}"
