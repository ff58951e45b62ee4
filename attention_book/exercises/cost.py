"""cost の練習を調べます。"""

import numpy as np

from attention_book.exercises._grade import ask, passed, require, require_close
from attention_book.online import Partial, attend, merge

LENGTH, VALUE_DIM = 3, 4  # queries, and the length of a value


def check_attend_block(answer):
    """自分で書いた、キーのブロックを1つ見て途中の結果を更新する関数を調べます。

    Parameters
    ----------
    answer : callable
        ``answer(top, total, mixed, scores, value)``。`top` と `total` は形 ``(L, 1)``、`mixed` は形
        ``(L, value_dim)`` で、ここまでの途中の結果です。まだ何も見ていなければ、順に ``-inf``、0、0です。
        `scores` は形 ``(L, keys)``、`value` は形 ``(keys, value_dim)`` で、新しいブロックです。
        返すのは、更新した ``top, total, mixed`` です。

    Raises
    ------
    NotYet
        まだ違うとき。文が、何を忘れたかを伝えます。

    References
    ----------
    Milakov and Gimelshein (2018), "Online normalizer calculation for softmax".
    Dao et al. (2022), "FlashAttention".

    Examples
    --------
    >>> from attention_book.online import Partial, attend, merge
    >>> def attend_block(top, total, mixed, scores, value):
    ...     return merge(Partial(top, total, mixed), attend(scores.copy(), value))
    >>> check_attend_block(attend_block)
    合格です：1つのブロック、2つのブロック、順番、大きなスコア、空のブロック
    """
    rng = np.random.default_rng(3)
    low = rng.normal(size=(LENGTH, 5)), rng.normal(size=(5, VALUE_DIM))
    high = rng.normal(size=(LENGTH, 2)) + 4, rng.normal(size=(2, VALUE_DIM))

    got, want = run(answer, low), seen(low)
    require_close("top", got.top, want.top, "ブロックのスコアの、行ごとの最大値です。")
    require(
        not np.allclose(got.mixed, want.mixed / want.total),
        "mixedを、もう合計で割っています。割るのは、全部のブロックを見た後の1度だけです。",
    )
    require_close("total", got.total, want.total, "exp(スコア - top) の、行ごとの合計です。")
    require_close("mixed", got.mixed, want.mixed, "exp(スコア - top) に value を掛けます。")

    got, want, a, b = run(answer, low, high), seen(low, high), seen(low), seen(high)
    require_close("2つのブロックのtop", got.top, want.top, "ここまでの最大値と、ブロックの最大値の、大きいほうです。")
    require(
        not np.allclose(got.total, b.total),
        "totalが、最後のブロックの分だけです。割る数（分母）にも、ここまでの合計を足しましょう。",
    )
    require(
        not (np.allclose(got.total, a.total + b.total) or np.allclose(got.mixed, a.mixed + b.mixed)),
        "ここまでの結果を、新しい最大値に合わせていません。"
        "最大値が大きくなったら、前のtotalとmixedに exp(前のtop - 新しいtop) を掛けます。",
    )
    require_close("2つのブロックのtotal", got.total, want.total, "前の分も、最大値の差に合わせて足します。")
    require_close("2つのブロックのmixed", got.mixed, want.mixed, "totalと同じ数を掛けて足します。")

    got = run(answer, high, low)
    require(
        all(np.allclose(x, y) for x, y in zip(got, want, strict=True)),
        "ブロックの順番を入れ替えると、答えが変わりました。"
        "新しいブロックの最大値のほうが小さいこともあります。"
        "topは大きいほうにして、新しいブロックの指数も、そのtopを引いてから取りましょう。",
    )
    big = (low[0] + 1000, low[1]), (high[0] - 1000, high[1])
    require(
        all(np.isfinite(x).all() for x in run(answer, *big)),
        "スコアが1000くらいになると、桁あふれします。expの前に、最大値を引きましょう。",
    )

    hidden = np.full((LENGTH, 2), -np.inf), high[1]
    hint = "見てよいキーがない行のtopは -inf です。-inf から -inf を引かないようにします。"
    got = run(answer, hidden)
    require(
        not got.total.any() and not got.mixed.any(),
        f"全部を隠したブロックを見ただけなのに、totalかmixedが0ではありません。{hint}",
    )
    partly = high[0].copy(), high[1]
    partly[0][0] = -np.inf  # the first query sees nothing of this block
    far = low[0] - 1000, low[1]
    for blocks in ([hidden, low, high], [low, hidden, high], [partly, low], [hidden, far]):
        got, want = run(answer, *blocks), seen(*blocks)
        require(
            all(np.allclose(x, y) for x, y in zip(got, want, strict=True)),
            f"隠したキーだけの行があるブロックが混ざると、答えが変わりました（total {got.total.ravel()}）。{hint}",
        )
    passed("1つのブロック、2つのブロック、順番、大きなスコア、空のブロック")


