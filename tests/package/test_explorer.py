"""What the heads of a trained model see, and what each adds to the answer."""

from itertools import product

import numpy as np
import pytest
from bs4 import BeautifulSoup

from attention_book import MultiHeadAttention
from attention_book.data import load
from attention_book.explorer import explorer, trace

MODELS = {name: load(name) for name in ("he-one-layer", "he-two-layers", "he-two-heads")}
HEADS = {"he-one-layer": 1, "he-two-layers": 2, "he-two-heads": 2}
SENTENCES = [("Alex", "Sam", "trusted"), ("Sam", "Alex", "begged"), ("Gus", "Ray", "nagged")]
every_model = pytest.mark.parametrize("name", MODELS)
every_sentence = pytest.mark.parametrize("sentence", SENTENCES, ids=" ".join)


def embedded(model, sentence):
    words = list(model["words"])
    return model["token"][[words.index(w) for w in model["template"].format(*sentence).split()]] + model["place"]


@every_sentence
@every_model
def test_trace_is_the_stack_of_layers(name, sentence):
    model = MODELS[name]
    h, weights = embedded(model, sentence), []
    for key in ("layer1", "layer2")[: 2 if name == "he-two-layers" else 1]:
        output, w = MultiHeadAttention.from_torch(model[key], model["num_heads"])(h, return_weights=True)
        h, weights = h + output, [*weights, *w]

    found = trace(model, *sentence)
    assert " ".join(found.words) == model["template"].format(*sentence)
    assert found.weights.shape == (HEADS[name], 9, 9)
    np.testing.assert_allclose(found.weights, weights, rtol=0, atol=1e-14)
    np.testing.assert_allclose(found.points, h[6] @ model["read"], rtol=0, atol=1e-12)


@pytest.mark.parametrize("cut", [[], [0], [-1], [0, -1]], ids=str)
@every_sentence
@every_model
def test_contributions_are_all_that_moves_the_answer(name, sentence, cut):
    """With what the embedding of "he" gives they add up to the difference of the points; a head that is cut gives 0."""
    model, cut = MODELS[name], {n % HEADS[name] for n in cut}  # -1: the last
    found = trace(model, *sentence, cut)
    names = list(model["names"])
    one, two = (names.index(person) for person in sentence[:2])
    start = embedded(model, sentence)[6] @ model["read"]

    assert found.contributions.shape == (HEADS[name], 9)
    total = found.contributions.sum() + start[one] - start[two]
    np.testing.assert_allclose(total, found.points[one] - found.points[two], rtol=0, atol=1e-12)
    assert [not row.any() for row in found.contributions] == [n in cut for n in range(HEADS[name])]


@every_model
def test_a_head_that_is_cut_is_one_whose_matrix_is_zero(name):
    model = MODELS[name]
    for n in range(HEADS[name]):
        key, head = ("layer1", n) if name != "he-two-layers" else (f"layer{n + 1}", 0)
        size = 32 // model["num_heads"]
        out = model[key]["out_proj.weight"].copy()
        out[:, head * size : (head + 1) * size] = 0
        zeroed = model | {key: model[key] | {"out_proj.weight": out}}
        found, want = trace(model, *SENTENCES[0], [n]), trace(zeroed, *SENTENCES[0])
        for got, expected in zip(found[1:], want[1:], strict=True):
            np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12)


def test_the_model_is_not_written_to():
    model = load("he-two-heads")
    trace(model, *SENTENCES[0], [0])
    for key in ("token", "place", "read"):
        assert (model[key] == MODELS["he-two-heads"][key]).all()


@pytest.mark.parametrize(
    ("fragments", "words"),
    [
        ("'Bill'|Alex、Sam|選んで", ("Bill", "Sam", "trusted")),
        ("'Bill'|Alex、Sam|選んで", ("Alex", "Bill", "trusted")),
        ("'hated'|trusted、liked|選んで", ("Alex", "Sam", "hated")),
        ("'Alex'|違う2人", ("Alex", "Alex", "trusted")),
    ],
)
def test_refuses(refuses, fragments, words):
    refuses(ValueError, fragments, lambda: trace(MODELS["he-one-layer"], *words))


@pytest.mark.parametrize(
    ("error", "fragments", "cut"),
    [(ValueError, "cut|0から 1|[2]", [2]), (ValueError, "cut|-1", [-1]), (TypeError, "cut|'1'", ["1"])],
)
def test_a_head_that_is_not_there_cannot_be_cut(refuses, error, fragments, cut):
    refuses(error, fragments, lambda: trace(MODELS["he-two-heads"], *SENTENCES[0], cut))


def tables(models, **sentence):
    found = BeautifulSoup(explorer("self-attention", models, **sentence)._repr_html_(), "html.parser").figure
    assert found["data-figure"] == "self-attention"
    return {table["data-table"]: table for table in found.find_all("table")}


def numbers(table):
    return np.array([[float(cell.text) for cell in row.find_all("td")] for row in table.tbody.find_all("tr")])


def test_explorer_shows_the_heads_of_all_its_models():
    shown = tables({"浅い": "he-one-layer", "深い": "he-two-layers", "広い": "he-two-heads"})
    found = [trace(MODELS[name], "Alex", "Sam", "trusted") for name in MODELS]
    heads = [th.text for th in shown["pointer"].tbody.find_all("th")]
    assert heads == ["浅い", "深いの1層目", "深いの2層目", "広いの1番目", "広いの2番目"]
    assert heads == [th.text for th in shown["contributions"].tbody.find_all("th")]
    for name, part, want in (
        ("pointer", 0.0051, [w[6] for t in found for w in t.weights]),
        ("contributions", 0.051, np.concatenate([t.contributions for t in found])),
        ("weights", 0.0051, found[-1].weights[-1]),
    ):
        np.testing.assert_allclose(numbers(shown[name]), want, rtol=0, atol=part)
        assert [th.text for th in shown[name].thead.find_all("th")] == found[0].words
    assert shown["weights"].caption.text.startswith("広いの2番目の重み")


@pytest.mark.parametrize(("first", "second"), [("Alex", "Sam"), ("Ray", "Alex")])
def test_explorer_shows_the_two_names_and_the_best_of_the_others(first, second):
    shown = tables({"1層": "he-one-layer", "2層": "he-two-layers"}, first=first, second=second, verb="asked")["points"]
    assert [th.text for th in shown.thead.find_all("th")] == [first, second, "ほかの最高"]
    for row, name in zip(numbers(shown), ("he-one-layer", "he-two-layers"), strict=True):
        model = MODELS[name]
        points = dict(zip(model["names"], trace(model, first, second, "asked").points, strict=True))
        want = [points.pop(first), points.pop(second), max(points.values())]
        np.testing.assert_allclose(row, want, rtol=0, atol=0.051)


def test_two_heads_share_the_work():
    """Head 1 finds the first person, head 2 the second; each gives way to a verb of the other's."""
    model = MODELS["he-two-heads"]
    for a, b in product(model["names"][:4], model["names"][4:]):
        for n, verb in enumerate(model["verbs"]):
            one, two = trace(model, a, b, verb).weights[:, 6]
            assert (one[0] > 0.5) == (n < 4)
            assert (two[2] > 0.5) == (n >= 4)
