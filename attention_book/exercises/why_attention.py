"""why-attention の練習を調べます。"""

import numpy as np

from attention_book.exercises._grade import ask, passed, require


def check_path_length(answer):
    """つながりの行列から経路の長さを数える関数を調べます。

    Parameters
    ----------
    answer : callable
        ``answer(links, start, goal)``。`links` は形 ``(n, n)`` のboolの配列で、i番目がj番目を直接見るとき
        ``links[i, j]`` がTrueです。返すのは、`start` の情報が `goal` に届くまでの段数です。

    Raises
    ------
    NotYet
        まだ違うとき。文が、何が違うかを伝えます。

    References
    ----------
    Vaswani et al. (2017), "Attention Is All You Need", 4節.

    Examples
    --------
    >>> def path_length(links, start, goal):
    ...     reached = np.arange(len(links)) == start
    ...     steps = 0
    ...     while not reached[goal]:
    ...         reached |= links[:, reached].any(axis=1)
    ...         steps += 1
    ...     return steps
    >>> check_path_length(path_length)
    合格です：輪、Attention、RNN、窓
    """
    # The ring comes first: there every search ends, also one that follows the links the wrong way.
    ring = np.roll(np.eye(7, dtype=bool), 1, axis=0)
    steps = ask(answer, ring, 0, 2)
    require(np.ndim(steps) == 0, f"段数を1つの整数で返してください: {steps!r}。")
    require(
        steps != 5,
        "つながりを逆にたどっています。行がクエリ（見る側）で、links[i, j] はiがjを見ることを表します。",
    )
    require(
        steps == 2,
        f"どのトークンも1つ前だけを見る輪で、2つ先まで {steps} 段と数えました。2段のはずです。",
    )
    steps = ask(answer, np.ones((6, 6), dtype=bool), 1, 4)
    require(steps == 1, f"全員が全員を見るとき、{steps} 段と数えました。直接見えるなら、離れていても1段です。")
    steps = ask(answer, np.eye(9, k=-1, dtype=bool), 0, 8)
    require(steps == 8, f"RNNで8個先まで {steps} 段と数えました。1段で進むのは隣までです。")
    window = np.tri(12, dtype=bool) & ~np.tri(12, k=-4, dtype=bool)
    steps = ask(answer, window, 0, 11)
    require(
        steps == 4,
        f"3個前まで見る窓で、11個先まで {steps} 段と数えました。中継すれば4段で届きます。届いた場所の集合を広げましょう。",
    )
    fork = np.zeros((6, 6), dtype=bool)  # to 5 over 1, or over 3 and 4, which are nearer to it
    fork[[1, 5, 3, 4, 5], [0, 1, 0, 3, 4]] = True
    steps = ask(answer, fork, 0, 5)
    require(
        steps == 2,
        f"道が2つに分かれるとき、{steps} 段と数えました。2段のはずです。近く見えるほうが短いとは限りません。",
    )
    passed("輪、Attention、RNN、窓")
