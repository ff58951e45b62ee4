"""できたサイトのHTMLから、本の中身を章の順に取り出す（pdf.py と epub.py が使います）。

照合の済んだサイトをそのまま使うので、PDFとEPUBの出力も、サイトと同じです。
"""

from pathlib import Path
from urllib.parse import urldefrag, urljoin, urlsplit

from bs4 import BeautifulSoup

NOT_IN_A_BOOK = ".headerlink, .notebook"  # what only a browser can use
POINTING = "id", "for", "headers", "aria-labelledby", "aria-describedby", "aria-controls"  # attributes that name ids


class Book:
    """title, author, rights, language, address ("" when the site does not know its own), styles, variables (furo's, with the
    fonts), chapters ({stem: article})."""

    def __init__(self, site, link, prefix=""):
        """`link` is where page {page} is in the book, and `prefix` what its ids get, to be unique there."""
        home = parse(site / "index.html")
        names = [a["href"] for a in home.select(".sidebar-tree a.reference.internal") if a["href"] != "#"]
        pages = {"index.html": home} | {name: parse(site / name) for name in names}
        canonical = home.find("link", rel="canonical")
        styles = (link["href"] for page in pages.values() for link in page.find_all("link", rel="stylesheet"))
        self.title = home.select_one(".sidebar-brand-text").get_text(strip=True)
        self.rights = home.select_one(".copyright").get_text(strip=True)
        self.author = self.rights.removeprefix("©").partition("。")[0].strip()
        self.language = home.html["lang"]
        self.address = urljoin(canonical["href"], ".") if canonical else ""
        self.variables = "".join(style.get_text() for style in home.head.find_all("style"))
        self.styles = list(dict.fromkeys(styles))
        self.link, self.prefix, self.names = link, prefix, set(pages)
        self.chapters = {Path(name).stem: self.chapter(Path(name).stem, page) for name, page in pages.items()}

    def chapter(self, stem, page):
        article = page.find("article", role="main")
        for element in article.select(NOT_IN_A_BOOK):
            element.decompose()
        if stem == "index":
            article.h1.string = "はじめに"  # the book's title stands on the cover
        prefix = self.prefix.format(page=stem)
        for element in article.find_all(True):
            for key in set(POINTING) & element.attrs.keys():
                element[key] = " ".join(prefix + name for name in element.get_attribute_list(key))
            for key, value in element.attrs.items():
                if isinstance(value, str):
                    element[key] = value.replace("url(#", f"url(#{prefix}")
        for a in article.find_all("a", href=True):
            name, place = urldefrag(a["href"])
            name = name or f"{stem}.html"
            if name in self.names:
                a["href"] = self.place(Path(name).stem, place)
            elif not urlsplit(name).scheme:
                if self.address:
                    a["href"] = urljoin(self.address, a["href"])
                else:
                    a.unwrap()  # a file of the site, which is nowhere yet
        return article

    def place(self, stem, name=""):
        """Return the link to a page, or to the element of that name in it."""
        link = self.link.format(page=stem)
        return (f"{link.partition('#')[0]}#{self.prefix.format(page=stem)}{name}") if name else link


def parse(file):
    return BeautifulSoup(file.read_text(encoding="utf-8"), "html.parser")


def write(target, data):
    """Write all or nothing: a run that is stopped leaves the old file."""
    target.parent.mkdir(parents=True, exist_ok=True)
    new = target.with_name(f"{target.name}.new")
    try:
        new.write_bytes(data)
        new.replace(target)
    finally:
        new.unlink(missing_ok=True)
