"""The cells that run in the page: by hand, by keyboard, with errors, without end, on a bad network, and all of the book."""

import functools
import gzip
import http.server
import threading
import time
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from conftest import WIDTH, BelowBook

DOCS = Path(__file__).resolve().parents[2] / "docs"
SENT_AS_IT_IS = {".zip", ".whl", ".woff2", ".png"}
START_PYTHON = 120_000  # ms; the first start compiles 10 MB, on a machine that may be busy
FINISHED = """() => {
  const last = [...document.querySelectorAll(".runs-here")].at(-1);
  return /(実行し|ここで止め)ました。$/.test(last.querySelector(".run-status").textContent);
}"""

CELLS = """() => [...document.querySelectorAll(".runs-here")].map((cell) => ({
  code: cell.querySelector("pre").textContent,
  status: cell.querySelector(".run-status").textContent,
  caption: cell.querySelector(".run-caption")?.textContent ?? "",
  live: cell.querySelector(".run-live pre")?.textContent ?? "",
  built: [...cell.querySelectorAll(".cell_output pre")].map((pre) => pre.textContent).join(""),
}))"""


class Server(BelowBook):
    """Serve the site with faults: `broken` names a file that comes with another byte, `slow` one that comes late."""

    asked, broken, slow = [], None, None

    def do_GET(self):
        self.asked.append(unquote(urlsplit(self.path).path))
        super().do_GET()

    def copyfile(self, source, outputfile):
        data = source.read()
        name = urlsplit(self.path).path.rpartition("/")[2]
        if name == self.broken:
            data = data[:1000] + bytes([data[1000] ^ 1]) + data[1001:]
        for start in range(0, len(data), 1 << 17):
            if name == self.slow:
                time.sleep(0.1)
            outputfile.write(data[start : start + (1 << 17)])


@pytest.fixture
def served(site, browser):
    """served("masks", broken="…"): a tab on the page of a server with faults; `tab.server.asked` is what it was asked."""
    closing = []

    def opened(page, **faults):
        faulty = type("Faulty", (Server,), {"asked": [], **faults})
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(faulty, directory=str(site)))
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        context = browser.new_context(viewport={"width": 375, "height": 700}, locale="ja")
        closing.append((context, server, thread))
        tab = context.new_page()
        tab.set_default_timeout(10_000)
        tab.goto(f"http://127.0.0.1:{server.server_port}/book/{page}.html")
        tab.server = faulty
        return tab

    yield opened
    for context, server, thread in closing:
        context.close()
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="module")
def reader(browser):
    """One reader goes through the book: the browser keeps Python from page to page."""
    context = browser.new_context(locale="ja")
    yield context
    context.close()


def cell(tab, code):
    """The only cell that runs and holds this code."""
    (found,) = [c for c in tab.locator(".runs-here").all() if code in c.locator("pre").first.text_content()]
    return found


def write(cell, code):
    edit = cell.get_by_role("button", name="編集")
    if edit.is_visible():
        edit.click()
    cell.locator("textarea").fill(code)


def run(cell):
    cell.get_by_role("button", name="実行").click()


def says(cell, text, timeout=START_PYTHON):
    cell.locator(".run-status", has_text=text).wait_for(timeout=timeout)


def compressed(site, path):
    file = site / path.removeprefix("/book/")
    data = file.read_bytes()
    return len(data if file.suffix in SENT_AS_IT_IS else gzip.compress(data, 6))


def runnable(soup):
    return [page for page in sorted(p.stem for p in DOCS.glob("*.md")) if soup(page).select(".runs-here")]


def test_most_pages_have_cells_that_run(soup):
    assert len(runnable(soup)) >= 15
    assert sum(len(soup(page).select(".runs-here")) for page in runnable(soup)) >= 190


@pytest.mark.parametrize("page", sorted(p.stem for p in DOCS.glob("*.md")))
def test_every_cell_gives_what_the_build_gave(soup, reader, base_url, page):
    """Press the last cell's button: all of the page runs, and each output is the one that stands there."""
    if page not in runnable(soup):
        pytest.skip("no cell of this page runs in the browser")
    tab = reader.new_page()
    tab.goto(f"{base_url}{page}.html")
    tab.evaluate("document.querySelectorAll('details').forEach((details) => (details.open = true))")
    run(tab.locator(".runs-here").last)
    tab.wait_for_function(FINISHED, timeout=START_PYTHON)
    cells = tab.evaluate(CELLS)
    tab.close()
    assert [c for c in cells if c["status"] != "実行しました。"] == []
    assert [c for c in cells if c["built"] and c["caption"] != "このブラウザーの出力：ビルド時と同じです"] == []
    assert [c for c in cells if c["live"].split() != c["built"].split()] == []


