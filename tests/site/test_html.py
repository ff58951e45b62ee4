"""The HTML of every page, read without a browser: links, language, structure, and what an executed page owes."""

import re
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
WRITTEN = sorted(path.stem for path in DOCS.glob("*.md"))
PAGES = [*WRITTEN, "genindex", "search", "404"]
LESSONS = [
    "why-attention",
    "weighted-lookup",
    "by-hand",
    "projections",
    "scaling",
    "self-attention",
    "masks",
    "multi-head",
    "torch-mha",
    "mask-apis",
    "positions",
    "cost",
    "inside",
    "explanation",
    "summary",
    "capstone",
]
JA = r"[\u3001-\u30ff\u3400-\u9fff\uff00-\uffef]"
ENGLISH = ["Skip to content", "Back to top", "On this page", "Next", "Previous", "Toggle ", "Made with", "Link to this"]
TEX = [r"\\[A-Za-z]+", r"\$", r"\*\*", r"\{(ref|cite)\b", r"\{[\w:]+\}`", "```", ":::"]
LINKS = "href", "xlink:href", "src", "action", "poster", "data"
IDS = "for", "aria-labelledby", "aria-describedby", "aria-controls", "headers", "list"
LOADS = {"src", "srcset", "data", "poster"}  # besides, href of <link> and <use>

every_page = pytest.mark.parametrize("page", PAGES)
every_lesson = pytest.mark.parametrize("page", LESSONS)


def visible(tree, *without):
    """Yield the texts that a reader sees, outside of the elements named."""
    hidden = {"script", "style", "title", "desc", "noscript", *without}
    for text in tree.body.find_all(string=True):
        if not any(parent.name in hidden for parent in text.parents):
            yield str(text)


def headings(tree, level):
    return [h.get_text().removesuffix("¶") for h in tree.article.find_all(level)]


def section(tree, title):
    found = [h.parent for h in tree.article.find_all("h2") if h.get_text().removesuffix("¶") == title]
    assert len(found) == 1, f"「{title}」の節が{len(found)}個あります"
    return found[0]


def cells(tree):
    return tree.article.select("div.cell")


def code(cell):
    return "".join(pre.get_text() for pre in cell.select(".cell_input pre"))


@every_page
def test_language(soup, page):
    assert soup(page).html["lang"] == "ja"


@every_page
def test_title_and_one_h1(soup, page):
    tree = soup(page)
    assert re.search(JA, tree.title.get_text())
    assert len(tree.find_all("h1")) == 1


@every_page
def test_captions_of_the_site_s_contents_are_headings_of_level_2(soup, page):
    levels = [tag["aria-level"] for tag in soup(page).select("[role=heading]")]
    assert levels
    assert {*levels} == {"2"}


@every_page
def test_no_duplicate_ids(soup, page):
    ids = [tag["id"] for tag in soup(page).find_all(id=True)]
    assert sorted(ids) == sorted(set(ids))


@every_page
def test_internal_links_resolve(soup, site, page):
    """Every file that the page names is there, and every anchor: also those of labels and descriptions."""
    tree, links, broken = soup(page), [], []
    for tag in tree.find_all(True):
        links += [str(tag[name]) for name in LINKS if tag.get(name)]
        links += [f"#{i}" for name in IDS for i in " ".join(tag.get_attribute_list(name, "")).split()]
        links += re.findall(r"url\((#[^)]+)\)", " ".join(map(str, tag.attrs.values())))  # markers and fills of SVG
    for link in (link.removeprefix("/book/") for link in links):
        address, anchor = urldefrag(urljoin(f"{page}.html", link))
        if urlsplit(address).scheme or address.startswith("data:"):
            continue
        target = site / unquote(urlsplit(address).path)
        lost = (
            anchor and target.suffix == ".html" and target.is_file() and not soup(target.stem).find(id=unquote(anchor))
        )
        if lost or not target.is_file():
            broken.append(link)
    assert links
    assert broken == []


@every_page
def test_nothing_loads_from_another_host(soup, page):
    loaded = [
        str(value)
        for tag in soup(page).find_all(True)
        for name, value in tag.attrs.items()
        if name in LOADS or (name in ("href", "xlink:href") and tag.name in ("link", "use", "image"))
        if tag.get("rel") != ["canonical"]  # a name, which nothing loads
    ]
    assert loaded
    assert [x for x in loaded if re.match(r"(\w+:)?//", x)] == []


def test_styles_load_nothing_from_another_host(site):
    styles = list(site.glob("_static/**/*.css"))
    assert styles
    pattern = re.compile(r"""(?:url\(|@import)\s*["']?(?:https?:)?//[^)"']*""")
    assert {s.name: found for s in styles if (found := pattern.findall(s.read_text(encoding="utf-8")))} == {}


