"""multi-head の練習を調べます。"""

import numpy as np

from attention_book.exercises._grade import ask, ask_array, passed, require, require_close
from attention_book.heads import merge_heads, split_heads


def check_heads(split, merge):
    """自分で書いた、ヘッドに分ける関数と、つなぐ関数を調べます。

    Parameters
    ----------
    split : callable
        ``split(x, num_heads)``。形 ``(L, embed_dim)`` から ``(num_heads, L, head_dim)`` を作ります。
    merge : callable
        ``merge(heads)``。`split` の逆です。

    Raises
    ------
    NotYet
        まだ違うとき。文が、分け方、つなぎ方、その両方のどれが違うかを伝えます。

    References
    ----------
    Vaswani et al. (2017), "Attention Is All You Need", 3.2.2節。

    Examples
    --------
    >>> from attention_book import merge_heads, split_heads
    >>> check_heads(split_heads, merge_heads)
    合格です：分け方、つなぎ方、元に戻ること
    """
    num_heads, length, head_dim = 3, 5, 4
    x = np.arange(length * num_heads * head_dim).reshape(length, num_heads * head_dim)
    want = split_heads(x, num_heads)
    heads, joined = ask_array(split, x, num_heads), ask_array(merge, want)
    for name, got, right in (("分けた結果", heads, want), ("つないだ結果", joined, x)):
        require(got.shape == right.shape, f"{name}の形が {got.shape} です。{right.shape} のはずです。")
    split_ok, merge_ok = np.array_equal(heads, want), np.array_equal(joined, x)
    if not (split_ok or merge_ok):
        back = "元に戻りますが、" if np.array_equal(ask(merge, heads), x) else ""
        apart = (heads // x.shape[1] == np.arange(length)[:, None]).all()  # each row has numbers of its own token
        fault = "成分の取り方が違います。" if apart else "ヘッドの中でトークンが混ざっています。"
        require(
            False,
            f"分け方も、つなぎ方も違います。続けて使うと{back}{fault}"
            f"1番目のヘッドの1行目は、先頭から {want[0, 0].astype(int)} のはずです。",
        )
    hint = "reshapeは数の並びを変えません。軸の順を入れ替えてから（またはそのあとで）形を変えます。"
    require_close("分けた結果", heads, want, f"分け方だけが違います。{hint}")
    require_close("つないだ結果", joined, x, f"つなぎ方だけが違います。{hint}")
    passed("分け方、つなぎ方、元に戻ること")


def check_prune_head(answer):
    """ヘッドを1つ取り除いた層の、小さくなったW_Oを作る関数を調べます。

    Parameters
    ----------
    answer : callable
        ``answer(W_o, num_heads, head)``。`W_o` は形 ``(num_heads * head_dim, embed_dim)``、`head` は0からの番号。
        返すのは、そのヘッドが使っていた行を除いた、形 ``((num_heads - 1) * head_dim, embed_dim)`` の行列です。

    Raises
    ------
    NotYet
        まだ違うとき。文が、何が違うかを伝えます。

    References
    ----------
    Michel et al. (2019), "Are Sixteen Heads Really Better than One?"。

    Examples
    --------
    >>> import numpy as np
    >>> def prune(W_o, num_heads, head):
    ...     parts = np.split(W_o, num_heads)
    ...     return np.concatenate(parts[:head] + parts[head + 1 :])
    >>> check_prune_head(prune)
    合格です：そのヘッドの結果を0にした層と、同じ出力
    """
    num_heads, length, head_dim, head = 3, 5, 4, 1
    rng = np.random.default_rng(6)
    heads = rng.normal(size=(num_heads, length, head_dim))
    W_o = rng.normal(size=(num_heads * head_dim, 7))
    small = ask_array(answer, W_o, num_heads, head)
    require(
        small.shape != W_o.shape,
        "W_Oの大きさが変わっていません。0にするのではなく、行を取り除いて小さくします。",
    )
    require(
        small.ndim == 2 and small.shape[1] == W_o.shape[1],
        f"形 {small.shape} の行列が返りました。列は層の出力なので、{W_o.shape[1]} 列のまま残します。",
    )
    rows = (num_heads - 1) * head_dim
    require(len(small) == rows, f"{len(small)} 行になりました。残すのは (num_heads - 1) * head_dim = {rows} 行です。")
    for n in (0, 2):
        gone = np.delete(W_o, slice(n * head_dim, (n + 1) * head_dim), axis=0)
        require(
            not np.array_equal(small, gone), f"head={head} なのに、head={n} の行がなくなっています。番号は0からです。"
        )
    hint = "1つのヘッドが使う行は、続いた head_dim 行です。残りの行は、順番も値も変えません。"
    for n in (head, 0, num_heads - 1):
        small = ask_array(answer, W_o, num_heads, n)
        require(
            small.shape == (rows, W_o.shape[1]), f"head={n} のとき、形が {small.shape} です。行は {rows} のはずです。"
        )
        silent = heads.copy()
        silent[n] = 0
        rest = merge_heads(np.delete(heads, n, axis=0))
        require_close(f"head={n} を除いた層の出力", rest @ small, merge_heads(silent) @ W_o, hint)
    passed("そのヘッドの結果を0にした層と、同じ出力")