def check_cache_bytes(answer):
    """KVキャッシュのバイト数を数える関数を調べます。

    Parameters
    ----------
    answer : callable
        ``answer(length, layers, num_heads, num_kv_heads, head_dim, itemsize)``。
        順に、トークンの数、層の数、クエリのヘッドの数、キーとバリューのヘッドの数、ヘッド1つの長さ、
        数1つのバイト数です。返すのは、系列1本のキャッシュのバイト数です。

    Raises
    ------
    NotYet
        まだ違うとき。文が、何を数え間違えたかを伝えます。

    References
    ----------
    Shazeer (2019), "Fast Transformer Decoding: One Write-Head is All You Need".
    Ainslie et al. (2023), "GQA".

    Examples
    --------
    >>> def cache_bytes(length, layers, num_heads, num_kv_heads, head_dim, itemsize):
    ...     return 2 * length * layers * num_kv_heads * head_dim * itemsize
    >>> check_cache_bytes(cache_bytes)
    合格です：キーとバリュー、層、共有するヘッド、数の大きさ
    """
    sizes = length, layers, num_heads, num_kv_heads, head_dim, itemsize = 4096, 80, 48, 8, 128, 4
    want = 2 * length * layers * num_kv_heads * head_dim * itemsize
    got = ask(answer, *sizes)
    for wrong, message in (
        (want // 2, "ちょうど半分です。キーとバリューの両方を数えましょう。"),
        (want // itemsize, "数の個数のままです。数1つのバイト数 itemsize を掛けましょう。"),
        (want * 8, "ビットで数えています。itemsize はバイト数です。"),
        (want // layers, "1層分です。キャッシュは層ごとにあります。"),
        (want // num_kv_heads, "ヘッド1つ分です。num_kv_heads を掛けましょう。"),
        (want // num_kv_heads * num_heads, "クエリのヘッドの数で数えています。残すのは、キーとバリューだけです。"),
        (want * length, "トークンの組の数だけ数えています。残すのはスコアではなく、トークンごとのキーとバリューです。"),
    ):
        require(not (np.shape(got) == () and got == wrong), message)
    require_close("バイト数", got, want, "キーとバリュー × トークン × 層 × ヘッド × 長さ × バイト数です。")
    other = 10, 3, 6, 2, 5, 4
    require_close("小さな例のバイト数", ask(answer, *other), 2400, "決まった数ではなく、引数から計算しましょう。")
    passed("キーとバリュー、層、共有するヘッド、数の大きさ")


def run(answer, *blocks):
    """Show the blocks to the reader's function, one after the other, and return what it has kept at the end."""
    kept = np.full((LENGTH, 1), -np.inf), np.zeros((LENGTH, 1)), np.zeros((LENGTH, VALUE_DIM))
    shapes = [x.shape for x in kept]
    for scores, value in blocks:
        with np.errstate(all="ignore"):  # NaN and infinity: the check says what they mean
            kept = ask(answer, *kept, scores, value)
        require(isinstance(kept, tuple) and len(kept) == 3, "top, total, mixed の3つを、この順に返しましょう。")
        kept = tuple(np.asarray(x, dtype=float) for x in kept)
        require(
            [x.shape for x in kept] != [shapes[0], shapes[2], shapes[1]],
            "返す順が違います。return top, total, mixed の順にします。",
        )
        for name, x, shape in zip(("top", "total", "mixed"), kept, shapes, strict=True):
            require(
                x.shape == shape,
                f"{name}の形が {x.shape} です。{shape} のはずです。最大値と合計には keepdims=True を付けましょう。",
            )
        if np.isnan(kept[1]).any() or np.isnan(kept[2]).any():
            break  # it stays NaN, and the check says why
    return Partial(*kept)


def seen(*blocks):
    """Return the Partial of all these blocks, by the book's own functions."""
    first, *rest = (attend(scores.copy(), value) for scores, value in blocks)
    for part in rest:
        first = merge(first, part)
    return first
