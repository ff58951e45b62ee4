"""The book to take away: the PDF and the EPUB that are made of the built site.

The sessions `pdf` and `epub` read every page; here a few pages are enough, and take seconds.
"""

import os
import re
import subprocess
import sys
import unicodedata
import zipfile
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urldefrag
from xml.etree import ElementTree

import pytest
from bs4 import BeautifulSoup
from pdf import marks as every_mark
from pypdf import PdfReader

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["weighted-lookup", "masks", "sheet", "glossary"]
XHTML = "{http://www.w3.org/1999/xhtml}"


@pytest.fixture
def small(site, tmp_path):
    """A site of a few of the pages."""
    folder = tmp_path / "site"
    folder.mkdir()
    for path in site.iterdir():
        (folder / path.name).symlink_to(path)
    tree = BeautifulSoup((site / "index.html").read_text(encoding="utf-8"), "html.parser")
    for link in tree.select(".sidebar-tree a.reference.internal"):
        if link["href"].removesuffix(".html") not in PAGES:
            link.decompose()
    change(folder / "index.html", str(tree))
    return folder


def change(path, text):
    path.unlink()
    path.write_text(text, encoding="utf-8")


def make(kind, site, target, **variables):
    command = [sys.executable, f"docs/_paper/{kind}.py", str(site), str(target)]
    env = os.environ | {"PYTHONUTF8": "1"} | variables
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, encoding="utf-8")


@pytest.fixture
def chromium(browser):
    """Skip or fail without a browser, as all tests of the site do; the scripts find it by themselves."""


def plain(text):
    """Without spaces, and with 見 where a font gives the radical ⾒."""
    return re.sub(r"\s", "", unicodedata.normalize("NFKC", text))


@pytest.mark.usefixtures("chromium")
def test_pdf_is_a_book(small, soup, tmp_path):
    """A cover, contents with the right page numbers, bookmarks, tags, answers, and letters that are text."""
    run = make("pdf", small, tmp_path / "book.pdf")
    assert run.returncode == 0, run.stderr
    reader = PdfReader(tmp_path / "book.pdf")
    texts = [plain(page.extract_text()) for page in reader.pages]
    marks = [mark for mark in reader.outline if not isinstance(mark, list)]

    assert reader.metadata.title == "動かして確かめるAttention"
    assert reader.metadata.author == "動かして確かめるAttentionの執筆者"
    assert reader.root_object["/Lang"] == "ja"
    assert reader.root_object["/MarkInfo"]["/Marked"]
    assert len(marks) == 1 + len(PAGES)
    headings = (tag for page in ["index", *PAGES] for tag in soup(page).article.select("h1, h2, h3, h4"))
    written = [plain(tag.get_text().removesuffix(tag.select_one(".headerlink").get_text())) for tag in headings]
    assert [plain(mark.title) for mark in every_mark(reader.outline)] == ["はじめに", *written[1:]]
    starts = [reader.get_destination_page_number(mark) + 1 for mark in marks]
    for mark, start, end in zip(marks, starts, [*starts[1:], None], strict=True):
        title = plain(mark.title)
        assert title in texts[start - 1]  # there it begins
        assert all(title in text for text in texts[start : end and end - 1])  # a running head
        assert re.search(re.escape(title) + str(start), texts[1])  # a row of the contents
    assert all(text.count(str(number)) for number, text in enumerate(texts[1:], 2))
    whole = "".join(texts)
    assert "自分自身に1です。" in whole  # a folded answer
    assert "解答を閉じる" not in whole
    assert "実行（初回は" not in whole
    figures = [image for page in ["index", *PAGES] for image in soup(page).article.find_all("img")]
    assert len(figures) >= 2
    assert (tmp_path / "book.pdf").read_bytes().count(b"/Subtype /Image") == len(figures)  # and no shadows of boxes
    assert list(tmp_path.glob("*.new")) == []


