"""mask-apis の練習を調べます。"""

import numpy as np

from attention_book.exercises._grade import ask, passed, require


def check_mha_mask(answer):
    """本のマスクを ``nn.MultiheadAttention`` の ``attn_mask`` に直す関数を調べます。

    Parameters
    ----------
    answer : callable
        ``answer(keep, num_heads)``。`keep` は形 ``(batch, 1, L, S)`` のboolで、Trueが「見てよい」です。
        返すのは形 ``(batch * num_heads, L, S)`` のboolで、Trueが「隠す」です。

    Raises
    ------
    NotYet
        まだ違うとき。文が、何が違うかを伝えます。

    References
    ----------
    PyTorch, torch.nn.MultiheadAttention の attn_mask（3次元のときの並び）。

    Examples
    --------
    >>> import numpy as np
    >>> check_mha_mask(lambda keep, num_heads: ~np.repeat(keep[:, 0], num_heads, axis=0))
    合格です：形、向き、バッチとヘッドの並び
    """
    batch, num_heads, length = 2, 3, 4
    keys = np.arange(length)
    keep = (np.tri(length, dtype=bool) & (keys < np.array([[4], [2]]))[:, None, None, :]).copy()  # (2, 1, 4, 4)
    mask = np.asarray(ask(answer, keep, num_heads))
    require(mask.dtype == bool, f"boolのまま渡しましょう: dtype={mask.dtype}。実数のマスクは、スコアに足されます。")
    shape = (batch * num_heads, length, length)
    require(mask.shape == shape, f"形が {mask.shape} です。(batch * num_heads, L, S) = {shape} のはずです。")
    right = ~np.repeat(keep[:, 0], num_heads, axis=0)
    require(
        not np.array_equal(mask, ~right),
        "向きが逆です。attn_mask では、Trueが「隠す」です。",
    )
    tiled = np.tile(keep[:, 0], (num_heads, 1, 1))
    require(not np.array_equal(mask, tiled), "向きが逆で、並びも違います。まず、Trueを「隠す」にしましょう。")
    require(
        not np.array_equal(mask, ~tiled),
        "並びが違います。1つ目の系列の全ヘッド、2つ目の系列の全ヘッド、の順です（np.tile ではなく np.repeat）。",
    )
    wrong = np.argwhere(mask != right)
    require(not len(wrong), f"マスク{wrong[:1].tolist()} が違います。見てよい所をFalse、隠す所をTrueにします。")
    passed("形、向き、バッチとヘッドの並び")
