"""explanation の練習を調べます。"""

import numpy as np

from attention_book.exercises._grade import ask_array, passed, require, require_close
from attention_book.softmax import softmax


def check_other_weights(answer):
    """出力を変えずに重みを変える関数を調べます。

    Parameters
    ----------
    answer : callable
        ``answer(weights, values)``。`weights` は形 ``(S,)`` の正で合計1の重み、`values` は形 ``(S, d_v)`` のバリューで、
        ``S`` は ``d_v + 1`` より大きい数です。正で合計1の、出力が同じで別の重みを返します。

    Raises
    ------
    NotYet
        まだ違うとき。文が、何が違うかを伝えます。

    References
    ----------
    Brunner et al. (2020), "On Identifiability in Transformers".

    Examples
    --------
    >>> def other_weights(weights, values):
    ...     constraints = np.vstack([values.T, np.ones(len(weights))])
    ...     direction = np.linalg.svd(constraints)[2][-1]
    ...     return weights + direction * (weights / np.abs(direction)).min() / 2
    >>> check_other_weights(other_weights)
    合格です：正の重み、合計1、同じ出力、違う重み
    """
    # the last weights lie far apart: only a small step keeps all of them above 0
    for seed, (length, value_dim, spread, least) in enumerate([(6, 3, 1, 0.01), (9, 4, 1, 0.01), (8, 3, 2, 2e-5)]):
        rng = np.random.default_rng(seed)
        weights = softmax(spread * rng.normal(size=length))
        values = rng.normal(size=(length, value_dim))
        got = ask_array(answer, weights, values)
        require_close("合計", got.sum(), 1.0, "重みの合計も変えない向きへ動かします（制約に、1だけの行を足します）。")
        require(
            got.shape == weights.shape,
            f"形 {weights.shape} の重みに、形 {got.shape} の答えが返りました。重みを1本返してください。",
        )
        require(
            (got > 0).all(),
            f"0以下の重みがあります（最小 {got.min():.2g}）。動かす量を、重みに合わせて小さくしてください。",
        )
        require_close("出力", got @ values, weights @ values, "バリューとの積が0になる向きへ動かします。")
        moved = np.abs(got - weights).max()
        require(moved > least, f"もとの重みとの差が {moved:.2g} しかありません。もっと大きく動かしてください。")
    passed("正の重み、合計1、同じ出力、違う重み")
