"""ページのセルを動かして、attention_book/data に書き出します（`nox -s data`）。

重みを作るコードは、ページにしかありません。ここは、それを動かし、残すものを選ぶだけです。
"""

import ast
import contextlib
import io
import json
import re
import sys
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "pages")]

import rules  # noqa: E402  how the cells of a page are read; found by the path above

DATA = ROOT / "attention_book" / "data"
PLACES = 4  # decimals of trained weights: the answers stay the same, the files small


def run(page, name):
    """Run the cells of `page` until one defines `name`; return (what they defined, their code)."""
    scope, source = {}, ""
    for cell in rules.cells((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")):
        source += cell.code + "\n"
        with contextlib.redirect_stdout(io.StringIO()):
            exec(cell.code, scope)
        if name in scope:
            return scope, source
    raise LookupError(f"docs/{page}.md に、{name} を作るセルがありません。ページか export.py を直してください。")


def torch_mha():
    """Return the layer of the page, what went in and what came out, to the last digit."""
    scope, _ = run("torch-mha", "per_head")
    kept = {name: scope[name].tolist() for name in ("tokens", "output", "per_head")}
    return {"state_dict": {name: w.tolist() for name, w in scope["attention"].state_dict().items()}} | kept


def two_heads(model, text, keep=None):
    """Compute `forward` of the page with two heads in each layer."""
    token, place, read, layers = model
    h = token[text] + place
    for W_q, W_k, W_v, W_o in layers:
        q, k, v = ((h @ W).unflatten(-1, (2, -1)).transpose(-2, -3) for W in (W_q, W_k, W_v))
        mixed = torch.nn.functional.scaled_dot_product_attention(q, k, v)
        h = h + mixed.transpose(-2, -3).flatten(-2) @ W_o
    return h @ read, None


def he(seed=0):
    """Return the three models that say who "he" is: {name: model}. `seed` is that of the one with two heads."""
    scope, source = run("self-attention", "two")
    scope["forward"] = two_heads  # `train` of the page, with nothing else changed
    heads = scope["train"](scope["english"], scope["he"], layers=1, seed=seed)
    sentences = next(
        [ast.literal_eval(argument) for argument in node.value.args]
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "english"
    )
    models = {"he-one-layer": (scope["one"], 1), "he-two-layers": (scope["two"], 1), "he-two-heads": (heads, 2)}
    return {name: described(*sentences, *model) for name, model in models.items()}


def described(template, names, verbs, model, num_heads):
    names, verbs = names.split(), verbs.split()
    token, place, read, layers = model
    kept = {"token": rounded(token), "place": rounded(place)}
    for n, (W_q, W_k, W_v, W_o) in enumerate(layers, 1):
        stacked = torch.cat([W_q.T, W_k.T, W_v.T])
        kept[f"layer{n}"] = {"in_proj_weight": rounded(stacked), "out_proj.weight": rounded(W_o.T)}
    words = sorted({*template.replace("{}", "").split(), *names, *verbs})
    head = {"template": template, "names": names, "verbs": verbs, "words": words, "num_heads": num_heads}
    return head | kept | {"read": rounded(read)}


def rounded(weight):
    return [[round(x, PLACES) for x in row] for row in weight.tolist()]


def exports():
    """Return everything that is committed: {name: data}."""
    return {"torch-mha": torch_mha()} | he()


def as_text(data):
    """Write one row of a matrix a line."""
    text = json.dumps(data, indent=1)
    return re.sub(r"\[[^][]*\]", lambda row: re.sub(r"\s+", "", row[0]), text) + "\n"


if __name__ == "__main__":
    for name, data in exports().items():
        (DATA / f"{name}.json").write_text(as_text(data), encoding="utf-8", newline="\n")