@every_page
def test_no_raw_markup(soup, page):
    """No TeX, no stars of emphasis, no roles or fences in what the reader sees."""
    texts = [text for text in visible(soup(page), "pre", "code", "math") if not re.fullmatch(r"\*\*\w*", text)]
    text = "\n".join(texts)  # without Python's **names
    assert text.strip()
    assert [match[0] for pattern in TEX for match in re.finditer(pattern, text)] == []


@every_page
def test_no_english_of_the_theme(soup, page):
    tree = soup(page)
    said = [*visible(tree, "pre", "code", "math")]
    said += [str(tag[a]) for tag in tree.find_all(True) for a in ("aria-label", "title", "placeholder") if tag.get(a)]
    assert [(word, text.strip()) for text in said for word in ENGLISH if word in text] == []


@every_page
def test_theme_speaks_japanese(soup, page):
    """Around the text of the page, but for links by title; and in the parts that a function is described in."""
    tree = soup(page)
    links = {
        text for link in tree.select(".sidebar-tree a, .toc-tree a, .related-pages .title") for text in link.strings
    }
    around = [text for text in visible(tree, "article") if text.strip() and text not in links]
    parts = [part.get_text() for part in tree.select("dt.field-odd, dt.field-even, .rubric, .related-pages .title")]
    landmarks = [aside.get("aria-label", "") for aside in tree.find_all("aside")]
    assert len(landmarks) == 2
    assert {text for text in around + parts + landmarks if not re.search(JA, text)} == {"Furo"}


@every_page
def test_table_headers_say_what_they_are_for(soup, page):
    assert [str(th) for th in soup(page).find_all("th") if th.get("scope") not in ("col", "row")] == []


@every_page
def test_names_are_japanese(soup, page):
    """What assistive technology or a tooltip says, but for entries of the bibliography and names of Python."""
    names = [
        str(tag[name])
        for tag in soup(page).find_all(True)
        for name in ("aria-label", "title", "placeholder")
        if tag.get(name) and not (name == "title" and tag.get("href", "").startswith("references.html#"))
    ]
    assert names
    assert [name for name in names if not re.search(JA, name) and not re.fullmatch(r"[\w.]+", name, re.A)] == []


def test_icons_are_japanese(soup):
    """The <title> of an icon is its tooltip and its name."""
    titles = {title.get_text() for page in PAGES for title in soup(page).select("svg title")}
    assert titles
    assert sorted(title for title in titles if not re.search(JA, title)) == []


@every_page
def test_images_have_japanese_alt(soup, page):
    alts = [image.get("alt", "") for image in soup(page).find_all("img")]
    assert [alt for alt in alts if len(alt) < 10 or not re.search(JA, alt)] == []


def test_some_page_has_an_image(soup):
    assert sum(len(soup(page).article.find_all("img")) for page in LESSONS) >= 2


@every_page
def test_japanese_lines_are_joined(soup, page):
    """A line end or a space between two Japanese letters shows as a gap."""
    texts = [p.get_text() for p in soup(page).article.select("p:not(:has(p)), h1, h2, h3")]
    pattern = re.compile(rf".{{0,9}}{JA}(?:\s+(?={JA})|\n).{{0,9}}|\n(?={JA}).{{0,9}}")
    assert [match[0] for text in texts for match in pattern.finditer(text.strip())] == []


@pytest.mark.parametrize("page", WRITTEN)
def test_cells_that_print_have_output(soup, page):
    silent = [
        code(cell)
        for cell in cells(soup(page))
        if re.search(r"^(?!def |class )\s*(?:\w.*)?\bprint\(", code(cell), re.M)
        and not any(pre.get_text().strip() for pre in cell.select(".cell_output pre"))
    ]
    assert silent == []


@every_lesson
def test_figure_cells_have_an_image(soup, page):
    for cell in cells(soup(page)):
        if re.search(r"^(heatmap|line_plot)\(", code(cell), re.M):
            assert cell.select(".cell_output img")


@every_lesson
def test_lesson_has_cells_with_output(soup, page):
    assert soup(page).select(".cell_output pre")


@every_lesson
def test_goals(soup, page):
    first = soup(page).article.select("div.admonition")[0]
    assert first.select_one(".admonition-title").get_text() == "このページの目標"
    assert len(first.find_all("li")) >= 3


@every_lesson
def test_sources(soup, page):
    """The last section links at least one entry of the bibliography."""
    tree = soup(page)
    assert headings(tree, "h2")[-1] == "出典"
    assert section(tree, "出典").select('a[href^="references.html#"]')


@pytest.mark.parametrize("page", [page for page in LESSONS if page != "summary"])
def test_questions(soup, page):
    """At least three folded questions, each with an answer."""
    questions = section(soup(page), "確認").find_all("details")
    assert len(questions) >= 3
    for question in questions:
        summary = question.summary.get_text().strip()
        assert not question.has_attr("open")
        assert len(summary) >= 8
        assert len(question.get_text().strip()) > len(summary) + 3
