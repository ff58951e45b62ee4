"""mask-apis の練習を調べます。"""

import numpy as np

from attention_book.exercises._grade import ask_array, passed, require, require_close


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
    batch, num_heads, query_len, key_len = 2, 3, 4, 5
    real = np.arange(key_len) < np.array([[5], [3]])  # (2, 5)
    keep = np.tri(query_len, key_len, 1, dtype=bool) & real[:, None, None, :]  # (2, 1, 4, 5)
    mask = ask_array(answer, keep, num_heads)
    require(mask.dtype == bool, f"boolのまま渡しましょう: dtype={mask.dtype}。実数のマスクは、スコアに足されます。")
    shape = (batch * num_heads, query_len, key_len)
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
    require_close("マスク", mask, right, "行がクエリ、列がキーです。見てよい所をFalse、隠す所をTrueにします。")
    passed("形、向き、バッチとヘッドの並び")
