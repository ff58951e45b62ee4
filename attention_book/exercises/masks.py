"""masks の練習を調べます。"""

import numpy as np

from attention_book.attention import scaled_dot_product_attention
from attention_book.exercises._grade import ask_array, passed, require, require_close, require_sums_of_one
from attention_book.softmax import softmax


def check_causal_weights(answer):
    """自分で書いた、causal maskを付けた重みの計算を調べます。

    Parameters
    ----------
    answer : callable
        ``answer(scores)``。`scores` は形 ``(n, n)`` のスコア、返すのは未来を隠した同じ形の重みです。

    Raises
    ------
    NotYet
        まだ違うとき。文が、何が違うかを伝えます。

    References
    ----------
    Vaswani et al. (2017), "Attention Is All You Need", 3.2.3節。

    Examples
    --------
    >>> import numpy as np
    >>> from attention_book import causal_mask, softmax
    >>> check_causal_weights(lambda s: softmax(np.where(causal_mask(len(s)), s, -np.inf)))
    合格です：未来の重みが0、行の合計、値、とても小さいスコア
    """
    scores = np.random.default_rng(0).normal(size=(4, 4))
    past = np.tri(4, dtype=bool)
    with np.errstate(all="ignore"):  # a row without a key gives NaN, and the lines below say so
        weights = ask_array(answer, scores)
    require(weights.shape == (4, 4), f"形 (4, 4) のスコアに、形 {weights.shape} の重みが返りました。")
    require(
        not np.isnan(weights).all(),
        "重みがすべてNaNです。0 × (-inf) はNaNになります。"
        "マスクに -np.inf を掛けて足すのではなく、np.where でスコアを -np.inf に置き換えましょう。",
    )
    seen = np.nan_to_num(weights) != 0
    require(
        not (seen[~past].all() and not seen[np.tri(4, k=-1, dtype=bool)].any()),
        "上下が逆です。過去が隠れて、未来が見えています。",
    )
    require(
        seen.diagonal().any(),
        "自分自身まで隠しています。対角線も「見てよい」に入れましょう（1行目に見えるものがなくなります）。",
    )
    if (seen & ~past).any():
        i, j = np.argwhere(seen & ~past)[0]
        require(False, f"{i + 1}行目の重みに、未来の{j + 1}列目が {weights[i, j]:.3f} で残っています。")
    if (past & ~seen).any():
        i, j = np.argwhere(past & ~seen)[0]
        require(False, f"{i + 1}行目の重みで、見てよい{j + 1}列目まで隠しています。隠すのは未来だけです。")
    hint = "隠すのはsoftmaxの前で、スコアを -inf にします。合計を取る軸（axis=-1）も確かめましょう。"
    require_sums_of_one("行", weights, hint)
    hint = "スコアは√d_kで割ったあとのものなので、もう割りません。"
    require_close("重み", weights, softmax(np.where(past, scores, -np.inf)), hint)
    far = scores.round() * 1024 - 2**31  # exact in float32, too
    with np.errstate(all="ignore"):
        weights = ask_array(answer, far)
    require(
        not np.isnan(weights).any(),
        f"スコアがどれも {far.max():.0f} 以下だと、重みがNaNになりました。"
        "expの前に、見てよいスコアの最大値を行ごとに引きましょう。",
    )
    require(
        np.allclose(weights, softmax(np.where(past, far, -np.inf))),
        "スコアがどれも -1e9 より小さいと、隠した所のほうが大きくなります。-1e9 の代わりに -np.inf を使いましょう。",
    )
    passed("未来の重みが0、行の合計、値、とても小さいスコア")