def test_nothing_is_loaded_before_a_press_and_nothing_from_elsewhere_after(site, served):
    tab = served("by-hand")
    hosts = []
    tab.context.on("request", lambda request: hosts.append(urlsplit(request.url).hostname))
    tab.mouse.wheel(0, 5000)
    tab.wait_for_timeout(300)
    before = [path for path in tab.server.asked if "/run/" in path or path.endswith(".whl")]
    assert sorted(Path(path).name for path in before) == ["run.css", "run.js"]

    first = tab.locator(".runs-here").first
    announced = first.get_by_role("button", name="実行").text_content()
    run(first)
    says(first, "実行しました。")
    loaded = [p for p in dict.fromkeys(tab.server.asked) if ("/run/" in p or p.endswith(".whl")) and p not in before]
    weight = sum(compressed(site, path) for path in loaded)
    assert set(hosts) == {"127.0.0.1"}
    assert len(loaded) >= 8
    assert weight <= 9.5e6
    assert f"約{weight / 1e6:.0f} MB" in announced


def test_weight_of_pages(site, soup, hand, base_url):
    """The page without figures, and all of the scripts that it loads, as a server sends them: imported ones, too."""
    tab, most = hand("about"), 0
    for page in runnable(soup):
        tab.goto(f"{base_url}{page}.html", wait_until="networkidle")
        loaded = tab.evaluate("performance.getEntriesByType('resource').map(({ name }) => name)")
        scripts = {path for path in (urlsplit(url).path for url in loaded) if path.endswith("js")}
        most = max(most, len(scripts))
        assert compressed(site, f"{page}.html") <= 60_000
        assert sum(compressed(site, script) for script in scripts) <= 25_000
    assert most >= 6  # furo's two, the keyboard, the cells, a figure and what it imports
    assert compressed(site, "_static/run/worker.mjs") + compressed(site, "_static/run/cell.py") <= 4_000


def test_by_keyboard_alone(hand):
    """Tab to the first cell that runs; Enter runs it; edit, Shift+Enter, Esc; Tab leaves the editor."""
    tab = hand("by-hand")
    name = "document.activeElement.getAttribute('aria-label') ?? ''"
    for _ in range(80):
        tab.keyboard.press("Tab")
        if tab.evaluate(name).startswith("実行"):
            break
    first = tab.locator(".runs-here").first
    assert tab.evaluate(name) == "実行（初回は約9 MB）：セル1"
    assert tab.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    tab.keyboard.press("Enter")
    says(first, "実行しました。")

    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")  # 編集
    editor = first.locator("textarea")
    assert editor.evaluate("(area) => area === document.activeElement")
    tab.keyboard.press("Control+End")
    tab.keyboard.type("\nfor n in range(2):\nprint(n, X.shape)")
    assert editor.input_value().endswith("\nfor n in range(2):\n    print(n, X.shape)")
    tab.keyboard.press("Shift+Enter")
    first.locator(".run-live pre", has_text="1 (3, 2)").wait_for()
    assert editor.input_value().endswith("X.shape)")

    tab.keyboard.press("Tab")
    assert not editor.evaluate("(area) => area === document.activeElement")
    tab.keyboard.press("Shift+Tab")
    assert editor.evaluate("(area) => area === document.activeElement")
    tab.keyboard.press("Escape")
    assert tab.evaluate(name) == "実行：セル1"
    tab.keyboard.press("Tab")
    assert tab.evaluate(name) == "元に戻す：セル1"
    tab.keyboard.press("Enter")
    assert not editor.is_visible()
    assert first.locator("pre").first.is_visible()
    assert first.locator(".run-live").count() == 0
    assert tab.evaluate(name) == "編集：セル1"


def test_enter_that_ends_a_composition_does_not_run(hand):
    tab = hand("by-hand")
    first = tab.locator(".runs-here").first
    first.get_by_role("button", name="編集").click()
    editor = first.locator("textarea")
    before = editor.input_value()
    keys = "(area, composing) => area.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', shiftKey: true, cancelable: true, isComposing: composing}))"
    assert editor.evaluate(keys, True)  # not prevented: the input method takes it
    assert first.locator(".run-status").text_content() == ""
    assert not editor.evaluate(keys, False)
    assert editor.input_value() == before
    says(first, "実行しました。")


