"""What `nox -s bench -- build` reads and writes; what it measures is not tested."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def bench():
    spec = importlib.util.spec_from_file_location("bench_build", ROOT / "benchmarks" / "build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pages_and_cells_are_counted_from_the_lines_of_progress(bench):
    source = (ROOT / "docs" / "_ext" / "progress.py").read_text(encoding="utf-8")
    line = re.search(r'log\.info\("(docs/.+?)"', source)[1]
    texts = [line % ("by-hand", 1.0, "実行しました"), "合計：2.0秒", line % ("index", 0.1, "セルなし")]
    assert bench.READ.findall("\n".join(texts)) == [("by-hand", "実行しました"), ("index", "セルなし")]
    assert '"実行しました"' in source


def test_cells_of_a_page_are_those_of_its_expectation(bench, tmp_path):
    (tmp_path / "small.md").write_text(bench.SMALL_PAGE.format(1), encoding="utf-8")
    assert len(bench.cells_of(tmp_path / "small.md")) == bench.SMALL_EXPECTED.count("\n- ") + 1 == 3
    for path in ROOT.glob("docs/_expected/*.yml"):
        count = len(re.findall(r"^- ", path.read_text(encoding="utf-8"), re.M))
        cells = len(bench.cells_of(ROOT / "docs" / f"{path.stem}.md"))
        assert count - cells in (0, 1)  # glued values are one more


def test_a_comment_is_added_to_the_first_cell_alone(bench):
    page = bench.SMALL_PAGE.format(1)
    changed = bench.comment_in_first_cell(page)
    assert changed.replace("# 追記\n", "") == page
    assert changed.index("print(x.sum(axis=1))\n# 追記\n```") < changed.index("行ごとの和です。")


def test_a_book_of_small_pages_builds_as_the_whole_book_does(bench, tmp_path):
    book, *_ = bench.small_books(tmp_path).values()
    bench.fill(book, 2)
    assert sorted(bench.build(book, "check").read) == ["index", "page-0", "page-1"]
    assert bench.build(book, "live").cells == 3  # the other page has the same cells: they come from the cache
    assert bench.build(book, "live").read == []


def test_the_kernels_can_be_switched_off(bench):
    conf = (ROOT / "conf.py").read_text(encoding="utf-8")
    assert '"kernels"' not in bench.without_kernels(conf)
    with pytest.raises(SystemExit, match="kernels"):
        bench.without_kernels("extensions = []")
