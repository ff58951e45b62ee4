"""The built site: made once with the project's own configuration, served, and opened in a real browser."""

import functools
import http.server
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from pdf import browser_path

ROOT = Path(__file__).resolve().parents[2]
ADDRESS = "https://example.org/book/"  # where the site says that it is: it is served at the same path
ENV = {"BOOK_MODE": "live", "BOOK_URL": ADDRESS, "LC_ALL": "C", "PYTHONUTF8": "1", "OMP_NUM_THREADS": "1"}
# how wide a page is: furo's .content scrolls by itself, so that the window never becomes wider than it should
WIDTH = "Math.max(...[...document.querySelectorAll('html, .content')].map((e) => e.scrollWidth))"
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="session")
def site():
    """Build the HTML and return its folder. Cells come from the cache of `live`, whose key is what they depend on."""
    html = ROOT / "_build" / "tests" / "html"
    shutil.rmtree(html, ignore_errors=True)  # no page of an earlier run
    command = [sys.executable, "-m", "sphinx", "-c", ".", "-d", "_build/tests/doctrees", "-E", "-q", "docs", str(html)]
    run = subprocess.run(command, cwd=ROOT, env=os.environ | ENV, capture_output=True, encoding="utf-8")
    if run.returncode:
        pytest.fail(f"サイトを作れませんでした。\n{run.stderr}", pytrace=False)
    return html


@pytest.fixture(scope="session")
def soup(site):
    """soup("masks"): the parsed page. A test does not change it."""
    return functools.cache(
        lambda page: BeautifulSoup((site / f"{page}.html").read_text(encoding="utf-8"), "html.parser")
    )


class BelowBook(http.server.SimpleHTTPRequestHandler):
    """Serve the folder at /book/, as hosts do that give each project a path of its own, with its own page for 404."""

    protocol_version = "HTTP/1.1"

    def translate_path(self, path):
        inside = path.startswith("/book/")
        return super().translate_path(path.removeprefix("/book")) if inside else str(Path(self.directory, "outside"))

    def send_error(self, code, message=None, explain=None):
        if code != 404 or not self.path.startswith("/book/"):
            return super().send_error(code, message, explain)
        page = Path(self.directory, "404.html").read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *args):
        pass


@pytest.fixture(scope="session")
def base_url(site):
    handler = functools.partial(BelowBook, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/book/"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def browser():
    path = browser_path()
    if not path:
        missing = (
            "ブラウザーがありません。Debianなら apt-get install chromium で入れるか、場所を BOOK_BROWSER に書きます。"
        )
        (pytest.fail if os.environ.get("CI") else pytest.skip)(missing)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=QUIET)
        yield chromium
        chromium.close()


@pytest.fixture
def hand(browser, base_url):
    """hand("masks"): a fresh tab on the page, as a reader has it; hand("masks", java_script_enabled=False)."""
    contexts = []

    def opened(page, **options):
        contexts.append(browser.new_context(**{"viewport": {"width": 1280, "height": 800}, "locale": "ja"} | options))
        tab = contexts[-1].new_page()
        tab.set_default_timeout(5_000)
        tab.goto(f"{base_url}{page}.html")
        return tab

    yield opened
    for context in contexts:
        context.close()