def test_editor_suits_phones(hand):
    tab = hand("by-hand", viewport={"width": 375, "height": 700})
    first = tab.locator(".runs-here").first
    first.get_by_role("button", name="編集").click()
    editor = first.locator("textarea")
    attributes = ["autocapitalize", "autocomplete", "autocorrect", "spellcheck"]
    assert [editor.get_attribute(a) for a in attributes] == ["off", "off", "off", "false"]
    assert editor.evaluate("(area) => parseFloat(getComputedStyle(area).fontSize)") >= 16
    assert tab.evaluate(WIDTH) <= 375
    heights = tab.locator(".run-tools button:visible").evaluate_all("(b) => b.map((x) => x.offsetHeight)")
    assert min(heights) >= 32


def test_an_error_shows_the_reader_s_lines_and_the_built_output_stays(hand):
    tab = hand("by-hand")
    experiment = cell(tab, 'print("attention_lab")')
    code = experiment.locator("pre").first.text_content()
    write(experiment, code.replace("Q @ K.T", "Q @ K[:, :1].T"))
    run(experiment)
    says(experiment, "エラーで止まりました。")
    live = experiment.locator(".run-live")
    assert "ValueError: matmul" in live.text_content()
    assert "セル2の6行目：scores = Q @ K[:, :1].T" in live.text_content()
    assert "/" not in live.locator("p").all_text_contents()[-1]
    built = experiment.locator("details", has_text="ビルド時の出力")
    assert not built.locator("pre").is_visible()
    built.locator("summary").click()
    assert "attention_lab" in built.locator("pre").text_content()

    write(experiment, code.replace("(softmax, 1,", "（softmax, 1,"))
    run(experiment)
    live.get_by_text("9行目に「（」とありますが、Pythonが読めるのは半角の「(」です。").wait_for()

    experiment.get_by_role("button", name="元に戻す").click()
    assert experiment.locator(".cell_output pre").is_visible()
    run(experiment)
    live.get_by_text("このブラウザーの出力：ビルド時と同じです").wait_for()


def test_an_earlier_error_stops_the_later_cell(hand):
    tab = hand("by-hand")
    first, second = tab.locator(".runs-here").all()[:2]
    write(first, "K = 1 / 0")
    run(second)
    says(second, "セル1が終わらなかったので、ここで止めました。")
    assert "ZeroDivisionError" in first.locator(".run-live").text_content()


def test_state_is_that_of_a_notebook(hand):
    """A later run sees what an edited cell has left; what came before is not run again."""
    tab = hand("by-hand")
    first, second = tab.locator(".runs-here").all()[:2]
    write(first, first.locator("pre").first.text_content() + "\ncount = globals().get('count', 0) + 1")
    write(second, "count")
    run(second)
    second.locator(".run-live pre", has_text="1").wait_for(timeout=START_PYTHON)
    run(second)
    says(second, "実行しました。")
    assert second.locator(".run-live pre").text_content() == "1"
    run(first)
    says(first, "実行しました。")
    write(second, "count + 10")
    run(second)
    second.locator(".run-live pre", has_text="12").wait_for()


def test_what_the_reader_wrote_survives_a_reload(hand):
    tab = hand("by-hand")
    first = tab.locator(".runs-here").first
    write(first, "X = 3")
    tab.reload()
    assert first.locator("textarea").input_value() == "X = 3"
    assert not first.locator("pre").first.is_visible()
    first.get_by_role("button", name="元に戻す").click()
    tab.reload()
    assert first.locator("textarea").count() == 0
    assert first.locator("pre").first.is_visible()


def test_an_endless_cell_is_stopped_and_the_page_goes_on(hand):
    tab = hand("by-hand")
    first, second = tab.locator(".runs-here").all()[:2]
    code = first.locator("pre").first.text_content()
    write(first, code + "\nprint('始め')\nwhile True:\n    pass")
    run(first)
    first.locator(".run-live pre", has_text="始め").wait_for(timeout=START_PYTHON)
    first.get_by_role("button", name="停止").click()
    says(first, "止めました。", 5_000)
    write(first, code)
    run(second)
    second.get_by_text("ビルド時と同じです").wait_for(timeout=START_PYTHON)


