"""学習したモデルと、PyTorchから書き出した層：ページと、手で動かす図が使います。"""

import json
from importlib import resources

import numpy as np


def load(name):
    """パッケージに入っているデータを、NumPyの配列にして返します。

    どのデータも、ページのセルを動かして書き出したものです。

    torch-mha
        ページtorch-mhaの ``nn.MultiheadAttention`` の重み、入力、出力、ヘッドごとの重み。
    he-one-layer, he-two-layers, he-two-heads
        ページself-attentionの、「he」が誰かを当てるモデル。順に、1ヘッドの1層、1ヘッドの2層、
        2ヘッドの1層で、重みは小数第4位までに丸めてあります。
        `template` は文の型、`names` と `verbs` はそこに入る語、`words` は語の埋め込み `token` の行の順、
        `place` は位置の埋め込み、`read` は「he」の出力から12人の点を作る行列です。

    Parameters
    ----------
    name : str
        データの名前。

    Returns
    -------
    dict
        キーから配列への対応。`state_dict` と `layer1` と `layer2` は、
        :meth:`MultiHeadAttention.from_torch` に渡せるdictです。

    Raises
    ------
    ValueError
        その名前のデータがないとき。

    Examples
    --------
    >>> from attention_book import MultiHeadAttention
    >>> saved = load("torch-mha")
    >>> layer = MultiHeadAttention.from_torch(saved["state_dict"], num_heads=2)
    >>> bool(np.allclose(layer(saved["tokens"]), saved["output"], atol=1e-6))
    True
    """
    files = {file.name.removesuffix(".json"): file for file in resources.files(__name__).iterdir()}
    names = sorted(key for key, file in files.items() if file.name != key)
    if name not in names:
        raise ValueError(f"{name!r} というデータはありません。{'、'.join(names)} のどれかにしてください。")
    return json.loads(files[name].read_text(encoding="utf-8"), object_hook=with_arrays)


def with_arrays(values):
    return {key: np.array(value) if isinstance(value, list) else value for key, value in values.items()}
