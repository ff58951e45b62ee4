"""A small book of its own, built as the real one is: its conf.py, its extensions, its sessions' settings."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from machines import ENV

MAIN = Path(__file__).resolve().parents[2]
SMALL = Path(__file__).parent / "book"
sys.path.insert(0, str(MAIN / "docs" / "_ext"))

# The real conf.py down to the look of the site, with what reads or changes text and outputs.
CONF = """
extensions = ["myst_nb", "sphinxcontrib.bibtex", "gate", "japanese", "maths", "ports", "kernels", "recover"]
html_theme = "basic"
html_math_renderer = "mathml"
"""


class Run:
    """A finished build: its exit code and what it said, as [(page, line, message)]."""

    WARNING = re.compile(r"^(?:\S*/docs/([\w-]+)\.md(?::(\d+))?: )?(?:WARNING|ERROR): ", re.M)

    def __init__(self, done):
        self.code, self.text = done.returncode, done.stdout
        self.executed = self.text.count("Executing notebook using")  # pages whose cells ran
        start, page, line, found = None, None, None, []
        for match in [*self.WARNING.finditer(self.text), None]:
            if start is not None:
                found.append((page, line, self.text[start : match and match.start()]))
            if match:
                start, page, line = match.end(), match[1], int(match[2] or 0)
        self.warnings = found

    def of(self, page):
        return [(line, message) for where, line, message in self.warnings if where == page]


class Book:
    def __init__(self, root):
        self.root, self.docs, self.expected = root, root / "docs", root / "docs" / "_expected"

    def copy(self, root):
        shutil.copytree(self.root, root, ignore=shutil.ignore_patterns("_build"))
        return Book(root)

    def edit(self, path, old, new):
        text = (self.root / path).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{path}: {text.count(old)} times {old!r}"
        (self.root / path).write_text(text.replace(old, new), encoding="utf-8")

    def drop(self, *pages):
        for page in pages:
            (self.docs / f"{page}.md").unlink()
            (self.expected / f"{page}.yml").unlink(missing_ok=True)

    def build(self, *options, mode="check", pages="", **variables):
        command = [sys.executable, "-m", "sphinx", "-c", ".", "-d", "_build/doctrees", *options, "docs", "_build/html"]
        env = os.environ | ENV | {"BOOK_MODE": mode, "BOOK_PAGES": pages} | variables
        done = subprocess.run(
            command, cwd=self.root, env=env, encoding="utf-8", stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        return Run(done)


@pytest.fixture(scope="session")
def new_book(tmp_path_factory):
    """new_book(): the small book without expectations."""

    def make():
        root = tmp_path_factory.mktemp("book")
        for folder in ("attention_book", "docs/_ext"):
            shutil.copytree(MAIN / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(SMALL, root / "docs", dirs_exist_ok=True, ignore=shutil.ignore_patterns("toy.*"))
        (root / "docs" / "curve.png").write_bytes(b"")
        for path in SMALL.glob("toy.*"):
            shutil.copy(path, root / "attention_book")
        kernel = Path("docs/_ipython/profile_default/ipython_kernel_config.py")
        (root / kernel).parent.mkdir(parents=True)
        shutil.copy(MAIN / kernel, root / kernel)
        conf, look, _ = (MAIN / "conf.py").read_text(encoding="utf-8").partition("\nhtml_theme = ")
        assert look, "conf.py has no html_theme"
        (root / "conf.py").write_text(conf + CONF, encoding="utf-8")
        return Book(root)

    return make


@pytest.fixture(scope="session")
def accepted(new_book):
    """The small book with the expectations that `accept` wrote; tests work on copies of it."""
    book = new_book()
    run = book.build("-W", mode="accept")
    assert (run.code, run.warnings) == (0, []), run.text
    return book


@pytest.fixture(scope="session")
def real_book(tmp_path_factory):
    root = tmp_path_factory.mktemp("real") / "book"
    ignored = shutil.ignore_patterns("_build", ".*", "tests", "benchmarks", "__pycache__", "*.new")
    shutil.copytree(MAIN, root, ignore=ignored)
    return Book(root)
