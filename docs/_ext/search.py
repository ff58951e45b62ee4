"""検索の索引を、できたページからPagefindで作る。Sphinxの検索は、日本語の複合語を見つけられないので、使わない。

Pagefindには、本文の写しを読ませます。写しでは、見出し、用語、関数が自分の住所（id）を持ち、数式は1行の文字です。
Pagefindとブラウザーは、日本語を違う所で切ります（Pagefind/pagefind#1237）。そこで題の一覧（titles.json）も書き、
docs/_static/search/find.js が、題は1文字ずつ比べ、本文はPagefindで探します。
"""

import gzip
import html
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

from sphinx.errors import ExtensionError

# Scripts of Sphinx that serve its own search and nothing else; a strict content policy refuses the last one.
REPLACED = {"documentation_options", "doctools", "sphinx_highlight", "searchtools", "language_data", "translations"}
# What the site loads of that which Pagefind writes; the rest are ready-made forms.
LOADED = ["pagefind.js", "pagefind-worker.js", "pagefind-entry.json", "*.pf_meta", "*.pagefind", "fragment", "index"]
# Printed numbers are not what anybody looks for; the words of an error are.
IGNORED = ".headerlink, .section-number, .notebook, .output.stream, .output.text_plain, .output.text_html"
BETWEEN = {"msub": "_", "msup": "^", "mfrac": "/"}


def as_text(node):
    """Return a formula on one line: √d_k."""
    own = (node.text or "").strip().replace("\N{FUNCTION APPLICATION}", " ")
    parts = BETWEEN.get(node.tag, "").join(map(as_text, node))
    return f"√{parts}" if node.tag == "msqrt" else own + parts


def formula(match):
    """Return the text of a formula in HTML, some of whose names (&ApplyFunction;) XML does not know."""
    known = re.sub(r"&(?!(?:lt|gt|amp|quot|#\w+);)\w+;", lambda name: html.unescape(name[0]), match[0])
    return html.escape(as_text(ElementTree.fromstring(known)))


def copy_of(page, name):
    """Return the article as Pagefind shall read it."""
    article = "".join(re.findall("<article.*</article>", page, re.S))
    headings = len(re.findall("<h[1-6]", article))
    section = r'<section(?: class="[^"]*")? id="([^"]*)">((?:\s*<span id="[^"]*"></span>)*\s*<h[1-6])'
    article, moved = re.subn(section, r'\2 id="\1"', article)
    if not headings or moved != headings:
        raise ExtensionError(
            f"{name}: 検索のために、本文の見出し{headings}個に住所（節のid）を移すはずですが、移せたのは{moved}個です。"
            "docs/_ext/search.py の copy_of を、今のHTMLに合わせて直してください。"
        )
    term = r'<dt id="(term-[^"]*)">(.*?)</dt>\s*<dd><p>（(.*?)）'
    article = re.sub(term, r'<h4 id="\1">\2（\3）</h4><dd><p>', article, flags=re.S)
    article = re.sub(r'<dt class="sig [^>]*id="([^"]*)">.*?</dt>', r'<h4 id="\1">\1</h4>', article, flags=re.S)
    article = article.replace("<pre>", '<pre data-pagefind-weight="0.3">')  # a sentence says more than code
    article = re.sub("<math.*?</math>", formula, article, flags=re.S)
    return f'<html lang="ja"><body>{article}</body></html>'


def index(pages, out):
    command = [sys.executable, "-m", "pagefind", "--site", pages, "--output-path", out, "--exclude-selectors", IGNORED]
    run = subprocess.run(
        [*command, "--keep-index-url", "--silent"],
        cwd=pages,  # no settings of the folder it is called in
        capture_output=True,
        encoding="utf-8",
    )
    if run.returncode:
        raise ExtensionError(
            f"検索の索引を作れませんでした。Pagefindが失敗しました。\n{run.stdout}{run.stderr}"
            "環境を requirements.txt に合わせて（nox -s env）から、作り直してください。"
        )


def names(anchor):
    """Return what else a title may be called: a term by its reading and in English, a function without its module."""
    if anchor["id"].startswith("term-"):
        return [name for name in re.split("[（、）]", anchor["text"]) if name]
    return [anchor["id"].rpartition(".")[2]] if anchor["element"] == "h4" else []


def titles(fragments):
    """Return [Pagefind's name, address, title, [[id, title, names], ...]] of each page."""
    pages = []
    for path in fragments:
        page = json.loads(gzip.decompress(path.read_bytes()).removeprefix(b"pagefind_dcd"))
        sections = [[a["id"], a["text"], names(a)] for a in page["anchors"] if re.match("h[2-6]", a["element"])]
        pages.append([path.stem, page["url"].removeprefix("/"), page["meta"]["title"], sections])
    return sorted(pages, key=lambda page: page[1])


def write_index(app, error):
    if error or app.builder.name != "html":
        return
    for name in REPLACED:
        Path(app.outdir, "_static", f"{name}.js").unlink(missing_ok=True)
    target = Path(app.outdir, "pagefind")
    if app.config.gate_mode == "live" and target.is_dir():
        return  # as it was first made: Pagefind would take as long as all the rest that follows a save
    shutil.rmtree(target, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        pages, out = Path(folder, "pages"), Path(folder, "out")
        for name in app.env.found_docs:
            if (page := Path(app.outdir, f"{name}.html")).is_file():
                copy = pages / f"{name}.html"
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_text(copy_of(page.read_text(encoding="utf-8"), name), encoding="utf-8")
        index(pages, out)
        target.mkdir()
        for path in (path for pattern in LOADED for path in out.glob(pattern)):
            shutil.move(path, target)
    listed = json.dumps(titles(target.glob("fragment/*")), ensure_ascii=False, separators=(",", ":"))
    (target / "titles.json").write_text(listed, encoding="utf-8")


def without_search_of_sphinx(app):
    app.builder.search = False


def add_page(app):
    if app.builder.name == "html":
        yield "search", {}, "search.html"


def choose_scripts(app, name, template, context, doctree):
    context["script_files"][:] = [
        file for file in context["script_files"] if Path(file.filename or "").stem not in REPLACED
    ]
    if name == "search":
        app.add_css_file("search/search.css")
        app.add_js_file("search/search.js", type="module")


def setup(app):
    app.connect("builder-inited", without_search_of_sphinx)
    app.connect("html-collect-pages", add_page)
    app.connect("html-page-context", choose_scripts)
    app.connect("build-finished", write_index)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
