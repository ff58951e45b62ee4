"""ページの重さを、furoとMyST-NBだけで作った同じページと比べ、表を出します（nox -s bench -- weight）。

    python benchmarks/weight.py                 # 5分ほど
    python benchmarks/weight.py --cdn FOLDER    # CDNに届かない機械で

furoとMyST-NBだけのページは、数式のMathJaxをCDNから読みます。CDNに届かない機械では、同じファイルをnpmで置いておきます。

    npm install --prefix FOLDER mathjax@4 @mathjax/mathjax-newcm-font@4

一時フォルダーへの写しを作り、gzipを使うサーバーから、本物のブラウザーで開きます。
"""

import contextlib
import functools
import gzip
import http.server
import statistics
import sys
import tempfile
import threading
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from build import PLAIN_CONF, ROOT, build, copy_book, machine, say
from playwright.sync_api import sync_playwright

sys.path.insert(0, str(ROOT / "docs" / "_paper"))
from pdf import browser_path

# What the pages are written with, and no more: without it there would be neither formulas nor references.
SAME_PAGES = """\
import os, sys
sys.path.insert(0, os.getcwd())
os.environ["PYTHONPATH"] = os.getcwd()
extensions += ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinxcontrib.bibtex"]
exclude_patterns = ["_*"]
bibtex_bibfiles = ["docs/references.bib"]
bibtex_reference_style = "author_year"
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
"""
SENT_AS_IT_IS = {".png", ".woff2", ".zip", ".whl", ".pf_meta", ".pf_index", ".pf_fragment"}  # compressed already
CDN = "https://cdn.jsdelivr.net/npm/"
QUERY = "softmax"  # Sphinx finds few words of Japanese
FIRST_CELL = "by-hand"
TO_THE_END = "() => window.scrollTo(0, document.body.scrollHeight)"  # pictures that wait for it
SECOND = 1000  # ms
SENT = {}  # {address: bytes of its body} of this visit


class Weight(NamedTuple):
    requests: int
    size: int  # bytes


@functools.cache
def body(path):
    """Return what a server with gzip sends for the file."""
    data = path.read_bytes()
    return data if path.suffix in SENT_AS_IT_IS else gzip.compress(data, 6, mtime=0)


def weigh(sent):
    """Return the weight of what was sent, a file once: a browser keeps it."""
    return Weight(len(sent), sum(sent.values()))


def npm_file(folder, url):
    """Return the file for mathjax@4/x.js, or for @mathjax/font@4/x.js."""
    name, _, rest = url.removeprefix(CDN).rpartition("@")
    return folder / "node_modules" / name / urlsplit(rest).path.partition("/")[2]


class Server(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path = Path(self.translate_path(self.path))
        data = body(path) if path.is_file() else b""
        SENT[self.path] = len(data)
        self.send_response(200 if path.is_file() else 404)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Length", str(len(data)))
        if path.suffix not in SENT_AS_IT_IS:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        pass


@contextlib.contextmanager
def served(html):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Server, directory=str(html)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


@contextlib.contextmanager
def visit(browser, address, cdn):
    """Open the address as a reader who comes for the first time; what is sent is counted until the end."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="ja")
    others = []  # requests to other hosts

    def answer(route):
        path = npm_file(cdn, route.request.url)
        SENT[route.request.url] = len(body(path))
        route.fulfill(path=path, headers={"Access-Control-Allow-Origin": "*"})

    if cdn:
        context.route(f"{CDN}**", answer)
    else:
        host = "{0.scheme}://{0.netloc}/".format(urlsplit(address))
        context.on(
            "request", lambda request: request.url.startswith(("data:", "blob:", host)) or others.append(request)
        )
    tab = context.new_page()
    tab.set_default_timeout(120 * SECOND)
    SENT.clear()
    tab.goto(address)
    tab.wait_for_load_state("networkidle")
    tab.evaluate(TO_THE_END)
    yield tab
    tab.wait_for_timeout(SECOND)
    tab.wait_for_load_state("networkidle")
    for request in others:
        if not request.response():
            sys.exit(f"{request.url} に届かないので、測れません。--cdn を使ってください（このファイルの先頭）。")
        SENT[request.url] = request.sizes()["responseBodySize"]
    context.close()


def weights(browser, html, pages, cdn):
    """Return {page: weight}, and that of a first search."""
    with served(html) as address:
        found = {}
        for page in pages:
            with visit(browser, f"{address}{page}.html", cdn):
                pass
            found[page] = weigh(SENT)
        with visit(browser, f"{address}search.html?q={QUERY}", cdn) as tab:
            tab.locator("#search-results li").first.wait_for()
        return found, weigh(SENT)


def first_press(browser, html):
    """Return what the first press of a button in the book fetches."""
    with served(html) as address:
        with visit(browser, f"{address}{FIRST_CELL}.html", None) as tab:
            SENT.clear()
            tab.get_by_role("button", name="実行").first.click()
            tab.locator(".run-status", has_text="実行しました。").first.wait_for()
        return weigh(SENT)


def plain_conf(root):
    """Let the same pages be built with the theme and MyST-NB alone."""
    (root / "conf.py").write_text(PLAIN_CONF + SAME_PAGES, encoding="utf-8")
    return root


def rows(ours, plain):
    """Yield the table of {page: weight} and {page: weight}."""
    yield from (
        "| | この本：個 | kB | furoとMyST-NBだけ：個 | kB | kBの比 |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    )
    for page in ours:
        yield row(page, ours[page], plain[page])
    for title, pick in ("**中央値**", statistics.median), ("**最大**", max):
        yield row(title, *(Weight(*map(pick, zip(*site.values(), strict=True))) for site in (ours, plain)))


def row(title, ours, plain):
    other = f"{plain.requests:.0f} | {plain.size / 1000:.0f} | {ours.size / plain.size:.2f}" if plain else "| |"
    return f"| {title} | {ours.requests:.0f} | {ours.size / 1000:.0f} | {other} |"


def main():
    cdn = None
    if sys.argv[1:2] == ["--cdn"] and len(sys.argv) == 3:
        cdn = Path(sys.argv[2])
    elif sys.argv[1:]:
        sys.exit(f"使える引数は --cdn FOLDER だけです: {' '.join(sys.argv[1:])}。")
    if not browser_path():
        sys.exit("ブラウザーがないので、測れません。Chromiumを入れるか、場所を環境変数 BOOK_BROWSER に書いてください。")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        sites = []
        for name, make in ("この本", copy_book), ("furoとMyST-NBだけ", lambda root: plain_conf(copy_book(root))):
            say(f"作っています：{name}")
            root = make(Path(folder, str(len(sites))))
            build(root, "check")
            sites.append(root / "_build" / "check")
        pages = sorted(path.stem for path in ROOT.glob("docs/*.md"))
        browser = playwright.chromium.launch(executable_path=browser_path(), args=["--no-sandbox"])
        say("測っています")
        (ours, our_search), (plain, its_search) = (weights(browser, html, pages, cdn) for html in sites)
        print(f"{next(machine())}ブラウザーはChromium {browser.version}です。\n")
        for line in rows(ours, plain):
            print(line)
        print(row("最初の検索（検索のページと、その結果）", our_search, its_search))
        print(row("最初の［実行］（ページの後に加わる）", first_press(browser, sites[0]), None))
        browser.close()


if __name__ == "__main__":
    main()
