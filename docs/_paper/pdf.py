"""サイトの全ページを1冊にとじて、ChromiumでPDFに印刷する（nox -s pdf が呼びます）。

使い方：python docs/_paper/pdf.py サイトのフォルダー できるPDF

できたPDFを調べ、文字の埋め込み、リンク、しおりのどれかが約束と違えば、ファイルを残さずに失敗します。
"""

import html
import io
import logging
import os
import re
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote, urlsplit

from book import Book, write
from playwright.sync_api import sync_playwright
from pypdf import PdfReader, PdfWriter
from pypdf.generic import NameObject, TextStringObject

HOST = "http://book/"  # nobody's: Playwright answers from the folder, and nothing else is asked
BROWSERS = "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"

logging.getLogger("pypdf").setLevel(logging.ERROR)  # it warns that Chromium counts its objects a few too low


def bound(book, numbers):
    """Return the HTML; numbers is {id: page}, empty before the first print."""
    heads, contents, chapters = [], [], []
    for stem, article in book.chapters.items():
        title = article.h1.get_text()
        running = re.sub(r'["\\]', r"\\\g<0>", title)
        heads.append(f'@page {stem} {{ @top-right {{ content: "{running}"; }} }}')
        sections = "".join(entry(h2.parent["id"], h2, numbers) for h2 in article.find_all("h2"))
        contents.append(entry(f"page-{stem}", article.h1, numbers, f"<ul>{sections}</ul>"))
        chapters.append(f'<div class="chapter" id="page-{stem}" style="page: {stem}">{article.decode_contents()}</div>')
    links = "".join(f'<link rel="stylesheet" href="{html.escape(style)}">' for style in book.styles)
    own = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
    return (
        f'<!doctype html><html lang="{book.language}"><head><meta charset="utf-8"><title>{book.title}</title>{links}'
        f"<style>{book.variables}{own}{''.join(heads)}</style></head>"
        f'<body data-theme="light"><div class="content"><article role="main">'
        f'<div class="cover"><p class="title">{book.title}</p><p>{book.rights}</p><p>{book.address}</p></div>'
        f'<nav class="book-contents"><p class="title">目次</p><ul>{"".join(contents)}</ul></nav>'
        f"{''.join(chapters)}</article></div></body></html>"
    )


def entry(place, heading, numbers, inside=""):
    """A row of the contents. Numbers of the first print are as wide as real ones, so that no page moves."""
    return (
        f'<li><a href="#{place}"><span>{heading.decode_contents()}</span><span>{numbers.get(place, 100)}</span></a>'
        f"{inside}</li>"
    )


def printed(browser, site, page):
    """Return the PDF that the browser makes of the page, for which only the site's files are there."""

    def answer(route):
        path = unquote(urlsplit(route.request.url).path)
        if not route.request.url.startswith(HOST):
            route.abort()
        elif path == "/":
            route.fulfill(body=page, content_type="text/html; charset=utf-8")
        else:
            route.fulfill(path=site / path[1:])

    context = browser.new_context(java_script_enabled=False, locale="ja")
    context.set_default_timeout(300_000)
    context.route("**/*", answer)
    tab = context.new_page()
    tab.goto(HOST)
    pdf = tab.pdf(prefer_css_page_size=True, print_background=True, tagged=True, outline=True)
    context.close()
    return pdf


def places(reader):
    """Return {id: page number} for what a link leads to."""
    found = reader.named_destinations
    return {unquote(name.lstrip("/")): reader.get_destination_page_number(to) + 1 for name, to in found.items()}


def marks(outline):
    """Return the bookmarks with those inside of them, in the order of the text."""
    return [mark for item in outline for mark in (marks(item) if isinstance(item, list) else [item])]


def headings(book):
    return [h.get_text() for c in book.chapters.values() for h in c.find_all(re.compile("^h[1-6]$"))]


def faults(reader, book):
    """Yield what is not as promised, in Japanese."""
    for number, page in enumerate(reader.pages, 1):
        if [round(side / 72 * 25.4) for side in page.mediabox[2:]] != [210, 297]:
            yield f"{number}ページの紙がA4ではありません。docs/_paper/pdf.css の @page を調べてください。"
        for font in page.get("/Resources", {}).get("/Font", {}).values():
            font = font.get_object()
            if font["/Subtype"] == "/Type3":
                continue  # its letters are drawn in the file itself
            inner = font.get("/DescendantFonts", [font])[0].get_object()
            if not any(key.startswith("/FontFile") for key in inner.get("/FontDescriptor", {})):
                yield f"{number}ページのフォント {font.get('/BaseFont')} が埋め込まれていません。"
    known = set(places(reader))
    wanted = {unquote(a["href"][1:]) for c in book.chapters.values() for a in c.find_all("a", href=re.compile("^#"))}
    for place in sorted(wanted - known):
        yield f"リンク #{place} の行き先が、PDFの中にありません。"
    chapters = [mark.title for mark in reader.outline if not isinstance(mark, list)]
    titles = [chapter.h1.get_text() for chapter in book.chapters.values()]
    if [re.sub(r"\s", "", mark) for mark in chapters] != [re.sub(r"\s", "", title) for title in titles]:
        yield f"しおりが、章の題と違います。\nしおり：{chapters}\n章の題：{titles}"
    if len(marks(reader.outline)) != len(headings(book)):
        yield f"しおりは{len(marks(reader.outline))}個、見出しは{len(headings(book))}個です。"


def browser_path():
    """Return the browser that BOOK_BROWSER names, or else the first that is installed, or None."""
    return os.environ.get("BOOK_BROWSER") or next(filter(None, map(shutil.which, BROWSERS)), None)


def make(site, target):
    path = browser_path()
    if not path or not shutil.which(path):
        return (
            "PDFを作るブラウザーがありません。Chromium（Debianなら apt-get install chromium fonts-noto-cjk）か"
            "Google Chromeを入れるか、その場所を環境変数 BOOK_BROWSER に書いて、もう一度実行してください。"
        )
    book = Book(site, link="#page-{page}", prefix="{page}/")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        numbers = places(PdfReader(io.BytesIO(printed(browser, site, bound(book, {})))))
        reader = PdfReader(io.BytesIO(printed(browser, site, bound(book, numbers))))
        browser.close()
    found = list(faults(reader, book))
    if places(reader) != numbers:
        found.append(
            "目次のページ番号が、2度目の印刷で動きました。docs/_paper/pdf.css の .book-contents を調べてください。"
        )
    if found:
        return "\n".join(["PDFが約束と違うので、書きませんでした。", *found])
    writer = PdfWriter(clone_from=reader)
    for mark, title in zip(marks(writer.outline), headings(book), strict=True):
        # Chromium doubles the title of a heading that it moved to the next page
        mark.node[NameObject("/Title")] = TextStringObject(title)
    date = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", 0)), UTC).strftime("D:%Y%m%d%H%M%SZ")
    writer.metadata = {"/Title": book.title, "/Author": book.author, "/CreationDate": date, "/ModDate": date}
    data = io.BytesIO()
    writer.write(data)
    write(target, data.getvalue())
    print(f"{target}：{len(reader.pages)}ページ、{target.stat().st_size / 1e6:.1f} MB")
    return None


if __name__ == "__main__":
    sys.exit(make(Path(sys.argv[1]), Path(sys.argv[2])))
