"""weighted-lookup の練習を調べます。"""

import numpy as np

from attention_book.exercises._grade import ask, ask_array, passed, require, require_close
from attention_book.softmax import softmax


def check_soft_lookup(answer):
    """温度付きの重み付き検索を調べます。

    Parameters
    ----------
    answer : callable
        ``answer(query, keys, values, temperature)``。形は順に ``(dim,)``、``(S, dim)``、``(S, value_dim)`` と正の数です。
        返すのは、内積を温度で割ったスコアによる、形 ``(value_dim,)`` の出力です。

    Raises
    ------
    NotYet
        まだ違うとき。文が、何が違うかを伝えます。

    Examples
    --------
    >>> from attention_book import softmax
    >>> def lookup(query, keys, values, temperature):
    ...     return softmax(keys @ query / temperature) @ values
    >>> check_soft_lookup(lookup)
    合格です：ふつうの温度、低い温度、同点
    """
    query = np.array([2.0, 1.0])
    keys = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    values = np.array([[1.0, 0.0, 0.0, 5.0], [0.0, 1.0, 0.0, 6.0], [0.0, 0.0, 1.0, 7.0]])
    scores = keys @ query
    output = ask_array(answer, query, keys, values, 2.0)
    require(
        np.shape(output) != (3,),
        "形 (3,) が返りました。重みでしょうか。重みでバリューを混ぜた、形 (4,) の出力を返します。",
    )
    require(
        np.shape(output) != (4,) or not np.allclose(output, softmax(scores * 2.0) @ values),
        "温度を掛けています。スコアを温度で割ってください。",
    )
    require(
        np.shape(output) != (4,) or not np.allclose(output, softmax(scores / 2.0 / np.sqrt(2)) @ values),
        "√2でも割っています。この練習では、温度だけで割ります。",
    )
    require_close("温度2の出力", output, softmax(scores / 2.0) @ values, "softmax(スコア / 温度) で混ぜます。")
    with np.errstate(all="ignore"):  # the answer may overflow here; the next line says so
        cold = ask(answer, query, keys, values, 1e-3)
    require(
        np.isfinite(cold).all(),
        f"温度を0.001にすると {cold} になりました。expの前に最大値を引くか、attention_book の softmax を使いましょう。",
    )
    require_close("温度0.001の出力", cold, values[2], "いちばん合うキーのバリューだけが残るはずです。")
    tied = ask(answer, query, keys[[0, 0, 1]], values, 1e-3)
    require_close("同点の出力", tied, (values[0] + values[1]) / 2, "同点のキーには、同じ重みが付きます。")
    passed("ふつうの温度、低い温度、同点")
