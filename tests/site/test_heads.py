"""The heads of self-attention and multi-head: their arithmetic against the package, and what a reader does with them."""

import re

import numpy as np
import pytest

from attention_book.data import load
from attention_book.explorer import trace

ONE, TWO, HEADS = "he-one-layer", "he-two-layers", "he-two-heads"
SENTENCES = [("Alex", "Sam", "trusted"), ("Sam", "Alex", "begged"), ("Gus", "Ray", "nagged"), ("Ian", "Bob", "liked")]


@pytest.fixture
def figure(hand):
    """figure("multi-head"): the figure once its script has drawn it, what it says, and its tables."""

    def opened(page, **options):
        tab = hand(page, **options)
        box = tab.locator(f'figure[data-figure="{page}"]')
        box.locator('[role="status"]:not(:empty)').wait_for()
        box.says = lambda words: box.locator('[role="status"]').filter(has_text=words).wait_for()
        return box

    return opened


def table_of(box, name):
    code = "(table) => [...table.tBodies[0].rows].map((row) => [...row.cells].slice(1).map((cell) => cell.textContent))"
    return np.array(box.locator(f"table[data-table={name}]").evaluate(code), dtype=float)


def headings(box, name, part="thead"):
    return box.locator(f"table[data-table={name}] {part} th").all_inner_texts()


def shows(box, files, sentence, cuts=((), ())):
    """Check all that the figure shows of these models against the package."""
    found = [trace(load(file), *sentence, cut) for file, cut in zip(files, cuts, strict=True)]
    weights = np.concatenate([t.weights for t in found])
    np.testing.assert_allclose(table_of(box, "pointer"), weights[:, 6], rtol=0, atol=0.00501)
    contributions = np.concatenate([t.contributions for t in found])
    np.testing.assert_allclose(table_of(box, "contributions"), contributions, rtol=0, atol=0.0501)
    names = list(load(files[0])["names"])
    for row, t in zip(table_of(box, "points"), found, strict=True):
        points = dict(zip(names, t.points, strict=True))
        want = [points.pop(sentence[0]), points.pop(sentence[1]), max(points.values())]
        np.testing.assert_allclose(row, want, rtol=0, atol=0.0501)
    assert headings(box, "points")[:2] == list(sentence[:2])
    for name in ("pointer", "contributions", "weights"):
        assert headings(box, name) == found[0].words
    assert headings(box, "weights", "tbody") == found[0].words
    return weights


@pytest.mark.parametrize("cut", [[], [0], [-1], [0, -1]], ids=str)
@pytest.mark.parametrize("file", [ONE, TWO, HEADS])
def test_arithmetic_is_that_of_the_package(hand, base_url, file, cut):
    heads = len(trace(load(file), *SENTENCES[0]).weights)
    cut = sorted({n % heads for n in cut})  # -1: the last
    tab = hand("glossary")  # a page without figures
    code = f"""async ([file, ...sentence]) => {{
      const {{ trace }} = await import('{base_url}_static/figures/heads.js');
      return trace(await (await fetch(`{base_url}_static/${{file}}.json`)).json(), ...sentence);
    }}"""
    for sentence in SENTENCES:
        here, there = tab.evaluate(code, [file, *sentence, cut]), trace(load(file), *sentence, cut)
        assert here["words"] == there.words
        for part in ("weights", "contributions", "points"):
            np.testing.assert_allclose(here[part], getattr(there, part), rtol=0, atol=1e-12)


