"""Japanese typography, measured in a browser: lines, gaps, readings, tables and code on a phone."""

import itertools
import re
from pathlib import Path

import pytest
import ruby
from test_html import PAGES, WRITTEN

JA = r"[\u3001-\u30ff\u3400-\u9fff\uff00-\uffef]"
DOCS = Path(__file__).resolve().parents[2] / "docs"
every_page = pytest.mark.parametrize("page", PAGES)

MEASURE = r"""
() => {
  const em = (e) => parseFloat(getComputedStyle(e).fontSize);
  const inner = (e) => {
    const { paddingLeft, paddingRight } = getComputedStyle(e);
    return e.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
  };
  const all = (selector) => [...document.querySelectorAll(selector)];
  const lines = (e) => {
    const range = document.createRange();
    range.selectNodeContents(e);
    const bottoms = [...range.getClientRects()].filter((r) => r.width > 1).map((r) => r.bottom).sort((a, b) => a - b);
    return bottoms.filter((bottom, i) => i === 0 || bottom - bottoms[i - 1] > 10).length;
  };
  const letter = (text, at) => {
    const range = document.createRange();
    range.setStart(text, at);
    range.setEnd(text, at + 1);
    return range.getBoundingClientRect();
  };
  const parted = (e) => {
    const [before, box, after] = [e.previousSibling, e.getBoundingClientRect(), e.nextSibling];
    return (/[（「『【]$/.test(before?.data ?? "") && letter(before, before.length - 1).bottom - 3 < box.top)
      || (/^[、。，．）」』】！？]/.test(after?.data ?? "") && letter(after, 0).top > box.bottom - 3);
  };
  const texts = all("article :is(p, li, dt, dd, summary, h1, h2, h3)").filter((e) => e.checkVisibility());
  const scrolls = (e) => e.scrollWidth > e.clientWidth && getComputedStyle(e).overflowX !== "visible";
  return {
    wide: texts.map((e) => [inner(e) / em(e), e.textContent.slice(0, 30)]).filter(([width]) => width > 40.01),
    scrolling: all("body *").filter(scrolls).map((e) => e.className || e.localName),
    cells: all("td, th").map((e) => [e.textContent.trim(), lines(e)]),
    parted: all("article math").filter(parted).map((e) => [e.previousSibling, e, e.nextSibling].map((n) => n?.textContent)),
    broken: all("article code").filter((e) => e.getClientRects().length > 1).map((e) => e.textContent),
  };
}
"""


@pytest.fixture(scope="module")
def measured(browser, base_url):
    """measured("masks", 375): the facts of the page at that width, folds opened."""
    tab, facts = browser.new_page(locale="ja", reduced_motion="reduce"), {}

    def at(page, width):
        if (page, width) not in facts:
            tab.set_viewport_size({"width": width, "height": 900})
            tab.goto(f"{base_url}{page}.html")
            tab.evaluate("document.querySelectorAll('details').forEach((details) => (details.open = true))")
            facts[page, width] = tab.evaluate(MEASURE)
        return facts[page, width]

    return at


@pytest.mark.parametrize("width", [1280, 1920])
@every_page
def test_lines_have_at_most_40_letters(measured, page, width):
    assert measured(page, width)["wide"] == []


@every_page
def test_only_boxes_scroll(measured, page):
    """Code and formulas, on a phone; the page does not, nor anything else in it, tables neither."""
    boxes = {"highlight", "math-wrapper"}
    others = [name for name in measured(page, 375)["scrolling"] if name != "pre" and not boxes & {*name.split()}]
    assert others == []


@every_page
def test_tables_are_readable_on_a_phone(measured, page):
    """Not a column of single letters: a cell of three lines or more has at least three letters on a line."""
    cells = [(text, lines, len(text) / lines) for text, lines in measured(page, 375)["cells"] if lines >= 3]
    assert [cell for cell in cells if cell[2] < 3] == []


@pytest.mark.parametrize(("page", "word"), [("api", "見てよい"), ("explanation", "1：重み")])
def test_a_short_word_beside_long_texts_stays_on_a_line(measured, page, word):
    lines = [lines for text, lines in measured(page, 375)["cells"] if text == word]
    assert lines
    assert {*lines} == {1}


def test_short_code_stays_on_a_line(measured):
    broken = [text for page in PAGES for text in measured(page, 375)["broken"]]
    assert [text for text in broken if len(text) <= 16] == []
    assert broken  # a long one goes on in the next line


@pytest.mark.parametrize("width", [375, 1280])
def test_no_line_begins_or_ends_between_a_formula_and_its_punctuation(measured, width):
    assert [parts for page in PAGES for parts in measured(page, width)["parted"]] == []


