"""What `nox -s bench -- weight` counts and writes; what the browser fetches is not tested."""

import gzip
import sys
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def weight():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    import weight

    yield weight
    sys.path.remove(str(ROOT / "benchmarks"))


def test_text_is_sent_with_gzip_and_pictures_as_they_are(weight, tmp_path):
    (tmp_path / "page.html").write_bytes(b"<p>text</p>" * 100)
    (tmp_path / "plot.png").write_bytes(b"\x89PNG" * 100)
    weight.SENT.clear()
    with weight.served(tmp_path) as address:
        page, plot = (urllib.request.urlopen(f"{address}{name}").read() for name in ("page.html?v=1", "plot.png"))
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(f"{address}lost.css")

    assert gzip.decompress(page) == b"<p>text</p>" * 100
    assert plot == b"\x89PNG" * 100
    assert {"/page.html?v=1": len(page), "/plot.png": len(plot), "/lost.css": 0} == weight.SENT
    assert weight.weigh(weight.SENT) == weight.Weight(3, len(page) + len(plot))


def test_files_of_the_cdn_are_those_of_npm(weight, tmp_path):
    for address, file in (
        ("mathjax@4/sre/mathmaps/en.json", "mathjax/sre/mathmaps/en.json"),
        ("@mathjax/mathjax-newcm-font@4.1.3/chtml/a.js?v=1", "@mathjax/mathjax-newcm-font/chtml/a.js"),
    ):
        assert weight.npm_file(tmp_path, weight.CDN + address) == tmp_path / "node_modules" / file


def test_the_table_compares_each_page_and_ends_with_the_middle_and_the_most(weight):
    ours = {"a": weight.Weight(2, 1000), "b": weight.Weight(4, 3000), "c": weight.Weight(9, 8000)}
    plain = {"a": weight.Weight(3, 4000), "b": weight.Weight(5, 6000), "c": weight.Weight(6, 8000)}
    assert list(weight.rows(ours, plain))[2:] == [
        "| a | 2 | 1 | 3 | 4 | 0.25 |",
        "| b | 4 | 3 | 5 | 6 | 0.50 |",
        "| c | 9 | 8 | 6 | 8 | 1.00 |",
        "| **中央値** | 4 | 3 | 5 | 6 | 0.50 |",
        "| **最大** | 9 | 8 | 6 | 8 | 1.00 |",
    ]
    assert weight.row("x", ours["a"], None) == "| x | 2 | 1 | | | |"


def test_plain_pages_know_what_ours_are_written_with(weight):
    """Its configuration names the extensions of others that ours names, and the same syntax."""
    conf = (ROOT / "conf.py").read_text(encoding="utf-8")
    for line in ("myst_enable_extensions = ", "bibtex_bibfiles = ", "bibtex_reference_style = "):
        (found,) = [row.partition("  #")[0] for row in conf.splitlines() if row.startswith(line)]
        assert found in weight.SAME_PAGES
    for name in ("sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinxcontrib.bibtex"):
        assert f'"{name}"' in conf
        assert f'"{name}"' in weight.SAME_PAGES