@pytest.mark.usefixtures("chromium")
def test_a_wrong_pdf_is_not_written(small, tmp_path):
    text = (small / "masks.html").read_text(encoding="utf-8")
    change(small / "masks.html", text.replace("<h1>", '<p><a href="#nowhere">x</a></p><h1>', 1))
    run = make("pdf", small, tmp_path / "book.pdf")
    assert run.returncode == 1
    assert "リンク #masks/nowhere の行き先が、PDFの中にありません。" in run.stderr
    assert not (tmp_path / "book.pdf").exists()


def test_without_a_browser_the_pdf_says_what_to_do(small, tmp_path):
    (tmp_path / "book.pdf").write_text("of before")
    run = make("pdf", small, tmp_path / "book.pdf", BOOK_BROWSER="/nowhere/chromium")
    assert run.returncode == 1
    assert "apt-get install chromium" in run.stderr
    assert "BOOK_BROWSER" in run.stderr
    assert (tmp_path / "book.pdf").read_text() == "of before"


def test_epub_is_whole(site, tmp_path):
    """All pages, as XML; each file is listed once, each link arrives, and what is inside of a page is announced."""
    run = make("epub", site, tmp_path / "book.epub")
    assert run.returncode == 0, run.stderr
    with zipfile.ZipFile(tmp_path / "book.epub") as book:
        first = book.infolist()[0]
        assert (first.filename, first.compress_type, book.read(first)) == ("mimetype", 0, b"application/epub+zip")
        files = {name.removeprefix("book/"): book.read(name) for name in book.namelist() if name.startswith("book/")}
    package = ElementTree.fromstring(files.pop("book.opf"))
    items = {item.get("href"): item for item in package.iter("{http://www.idpf.org/2007/opf}item")}
    assert items.keys() == files.keys()
    assert [n for n in files if PurePosixPath(n).suffix in (".js", ".html")] == []
    pages = {name: ElementTree.fromstring(data) for name, data in files.items() if name.endswith(".xhtml")}
    written = {f"{path.stem}.xhtml" for path in (ROOT / "docs").glob("*.md")}
    assert pages.keys() == written | {"cover.xhtml", "nav.xhtml"}
    ids = {name: [e.get("id") for e in tree.iter() if e.get("id")] for name, tree in pages.items()}
    lost, chapters = [], {item.get("idref") for item in package.iter("{http://www.idpf.org/2007/opf}itemref")}
    for name, tree in pages.items():
        assert items[name].get("id") in chapters
        assert len(ids[name]) == len(set(ids[name])), name
        kinds = {element.tag for element in tree.iter()}
        assert kinds.isdisjoint({f"{XHTML}{tag}" for tag in ("script", "button", "input", "svg", "math")}), name
        announced = set((items[name].get("properties") or "").split())
        assert ("{http://www.w3.org/1998/Math/MathML}math" in kinds) == ("mathml" in announced)
        assert ("{http://www.w3.org/2000/svg}svg" in kinds) == ("svg" in announced)
        assert all(details.get("open") is not None for details in tree.iter(f"{XHTML}details"))
        assert all(image.get("src") in files and image.get("alt") for image in tree.iter(f"{XHTML}img"))
        for link in tree.iter(f"{XHTML}a"):
            target, place = urldefrag(link.get("href"))
            if not target.startswith(("http:", "https:")):
                target = target or name
                if target not in pages or (place and unquote(place) not in ids[target]):
                    lost.append((name, link.get("href")))
    assert lost == []
    assert b'href="mask-apis.xhtml' in files["masks.xhtml"]
    assert files["masks.xhtml"].count(b"viewBox=") == 1


def test_the_same_site_gives_the_same_epub(small, tmp_path):
    for name in ("one", "two"):
        assert make("epub", small, tmp_path / name, PYTHONHASHSEED=str(len(name) + ord(name[0]))).returncode == 0
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
