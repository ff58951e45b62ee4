"""Every `>>>` in the sources is an example that doctest finds; `nox -s doctest` runs them."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import attention_book

NAMES = ["", *(f".{module.name}" for module in pkgutil.iter_modules(attention_book.__path__))]
MODULES = [importlib.import_module(f"attention_book{name}") for name in NAMES]
TESTS = [test for m in MODULES for test in doctest.DocTestFinder().find(m) if test.examples]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_doctest_finds_every_example(module):
    lines = Path(module.__file__).read_text(encoding="utf-8").splitlines()
    written = [n for n, line in enumerate(lines) if line.lstrip().startswith(">>>")]
    tests = [test for test in TESTS if test.filename == module.__file__]
    assert sorted(test.lineno + e.lineno for test in tests for e in test.examples) == written


def test_everything_public_has_an_example():
    have = {test.name.removeprefix("attention_book.").partition(".")[2] for test in TESTS}
    public = {*attention_book.__all__, "MultiHeadAttention.from_torch", "heatmap", "line_plot"}
    assert public - have == set()