def check_repaired_masks(first, second, third, fourth):
    """直した4つのマスクを、漏れの試験で調べます。

    マスクの値を見比べるのではなく、キーを1つずつ変えて、動いた出力を数えます。

    Parameters
    ----------
    first, second : callable
        ``f(n)``。長さnの系列の、形 ``(n, n)`` のcausal maskを返します。
    third : callable
        ``f(query_len, key_len)``。系列の最後の `query_len` 個をクエリにするときの、
        形 ``(query_len, key_len)`` のcausal maskを返します。
    fourth : callable
        ``f(ids)``。`ids` は形 ``(batch, S)`` のトークンの番号で、0が詰め物です。
        スコア ``(batch, num_heads, L, S)`` に広がるpadding maskを返します。

    Raises
    ------
    NotYet
        まだ違うとき。どのマスクの、どの出力が、どちらの向きに違うかを伝えます。

    References
    ----------
    Vaswani et al. (2017), "Attention Is All You Need", 3.2.3節。

    Examples
    --------
    >>> import numpy as np
    >>> from attention_book import causal_mask
    >>> check_repaired_masks(
    ...     causal_mask,
    ...     causal_mask,
    ...     lambda query_len, key_len: causal_mask(query_len, key_len, offset=key_len - query_len),
    ...     lambda ids: (ids != 0)[:, None, None, :],
    ... )
    合格です：4つとも、漏れも隠しすぎもありません
    """
    for name, answer, lengths in (("1つ目", first, (5,)), ("2つ目", second, (5,)), ("3つ目", third, (2, 5))):
        query_len, key_len = lengths[0], lengths[-1]
        allowed = np.tri(query_len, key_len, key_len - query_len, dtype=bool)
        _judge(name, ask_array(answer, *lengths), allowed, "未来の")

    ids = np.array([[5, 2, 7, 3, 6], [4, 6, 1, 0, 0], [0, 0, 5, 2, 7]])
    mask = ask_array(fourth, ids)
    require(
        mask.ndim == 4 and all(n in (1, full) for n, full in zip(mask.shape, (3, 1, 5, 5), strict=True)),
        f"4つ目：形が {mask.shape} です。ヘッドとクエリの軸を加えて (batch, 1, 1, S) = (3, 1, 1, 5) にしましょう。",
    )
    for one, real in zip(np.broadcast_to(mask, (3, 1, 5, 5))[:, 0], ids != 0, strict=True):
        _judge("4つ目", one, np.broadcast_to(real, (5, 5)), "詰め物の")
    passed("4つとも、漏れも隠しすぎもありません")


def _judge(name, mask, allowed, hidden):
    """Change one key after the other, and compare the outputs that move with those that may."""
    require(mask.dtype == bool, f"{name}：bool（Trueが「見てよい」）にしましょう: dtype={mask.dtype}。")
    require(mask.shape == allowed.shape, f"{name}：形が {mask.shape} です。{allowed.shape} のはずです。")
    moved = _moved(mask)
    leaks, losses = np.argwhere(moved & ~allowed), np.argwhere(allowed & ~moved)
    faults = []
    if len(leaks):
        i, j = leaks[0] + 1
        faults.append(f"{hidden}{j}番目のキーを変えると、{i}番目の出力が動きます（漏れ、{len(leaks)}か所）。")
    if len(losses):
        i, j = losses[0] + 1
        whole = "この行には、見てよいキーが1つもありません。" if not mask[i - 1].any() else ""
        text = f"見てよい{j}番目のキーを変えても、{i}番目の出力が動きません（隠しすぎ、{len(losses)}か所）。"
        faults.append(text + whole)
    require(not faults, f"{name}：{''.join(faults)}")


def _moved(mask):
    """Return (L, S) bool: does the output of the row move when the key and value of the column change?"""
    rng = np.random.default_rng(0)
    (query_len, key_len), dim = mask.shape, 3
    query, key = rng.normal(size=(query_len, dim)), rng.normal(size=(key_len, dim))
    value = rng.normal(size=(key_len, 4))
    before = scaled_dot_product_attention(query, key, value, mask=mask)
    moved = np.zeros(mask.shape, dtype=bool)
    for j in range(key_len):
        one = (np.arange(key_len) == j)[:, None]
        after = scaled_dot_product_attention(query, key + one, value + one, mask=mask)
        moved[:, j] = (before != after).any(axis=-1)
    return moved
