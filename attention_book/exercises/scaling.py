"""scaling の練習を調べます。"""

import numpy as np

from attention_book.exercises._grade import ask, passed, require, require_close


def check_divisor(answer):
    """スコアの標準偏差を1にするために割る数を、乱数で測って調べます。

    Parameters
    ----------
    answer : callable
        ``answer(d, q_std, k_std)``。クエリとキーの長さと、成分の標準偏差から、割る数を返します。

    Raises
    ------
    NotYet
        まだ違うとき。文が、何が違うかを伝えます。

    References
    ----------
    Vaswani et al. (2017), "Attention Is All You Need", 脚注4。

    Examples
    --------
    >>> check_divisor(lambda d, q_std, k_std: np.sqrt(d))
    Traceback (most recent call last):
        ...
    attention_book.exercises._grade.NotYet: d=16、q_std=2、k_std=1 のスコアを 4 で割ると、標準偏差が 2.0 になりました。クエリを2倍にすると、スコアも2倍です。
    """
    rng = np.random.default_rng(0)
    for d, q_std, k_std, hint in (
        (64, 1, 1, "成分の標準偏差が1なら、分散はdです。標準偏差に直して、割る数を返します。"),
        (16, 2, 1, "クエリを2倍にすると、スコアも2倍です。"),
        (25, 2, 3, "キーを3倍にすると、スコアも3倍です。"),
    ):
        divisor = ask(answer, d, q_std, k_std)
        require(
            np.ndim(divisor) == 0 and np.isreal(divisor) and 0 < divisor < np.inf,
            f"割る数が {divisor!r} です。正の数を1つ返してください。",
        )
        q, k = rng.normal(scale=q_std, size=(4000, d)), rng.normal(scale=k_std, size=(4000, d))
        std = ((q * k).sum(axis=1) / divisor).std()
        require(
            0.9 < std < 1.1,
            f"d={d}、q_std={q_std}、k_std={k_std} のスコアを {divisor:.4g} で割ると、"
            f"標準偏差が {std:.1f} になりました。{hint}",
        )
    passed("測った標準偏差は、どれもほぼ1です")


def check_head_scores(answer):
    """ヘッドの割ったスコアを調べ、割る数を間違えていれば、それが何かを伝えます。

    Parameters
    ----------
    answer : callable
        ``answer(x, W_q, W_k)``。`x` は形 ``(n, embed_dim)``、`W_q` と `W_k` は ``(embed_dim, head_dim)``、
        返すのは形 ``(n, n)`` の割ったスコアです。

    Raises
    ------
    NotYet
        まだ違うとき。文が、何が違うかを伝えます。

    References
    ----------
    Vaswani et al. (2017), "Attention Is All You Need", 3.2.1節。

    Examples
    --------
    >>> check_head_scores(lambda x, W_q, W_k: (x @ W_q) @ (x @ W_k).T / np.sqrt(W_q.shape[1]))
    合格です：head_dimの平方根で割っています
    """
    rng = np.random.default_rng(0)
    x = rng.normal(size=(6, 32))
    W_q, W_k = rng.normal(size=(2, 32, 4)) / np.sqrt(32)
    raw = (x @ W_q) @ (x @ W_k).T
    scores = ask(answer, x, W_q, W_k)
    for divisor, fault in (
        (1, "割っていません"),
        (4, "head_dimそのもので割っています"),
        (np.sqrt(32), "embed_dimの平方根で割っています"),
        (np.sqrt(6), "トークンの数の平方根で割っています"),
    ):
        wrong = np.shape(scores) == raw.shape and np.allclose(scores, raw / divisor)
        require(not wrong, f"スコアを{fault}。内積で足した積の個数を考えましょう。")
    require_close("スコア", scores, raw / 2, "行がクエリ、列がキーです。")
    passed("head_dimの平方根で割っています")