def test_endless_output_does_not_fill_the_page(hand):
    tab = hand("by-hand")
    first = tab.locator(".runs-here").first
    write(first, "while True:\n    print('あ' * 999)")
    run(first)
    first.get_by_text("長いので、続きは省きます").wait_for(timeout=START_PYTHON)
    tab.wait_for_timeout(500)
    assert len(first.locator(".run-live pre").text_content()) < 200_000
    first.get_by_role("button", name="停止").click()
    says(first, "止めました。", 5_000)


def test_exercise_unsolved_and_solved(hand):
    tab = hand("by-hand")
    exercise = cell(tab, "    ...  # ここを書き換えます")
    run(exercise)
    says(exercise, "実行しました。")
    assert "NotYet: " in exercise.locator(".run-live pre").text_content()
    assert exercise.get_by_text("ビルド時と同じです").is_visible()

    code = exercise.locator("pre").first.text_content()
    write(exercise, code.replace("...  #", "return np.exp(scores) / np.exp(scores).sum()  #"))
    run(exercise)
    exercise.locator(".run-live pre", has_text="行").wait_for()
    assert "NotYet: " in exercise.locator(".run-live pre").text_content()
    assert not exercise.get_by_text("ビルド時と同じです").is_visible()

    solved = "e = np.exp(scores - scores.max(-1, keepdims=True))\n    return e / e.sum(-1, keepdims=True)  #"
    write(exercise, code.replace("...  #", solved))
    run(exercise)
    exercise.locator(".run-live pre", has_text="合格です").wait_for()


@pytest.mark.parametrize("kind", [".wasm", ".zip", "numpy-*.whl", "attention_book-*.whl", "pyodide.mjs"])
def test_a_broken_file_is_named_and_read_anew(site, served, kind):
    (name,) = (path.name for path in site.rglob(f"*{kind}"))
    tab = served("by-hand", broken=name)
    first = tab.locator(".runs-here").first
    run(first)
    says(first, f"{name}の中身が、配られたものと違います。")
    says(first, "もう一度「実行」を押すと、読み直します。")
    assert first.locator(".run-live").count() == 0

    tab.server.broken = None
    run(first)
    says(first, "実行しました。")


def test_a_slow_network_shows_the_bytes_and_can_be_stopped(site, served):
    name = next(path.name for path in site.glob("_static/run/pyodide-*/*.wasm"))
    tab = served("by-hand", slow=name)
    first = tab.locator(".runs-here").first
    run(first)
    bar = first.locator("progress")
    tab.wait_for_function("() => document.querySelector('.runs-here progress').value > 0.45", timeout=START_PYTHON)
    assert bar.is_visible()
    assert "／16." in first.locator(".run-size").text_content()
    first.get_by_role("button", name="停止").click()
    says(first, "止めました。", 5_000)
    tab.server.slow = None
    run(first)
    says(first, "実行しました。")


def test_no_network_is_said(served):
    tab = served("by-hand")
    tab.context.set_offline(True)
    first = tab.locator(".runs-here").first
    run(first)
    says(first, "Pythonを準備できませんでした。")
    tab.context.set_offline(False)
    run(first)
    says(first, "実行しました。")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everything_shown_fits_a_phone(hand, theme):
    """Editor, output, error and built output open on 375 px: nothing wider than the window, and legible."""
    tab = hand("by-hand", viewport={"width": 375, "height": 700}, color_scheme=theme)
    experiment = cell(tab, 'print("attention_lab")')
    write(experiment, "print('あ' * 200)\n" + "x" * 200)
    run(experiment)
    says(experiment, "エラーで止まりました。")
    experiment.locator("details summary").click()
    assert tab.evaluate(WIDTH) <= 375


def test_other_cells_say_why_they_do_not_run(hand):
    tab = hand("torch-mha")
    notes = tab.locator(".needs-torch .run-note")
    assert notes.count() >= 10
    assert "PyTorchを使うセルです" in notes.first.text_content()
    assert tab.locator(".needs-torch button").count() == 0


def test_without_scripts_the_page_is_as_built(hand, site, browser):
    plain = hand("by-hand", java_script_enabled=False)
    assert plain.locator(".runs-here").count() > 5
    assert plain.locator(".run-tools").count() == 0
    assert plain.locator(".runs-here .cell_output pre").first.is_visible()

    context = browser.new_context()
    tab = context.new_page()
    tab.goto((site / "by-hand.html").as_uri())  # browsers let no file load a module
    assert tab.locator(".run-tools").count() == 0
    assert tab.locator(".runs-here .cell_output pre").first.is_visible()
    context.close()
