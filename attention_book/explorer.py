"""「he」が誰かを当てるモデルの中を、ヘッドごとに見ます。"""

from typing import NamedTuple

import numpy as np

from attention_book._values import as_length
from attention_book.data import load
from attention_book.heads import split_heads
from attention_book.interactive import Interactive, table
from attention_book.multihead import MultiHeadAttention


class Trace(NamedTuple):
    """:func:`trace` の結果。"""

    words: list
    weights: np.ndarray
    contributions: np.ndarray
    points: np.ndarray


def trace(model, first, second, verb, cut=()):
    """1つの文を読み、どのヘッドが何を見て、答えをどちらへ動かしたかを返します。

    Parameters
    ----------
    model : dict
        :func:`attention_book.data.load` が返す、「he」のモデル。
    first, second : str
        1人目と2人目。``model["names"]`` の、違う2つです。
    verb : str
        動詞。``model["verbs"]`` の1つです。
    cut : sequence of int, optional
        切るヘッドの番号。1層目から順に、0から数えます。切ったヘッドの結果は0になります。

    Returns
    -------
    Trace
        `words` は文の語。`weights` は形 ``(ヘッド, L, L)`` の重み。`contributions` は形 ``(ヘッド, L)`` で、
        「he」が各語から受け取ったものが、1人目の点から2人目の点を引いた差に足した数。`points` は12人の点で、
        いちばん高い人がモデルの答えです。

    Raises
    ------
    TypeError
        `cut` の番号が整数でないとき。
    ValueError
        名前か動詞が、モデルの知らない語のとき。2人が同じとき。`cut` の番号のヘッドがないとき。

    References
    ----------
    Elhage et al. (2021), "A Mathematical Framework for Transformer Circuits"（出力をヘッドごとの和に分ける）。

    Examples
    --------
    >>> from attention_book.data import load
    >>> model = load("he-two-heads")
    >>> for cut in [], [0], [1]:
    ...     found = trace(model, "Alex", "Sam", "begged", cut)
    ...     print(cut, model["names"][found.points.argmax()])
    [] Sam
    [0] Sam
    [1] Max
    """
    names, verbs, vocabulary = (list(model[key]) for key in ("names", "verbs", "words"))
    for word, known in ((first, names), (second, names), (verb, verbs)):
        if word not in known:
            raise ValueError(f"{word!r} は、モデルの知らない語です。{'、'.join(known)} から選んでください。")
    if first == second:
        raise ValueError(f"2人とも {first!r} です。違う2人にしてください。")
    cut = {as_length("cut の番号", n) for n in cut}
    words = model["template"].format(first, second, verb).split()
    he = words.index("he")
    read = model["read"][:, names.index(first)] - model["read"][:, names.index(second)]
    h = model["token"][[vocabulary.index(word) for word in words]] + model["place"]  # (L, E)
    weights, contributions = [], []
    for key in sorted(key for key in model if key.startswith("layer")):
        layer = MultiHeadAttention.from_torch(model[key], model["num_heads"])
        _, w = layer(h, return_weights=True)  # (H, L, L)
        value = split_heads(h @ layer.in_proj_weight[-layer.embed_dim :].T, layer.num_heads)  # (H, L, D)
        given = value @ np.split(layer.out_proj_weight.T, layer.num_heads)  # (H, L, E): what each word would give
        for n in range(layer.num_heads):
            given[n] *= len(weights) + n not in cut
        weights += [*w]
        contributions += [*w[:, he] * (given @ read)]
        h = h + (w @ given).sum(axis=0)
    if cut - set(range(len(weights))):
        raise ValueError(f"cut の番号は0から {len(weights) - 1} の間にしてください: {sorted(cut)}。")
    return Trace(words, np.array(weights), np.array(contributions), h[he] @ model["read"])


def explorer(name, models, first="Alex", second="Sam", verb="trusted"):
    """モデルのヘッドを並べて見る、動かせる図を作ります。

    Parameters
    ----------
    name : str
        図の名前。
    models : dict
        表に書く名前から、:func:`attention_book.data.load` が読む「he」のモデルの名前への対応。
    first, second, verb : str
        はじめに見せる文の、2人と動詞。

    Returns
    -------
    Interactive
        「he」から各語への重み、点、各語から受け取った点の差、最後のヘッドの重み全部の、4つの表。

    Examples
    --------
    >>> explorer("multi-head", {"2ヘッド": "he-two-heads"})
    動かせる図 multi-head：pointer、points、contributions、weights
    """
    models = {label: load(model) for label, model in models.items()}
    found = {label: trace(model, first, second, verb) for label, model in models.items()}
    heads, points = [], []
    for label, model in models.items():
        heads += _heads(label, model, found[label])
        others = dict(zip(model["names"], found[label].points, strict=True))
        points.append([others.pop(first), others.pop(second), max(others.values())])
    words = found[label].words
    weights, contributions = (np.concatenate([t[part] for t in found.values()]) for part in (1, 2))
    columns = {"columns": words, "digits": 2, "heat": True}
    return Interactive(
        name,
        pointer=table("heから各語への重み", weights[:, words.index("he")], rows=heads, **columns),
        points=table("点", points, rows=list(models), columns=[first, second, "ほかの最高"], digits=1),
        contributions=table(
            "heが各語から受け取った点の差（1人目－2人目）", contributions, rows=heads, columns=words, digits=1
        ),
        weights=table(f"{heads[-1]}の重み（行が見る語、列が見られる語）", weights[-1], rows=words, **columns),
    )


def _heads(label, model, found):
    """Name the heads of one model in the order of `trace`."""
    if len(found.weights) == 1:
        return [label]
    unit = "層目" if model["num_heads"] == 1 else "番目"
    return [f"{label}の{n + 1}{unit}" for n in range(len(found.weights))]
