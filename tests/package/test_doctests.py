"""Every `>>>` in the sources is an example that doctest finds; `nox -s doctest` runs them."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import attention_book
from attention_book import exercises

NAMES = ["attention_book", *(m.name for m in pkgutil.walk_packages(attention_book.__path__, "attention_book."))]
MODULES = [importlib.import_module(name) for name in NAMES]
TESTS = [test for m in MODULES for test in doctest.DocTestFinder().find(m) if test.examples]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_doctest_finds_every_example(module):
    lines = Path(module.__file__).read_text(encoding="utf-8").splitlines()
    written = [n for n, line in enumerate(lines) if line.lstrip().startswith(">>>")]
    tests = [test for test in TESTS if test.filename == module.__file__]
    assert sorted(test.lineno + e.lineno for test in tests for e in test.examples) == written


def test_everything_public_has_an_example():
    have = {test.name.rpartition(".")[2] for test in TESTS}
    checks = {name for name in exercises.__all__ if name.startswith("check_")}
    public = {
        *attention_book.__all__,
        *checks,
        "from_torch",
        "load",
        "trace",
        "explorer",
        "heatmap",
        "line_plot",
        "value_map",
    }
    assert public - have == set()
