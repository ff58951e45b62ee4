"""加法スコアのAttention（Bahdanau）：小さなネットワークで、合う度合いを測ります。"""

import numpy as np

from attention_book._inputs import (
    as_boolean,
    as_floating,
    as_sequence,
    broadcast_batch,
    fitting,
    quiet,
    same_length,
    working_dtype,
)
from attention_book.softmax import softmax


def additive_attention(query, key, value, *, query_weight, key_weight, score_weight, mask=None, return_weights=False):
    """小さなネットワークでスコアを作るAttentionです（Bahdanau）。

    スコアは ``tanh(query @ query_weight + key @ key_weight) @ score_weight`` です。
    クエリとキーの次元は、違っていてもかまいません。

    Parameters
    ----------
    query : array_like
        形 ``(..., L, query_dim)``。
    key : array_like
        形 ``(..., S, key_dim)``。
    value : array_like
        形 ``(..., S, value_dim)``。
    query_weight : array_like
        形 ``(query_dim, hidden_dim)``。
    key_weight : array_like
        形 ``(key_dim, hidden_dim)``。
    score_weight : array_like
        形 ``(hidden_dim,)``。
    mask : array_like of bool, optional
        スコアの形 ``(..., L, S)`` に広げられるbool。Trueが「見てよい」です。
    return_weights : bool, default False
        Trueなら重みも返します。

    Returns
    -------
    output : numpy.ndarray
        形 ``(..., L, value_dim)``。
    weights : numpy.ndarray
        形 ``(..., L, S)``。`return_weights` がTrueのときだけ返します。

    Raises
    ------
    TypeError
        入力が実数でないとき、`mask` がboolでないとき。
    ValueError
        形が合わないとき。

    References
    ----------
    Bahdanau et al. (2015), "Neural Machine Translation by Jointly Learning to Align and Translate".

    Examples
    --------
    >>> import numpy as np
    >>> key = np.array([[0.0], [2.0]])
    >>> weight = {"query_weight": [[1.0]], "key_weight": [[1.0]], "score_weight": [1.0]}
    >>> additive_attention([[0.0]], key, key, **weight).round(3)
    array([[1.448]])
    """
    query, key, value = as_sequence("query", query), as_sequence("key", key), as_sequence("value", value)
    query_weight, key_weight = as_sequence("query_weight", query_weight), as_sequence("key_weight", key_weight)
    score_weight = as_floating("score_weight", score_weight)
    hidden = score_weight.shape[-1] if score_weight.ndim else 0
    for name, weight, shape in (
        ("query_weight", query_weight, (query.shape[-1], hidden)),
        ("key_weight", key_weight, (key.shape[-1], hidden)),
        ("score_weight", score_weight, (hidden,)),
    ):
        if weight.shape != shape:
            raise ValueError(f"{name} の形は {shape} にしてください: {weight.shape} が来ました。")
    same_length(key, value)
    batch = broadcast_batch(query=query, key=key, value=value)
    dtype, work = working_dtype(query, key, value, query_weight, key_weight, score_weight)
    query, key, value = (a.astype(work, copy=False) for a in (query, key, value))
    with quiet():
        hidden_query = (query @ query_weight)[..., :, None, :]  # (..., L, 1, hidden)
        hidden_key = (key @ key_weight)[..., None, :, :]  # (..., 1, S, hidden)
        scores = np.tanh(hidden_query + hidden_key) @ score_weight.astype(work)  # (..., L, S)
        scores[scores == -np.inf] = np.nan  # too large a number; only a hidden key has -inf
        if mask is not None:
            mask = fitting("mask", as_boolean("mask", mask), (*batch, *scores.shape[-2:]))
            scores = np.where(mask, scores, -np.inf)
        weights = softmax(scores)  # (..., L, S)
        output = weights @ value  # (..., L, value_dim)
    return (output.astype(dtype), weights.astype(dtype)) if return_weights else output.astype(dtype)
