"""What goes wrong while the book is built is told in Japanese, and the next ordinary build is right."""

import os
import signal
import subprocess
import sys
import time

import pytest
from machines import ENV

PAGE = """---
file_format: mystnb
kernelspec:
  name: python3
---

# 題

```{{code-cell}} ipython3
print(1 + 1)
```

```{{code-cell}} ipython3
{}
```
"""


@pytest.fixture
def tiny(accepted, tmp_path):
    """A copy of the small book with two pages that run cells: errors, and one that a test writes."""
    book = accepted.copy(tmp_path / "book")
    for path in book.docs.glob("*.md"):
        if path.stem not in ("index", "errors"):
            path.unlink()
            (book.expected / f"{path.stem}.yml").unlink(missing_ok=True)
    write(book, "pass")
    (book.expected / "page.yml").write_text("- - stream: '2'\n- []\n", encoding="utf-8")
    return book


def write(book, code):
    (book.docs / "page.md").write_text(PAGE.format(code), encoding="utf-8")


def snapshot(book):
    return {path.name: path.read_bytes() for path in book.expected.iterdir()}


def assert_right(book):
    """An ordinary build of the page as it should be."""
    write(book, "pass")
    run = book.build("-E", "-a", "-W")
    assert (run.code, run.warnings) == (0, []), run.text
    assert ">2\n</pre>" in (book.root / "_build" / "html" / "page.html").read_text(encoding="utf-8")


STOPPED = {
    "killed": ("import os\nos.kill(os.getpid(), 9)", "カーネルが、起動中かセルの途中で終わりました"),
    "endless": ("while True: pass", "セルが10秒たっても終わりません"),
}


@pytest.mark.parametrize("name", STOPPED)
def test_a_cell_that_is_stopped(tiny, name):
    code, message = STOPPED[name]
    write(tiny, code)
    old = snapshot(tiny)
    for options in (["-E", "-a", "-W"], []):
        run = tiny.build("-D", "nb_execution_timeout=10", *options)
        assert run.code == 1, run.text
        said = [said for line, said in run.of("page") if line == 15]
        assert any("セル2は最後まで実行されていません" in text and message in text for text in said), run.text
        assert "Traceback" not in run.text
    for mode in ("accept", "live"):
        run = tiny.build("-D", "nb_execution_timeout=10", mode=mode)
        assert message in run.text
        assert (run.code, snapshot(tiny)) == (1 if mode == "accept" else 0, old)
    assert_right(tiny)


def started(book, mode="check", *options):
    command = [sys.executable, "-m", "sphinx", "-c", ".", "-d", "_build/doctrees", *options, "docs", "_build/html"]
    env = os.environ | ENV | {"BOOK_MODE": mode}
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, cwd=book.root, env=env, stdout=quiet, stderr=quiet, start_new_session=True)


def wait_for(path):
    for _ in range(600):
        if path.exists():
            return
        time.sleep(0.1)
    raise TimeoutError(path)


@pytest.mark.parametrize(
    ("mode", "sent"),
    [("check", signal.SIGINT), ("check", signal.SIGKILL), ("live", signal.SIGINT), ("accept", signal.SIGKILL)],
)
def test_a_build_that_is_stopped(tiny, mode, sent):
    """Ctrl-C reaches every process of the group."""
    tiny.build(mode="live")
    old = snapshot(tiny)
    write(tiny, "open('../begun', 'w')\nimport time\ntime.sleep(600)")
    build = started(tiny, mode, "-j", "2")
    wait_for(tiny.root / "begun")
    (os.killpg if sent == signal.SIGINT else os.kill)(build.pid, sent)

    assert build.wait(60) != 0
    assert snapshot(tiny) == old
    write(tiny, "pass")
    assert tiny.build(mode="live").warnings == []
    assert_right(tiny)


@pytest.mark.parametrize("damage", ["database", "notebook", "both"])
def test_a_damaged_cache(tiny, damage):
    assert tiny.build(mode="live").code == 0
    cache = tiny.root / "_build" / "cache"
    if damage != "notebook":
        for path in cache.glob("*/global.db"):
            path.write_bytes(b"no database" * 500)
    if damage != "database":
        for path in cache.glob("*/executed/*/base.ipynb"):
            path.write_bytes(path.read_bytes()[:100])
    run = tiny.build("-E", mode="live")

    assert run.code == 0
    assert ["実行結果の控えが読めないので、捨てて作り直します" in said for _, _, said in run.warnings] == [True], (
        run.text
    )
    assert tiny.build("-E", mode="live").warnings == []
    assert_right(tiny)


SLOW = """
import time
from jupyter_cache.cache.db import OrmBase
from sqlalchemy import event
event.listen(OrmBase.metadata, "before_create", lambda *_, **__: time.sleep(1))
"""


def test_workers_that_find_no_cache(tiny):
    for n in range(6):  # Sphinx reads no fewer in parallel
        page = (tiny.docs / "page.md").read_text(encoding="utf-8")
        (tiny.docs / f"page{n}.md").write_text(f"{page}\n```{{code-cell}} ipython3\n{n}\n```\n", encoding="utf-8")
    with (tiny.root / "conf.py").open("a", encoding="utf-8") as conf:
        conf.write(SLOW)
    run = tiny.build("-j", "4", mode="live")

    assert (run.code, run.of("page"), run.executed) == (0, [], 8), run.text
    assert "控え" not in run.text


def test_two_builds_at_once(tiny):
    write(tiny, "import time\ntime.sleep(2)")
    live = started(tiny, "live", "-d", "_build/live/doctrees")
    docs = tiny.build("-E", "-a", "-W", "-j", "2")

    assert (docs.code, docs.warnings) == (0, []), docs.text
    assert live.wait(60) == 0
    assert_right(tiny)


FULL = """
import pathlib
write_text = pathlib.Path.write_text
def full(path, text, **options):
    write_text(path, text[: len(text) // 2] if path.suffix == ".new" else text, **options)
    if path.suffix == ".new":
        raise OSError(28, "No space left on device")
pathlib.Path.write_text = full
"""


def test_no_room_on_the_disk_while_accepting(tiny):
    old = snapshot(tiny)
    write(tiny, "print('another')")
    conf = (tiny.root / "conf.py").read_text(encoding="utf-8")
    (tiny.root / "conf.py").write_text(conf + FULL, encoding="utf-8")
    run = tiny.build("-E", "-a", "-W", mode="accept")

    assert run.code == 1
    assert any("期待出力を書けないので、前のまま残しました" in said for _, said in run.of("page")), run.text
    assert snapshot(tiny) == old
    (tiny.root / "conf.py").write_text(conf, encoding="utf-8")
    assert tiny.build(mode="accept").code == 0
    assert snapshot(tiny) != old
    assert tiny.build("-E", "-a", "-W").code == 0