@pytest.mark.parametrize("width", [375, 1280])
def test_long_names_in_cells_break_at_their_seams(hand, width):
    """On a phone; and no part of them breaks."""
    tab = hand("multi-head", viewport={"width": width, "height": 800})
    lines = tab.locator("td code .pre", has_text="MultiHeadAttentionWrapper").evaluate("""(name) => {
      const range = document.createRange();
      const texts = [...name.childNodes].filter((node) => node.nodeType === 3);
      return texts.map((text) => (range.selectNode(text), [...range.getClientRects()].map((line) => line.top)));
    }""")
    assert [len(tops) for tops in lines] == [1, 1, 1, 1]
    assert (len({*itertools.chain(*lines)}) == 1) == (width == 1280)


STYLES = {
    "article p": {"lineBreak": "strict", "overflowWrap": "anywhere", "textAutospace": "normal", "wordBreak": "normal"},
    "article li": {"lineBreak": "strict", "overflowWrap": "anywhere", "textAutospace": "normal"},
    "article td": {"lineBreak": "strict", "overflowWrap": "break-word", "textAutospace": "normal"},
    "article h1": {"wordBreak": "auto-phrase", "lineBreak": "strict", "textAutospace": "normal"},
    "article h2": {"wordBreak": "auto-phrase", "lineBreak": "strict", "textAutospace": "normal"},
    ".sidebar-tree a": {"wordBreak": "auto-phrase"},
    "article pre": {"textAutospace": "no-autospace"},
}


@pytest.mark.parametrize("selector", STYLES)
def test_style(hand, selector):
    style = hand("summary").locator(selector).first.evaluate("(e) => ({ ...getComputedStyle(e) })")
    assert {name: style[name] for name in STYLES[selector]} == STYLES[selector]


def test_lines_are_open(hand):
    tab = hand("masks")
    ratio = "(e) => parseFloat(getComputedStyle(e).lineHeight) / parseFloat(getComputedStyle(e).fontSize)"
    assert tab.locator("article section > p").first.evaluate(ratio) == pytest.approx(1.8)
    assert tab.locator("article li").first.evaluate(ratio) == pytest.approx(1.8)


def test_no_gap_at_the_end_of_a_source_line(soup):
    """Wherever Japanese runs on: paragraphs, titles, cells, definitions, captions, descriptions of functions."""
    gap = re.compile(rf".{{0,9}}{JA}(?:[ \n]+(?={JA})|\n).{{0,9}}|\n(?={JA}).{{0,9}}")
    blocks = "p, li, dt, dd, td, th, summary, caption, figcaption, h1, h2, h3, h4"
    found = [
        (page, match[0])
        for page in PAGES
        for block in soup(page).article.select(blocks)
        if not block.select(f"{blocks}, pre, svg")
        for match in gap.finditer(block.get_text().strip())
    ]
    assert found == []


def test_readings_stand_where_a_word_is_first_read(soup):
    """On each page, over the first that stands in running text; and as the glossary reads it."""
    glossary = (DOCS / "glossary.md").read_text(encoding="utf-8")
    readings = dict(re.findall(r"^(\S+)\n  （([ぁ-ん]+)、", glossary, re.M))
    assert len(ruby.READINGS.keys() & readings.keys()) > 5
    assert {word: kana for word, kana in ruby.READINGS.items() if readings.get(word, kana) != kana} == {}

    read = set()
    for page in WRITTEN:
        text = running(soup(page))
        words = [tag.contents[0] for tag in soup(page).article.find_all("ruby")]
        assert len(words) == len({*words}), page
        for word in words:
            assert text.index(word) == text.index(f"{word}|{ruby.READINGS[word]}|"), (page, word)
        read |= {*words}
    assert read == {*ruby.READINGS}


def running(tree):
    """Return the sentences of the page, readings between bars: outside of tables, links and code."""
    texts = []
    for text in tree.article.find_all(string=True):
        above = {parent.name for parent in text.parents}
        if "p" in above and not above & {"a", "code", "math", "td", "th", "summary"}:
            texts.append(f"|{text}|" if text.parent.name == "rt" else str(text))
    return "".join(texts)


@pytest.mark.parametrize("page", ["masks", "projections"])
def test_readings_are_small_but_legible(hand, page):
    """And a copied sentence holds none."""
    tab = hand(page, viewport={"width": 375, "height": 800})
    size = tab.locator("rt").first.evaluate("(rt) => parseFloat(getComputedStyle(rt).fontSize)")
    assert 8 <= size <= 10
    text = tab.locator("p:has(ruby)").first.evaluate("""(p) => {
      getSelection().selectAllChildren(p);
      return getSelection().toString();
    }""")
    assert tab.locator("rt").first.text_content() not in text