def test_the_sentence_is_chosen_from_the_keyboard_only(figure):
    """As the page tells it: with "begged" the pointer of two layers moves, that of one does not."""
    box = figure("self-attention")
    shows(box, (ONE, TWO), ("Alex", "Sam", "trusted"))
    box.says("正しい答えはAlexで、1層はAlexと答えて正解、2層はAlexと答えて正解です。")
    box.says("2層の2層目で、heがいちばん強く見ているのはAlex（重み1.00）です。")

    keyboard = box.page.keyboard
    box.get_by_label("1人目").focus()
    keyboard.press("Tab")
    keyboard.press("Tab")
    keyboard.type("begged")
    box.says("正しい答えはSamで、1層はAlexと答えて不正解、2層はSamと答えて正解です。")
    box.says("2層の2層目で、heがいちばん強く見ているのはSam（重み1.00）です。")
    shows(box, (ONE, TWO), ("Alex", "Sam", "begged"))

    keyboard.press("Tab")
    keyboard.press("Tab")
    keyboard.press("Space")  # cuts layer 1 of 2
    box.says("2層の1層目を切りました。正しい答えはSamで、1層はAlexと答えて不正解、2層はAlexと答えて不正解です。")
    shows(box, (ONE, TWO), ("Alex", "Sam", "begged"), ([], [0]))
    assert box.locator("th.cut").all_inner_texts() == ["2層の1層目"] * 2

    keyboard.press("Tab")
    keyboard.press("Tab")
    keyboard.press("ArrowLeft")  # the whole of layer 1
    box.says("2層の1層目で、heがいちばん強く見ているのはbegged（重み0.31）です。")
    weights = shows(box, (ONE, TWO), ("Alex", "Sam", "begged"), ([], [0]))
    np.testing.assert_allclose(table_of(box, "weights"), weights[1], rtol=0, atol=0.00501)
    assert box.locator("table[data-table=weights] caption").inner_text().startswith("2層の1層目の重み（行が見る語")

    keyboard.press("Tab")
    keyboard.press("Enter")  # back
    box.says("2層の2層目で、heがいちばん強く見ているのはAlex（重み1.00）です。")
    shows(box, (ONE, TWO), ("Alex", "Sam", "trusted"))
    assert box.locator("th.cut").count() == 0


def test_two_heads_are_cut_one_by_one(figure):
    box = figure("multi-head")
    first, second = (box.get_by_role("checkbox", name=f"2ヘッドの{n}番目") for n in (1, 2))
    for verb, right in (("admired", [True, False, True]), ("paid", [True, True, False])):
        box.get_by_label("動詞").select_option(verb)
        box.get_by_label("2人目").select_option("Tom")
        answers = []
        for cut in ([], [0], [1]):
            first.set_checked(cut == [0])
            second.set_checked(cut == [1])
            weights = shows(box, (ONE, HEADS), ("Alex", "Tom", verb), ([], cut))
            np.testing.assert_allclose(table_of(box, "weights"), weights[-1], rtol=0, atol=0.00501)
            cutting = f"2ヘッドの{cut[0] + 1}番目を切りました" if cut else "正しい答えは"
            said = box.locator('[role="status"]').filter(has_text=re.compile(f"^{cutting}")).inner_text()
            answers.append(re.search("2ヘッドは[A-Z][a-z]+と答えて(不?正解)", said)[1] == "正解")
        assert answers == right


def test_two_people_are_never_the_same(figure):
    box = figure("self-attention")
    box.get_by_label("1人目").select_option("Bob")
    shows(box, (ONE, TWO), ("Bob", "Sam", "trusted"))
    taken = [box.get_by_label(f"{n}人目").locator("option:disabled").all_inner_texts() for n in (1, 2)]
    assert taken == [["Sam"], ["Bob"]]


@pytest.mark.parametrize("page", ["self-attention", "multi-head"])
def test_a_model_that_does_not_come_leaves_the_page_whole(hand, base_url, page):
    tab = hand("glossary")
    tab.route("**/he-*.json", lambda route: route.abort())
    tab.goto(f"{base_url}{page}.html", wait_until="networkidle")
    figure = tab.locator(f'figure[data-figure="{page}"]')
    assert figure.locator("table").count() == 4
    assert figure.locator("form").count() == 0


@pytest.mark.parametrize("page", ["self-attention", "multi-head"])
def test_the_lists_are_large_enough_for_fingers_and_do_not_zoom(figure, page):
    box = figure(page, viewport={"width": 375, "height": 800}, has_touch=True)
    for control in box.locator("select, label:has(input), button").all():
        assert control.bounding_box()["height"] >= 44
    for control in box.locator("select").all():
        assert control.evaluate("(e) => parseFloat(getComputedStyle(e).fontSize)") >= 16
    for cell in box.locator("td, th").all():
        assert cell.evaluate("(e) => e.scrollWidth <= e.clientWidth")
    box.get_by_label("動詞").select_option("respected")  # the longest
    box.says("答えて正解")
    right = box.bounding_box()["x"] + box.bounding_box()["width"]
    for part in box.locator("table, select").all():
        assert part.bounding_box()["x"] + part.bounding_box()["width"] <= right
