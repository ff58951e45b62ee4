"""サイトの全ページを、EPUB 3の1冊にまとめる（nox -s epub が呼びます）。

使い方：python docs/_paper/epub.py サイトのフォルダー できるEPUB

数式はMathML、図はSVGとPNGのままで、畳んだ答えは開いてあり、JavaScriptは入りません。
"""

import io
import os
import re
import sys
import uuid
import zipfile
from datetime import UTC, datetime
from html import escape
from pathlib import Path, PurePosixPath

from book import Book, write
from bs4 import BeautifulSoup

STATIC = Path(__file__).resolve().parents[1] / "_static"
FONT = "latinmodern-math-subset.woff2"
KINDS = {".png": "image/png", ".svg": "image/svg+xml", ".css": "text/css", ".woff2": "font/woff2"}
KINDS |= {".xhtml": "application/xhtml+xml", ".txt": "text/plain"}
SPACES = {"svg": "http://www.w3.org/2000/svg", "math": "http://www.w3.org/1998/Math/MathML"}
CONTAINER = """<?xml version="1.0" encoding="UTF-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="book/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>
"""


def xhtml(book, title, body):
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml"'
        f' xmlns:epub="http://www.idpf.org/2007/ops" lang="{book.language}" xml:lang="{book.language}">'
        f'<head><title>{escape(title)}</title><link rel="stylesheet" href="epub.css"/></head><body>{body}</body></html>\n'
    )


def as_xml(article):
    """Return the inside of the page as XML: the HTML parser wrote SVG's names in small letters."""
    for details in article.find_all("details"):
        details["open"] = ""
    for summary in article.select("summary > .expanded"):
        summary.decompose()  # "close the answer": nothing closes it
    for title in article.select("summary > p"):
        title.name = "span"  # MyST-NB's, which HTML does not allow
    for block in article.select("p:has(ul, ol, dl)"):
        block.name = "div"  # Sphinx's, for docstrings; a browser closes the paragraph by itself
    for entry in article.select("[role=doc-biblioentry]"):
        del entry["role"]  # no longer one
    for kind, space in SPACES.items():
        for element in article.find_all(kind):
            element["xmlns"] = space
            if "viewbox" in element.attrs:
                element["viewBox"] = element.attrs.pop("viewbox")
    for element in article.select("math :is([scriptlevel], [displaystyle])"):
        moved = set() if element.name == "mstyle" else {"scriptlevel"} & element.attrs.keys()
        moved |= set() if element.name in ("mstyle", "mtable") else {"displaystyle"} & element.attrs.keys()
        if moved:  # MathML Core has these everywhere, EPUB's MathML 3 on few elements
            attributes = {key: element.attrs.pop(key) for key in sorted(moved)}
            element.wrap(BeautifulSoup("", "html.parser").new_tag("mstyle", attrs=attributes))
    return article.decode_contents(formatter="minimal")


def entries(book):
    for stem, article in book.chapters.items():
        inside = "".join(
            f'<li><a href="{book.place(stem, h2.parent["id"])}">{escape(h2.get_text())}</a></li>'
            for h2 in article.find_all("h2")
        )
        title = escape(article.h1.get_text())
        yield f'<li><a href="{book.place(stem)}">{title}</a>{f"<ol>{inside}</ol>" if inside else ""}</li>'


def files(site, book):
    """Return {name in the book: bytes}, and the chapters in their order."""
    found = {"epub.css": style(site)}
    found |= {f: (STATIC / "fonts" / f).read_bytes() for f in (FONT, "GUST-FONT-LICENSE.txt")}
    about = f"<p>{escape(book.rights)}</p>" + (f"<p>{escape(book.address)}</p>" if book.address else "")
    cover = f'<section class="cover" epub:type="titlepage"><h1>{escape(book.title)}</h1>{about}</section>'
    found["cover.xhtml"] = xhtml(book, book.title, cover).encode()
    contents = f'<nav epub:type="toc" id="toc"><h1>目次</h1><ol>{"".join(entries(book))}</ol></nav>'
    found["nav.xhtml"] = xhtml(book, "目次", contents).encode()
    for stem, article in book.chapters.items():
        for image in article.find_all("img"):
            found[image["src"]] = (site / image["src"]).read_bytes()
        found[f"{stem}.xhtml"] = xhtml(book, article.h1.get_text(), as_xml(article)).encode()
    return found


def style(site):
    """The look of the text and of the diagrams, with the site's own light colours of code."""
    pygments = (site / "_static" / "pygments.css").read_text(encoding="utf-8")
    light = pygments[: pygments.index("@media")]
    return (Path(__file__).with_suffix(".css").read_text(encoding="utf-8") + "\n" + light).encode()


def package(book, found):
    """Return the list of files, with what XML is inside of each, as readers of EPUB want to know before."""
    rows = []
    for name, data in found.items():
        has = {"mathml": b"<math ", "svg": b"<svg ", "nav": b'epub:type="toc"'}
        properties = " ".join(key for key, mark in has.items() if name.endswith(".xhtml") and mark in data)
        kind = KINDS[PurePosixPath(name).suffix]
        extra = f' properties="{properties}"' if properties else ""
        rows.append(f'<item id="{ident(name)}" href="{name}" media-type="{kind}"{extra}/>')
    spine = ["cover.xhtml", "nav.xhtml", *(f"{stem}.xhtml" for stem in book.chapters)]
    name = uuid.uuid5(uuid.NAMESPACE_URL, book.address or book.title)  # the same book in every build
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id" xml:lang="{book.language}">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="id">urn:uuid:{name}</dc:identifier><dc:title>{escape(book.title)}</dc:title>
<dc:language>{book.language}</dc:language><dc:creator>{escape(book.author)}</dc:creator>
<dc:rights>{escape(book.rights)}</dc:rights><meta property="dcterms:modified">{moment():%Y-%m-%dT%H:%M:%SZ}</meta>
<meta property="schema:accessMode">textual</meta><meta property="schema:accessMode">visual</meta>
<meta property="schema:accessModeSufficient">textual</meta>
<meta property="schema:accessibilityFeature">alternativeText</meta>
<meta property="schema:accessibilityFeature">MathML</meta>
<meta property="schema:accessibilityFeature">tableOfContents</meta>
<meta property="schema:accessibilityHazard">none</meta>
</metadata>
<manifest>{"".join(rows)}</manifest>
<spine>{"".join(f'<itemref idref="{ident(name)}"/>' for name in spine)}</spine></package>
"""


def ident(name):
    return "f-" + re.sub(r"\W", "-", name)


def moment():
    """The commit's time, which the noxfile gives: the same sources give the same bytes."""
    return datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", 315532800)), UTC)


def make(site, target):
    book = Book(site, link="{page}.xhtml")
    found = files(site, book)
    found["book.opf"] = package(book, found).encode()
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as book_file:
        date = moment().timetuple()[:6]
        book_file.writestr(zipfile.ZipInfo("mimetype", date), b"application/epub+zip")  # first, and not compressed
        rows = {"META-INF/container.xml": CONTAINER.encode()} | {f"book/{name}": found[name] for name in sorted(found)}
        for name, content in rows.items():
            info = zipfile.ZipInfo(name, date)
            info.compress_type = zipfile.ZIP_DEFLATED
            book_file.writestr(info, content)
    write(target, data.getvalue())
    print(f"{target}：{len(book.chapters)}章、{target.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    make(Path(sys.argv[1]), Path(sys.argv[2]))
