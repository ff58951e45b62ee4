"""Each page with cells as a notebook: it says what the page says, shows its outputs, and runs in Jupyter."""

import re
import shutil
import subprocess
import sys
from base64 import b64decode
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from conftest import ADDRESS
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from nbclient import NotebookClient
from notebooks import package
from run_here import WHEEL

ROOT = Path(__file__).resolve().parents[2]
SOURCES = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md"))}
PAGES = [page for page, source in SOURCES.items() if "{code-cell}" in source]
RUN = ["about", "by-hand", "masks", "torch-mha"]  # versions, exercises, figures, PyTorch and the package's data
MARKDOWN = MarkdownIt("commonmark").enable("table").use(dollarmath_plugin)

every_notebook = pytest.mark.parametrize("page", PAGES)


@pytest.fixture(scope="session")
def notebook(site):
    return lambda page: nbformat.read(site / "_downloads" / "notebooks" / f"{page}.ipynb", as_version=4)


def code_of(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def shown(output):
    """Return what a reader sees of an output: (kind, text), a figure by its bytes."""
    if output.output_type == "stream":
        return output.name, output.text.rstrip("\n")
    if output.output_type == "error":
        return "error", re.sub(r"\x1b\[[\d;]*m", "", "\n".join(output.traceback)).rstrip("\n")
    if "image/png" in output.data:
        return "figure", b64decode(output.data["image/png"])
    if "text/html" in output.data:
        return "html", BeautifulSoup(output.data["text/html"], "html.parser").get_text().strip("\n")
    return "text", output.data["text/plain"].rstrip("\n")


def shown_in(site, cell):
    """Return the same of a cell of the page."""
    for box in cell.select(".cell_output > *"):
        if image := box if box.name == "img" else box.find("img"):
            yield "figure", (site / image["src"]).read_bytes()
        elif "text_html" in box["class"]:
            yield "html", box.get_text().strip("\n")
        else:
            kinds = {"stream": "stdout", "traceback": "error", "text_plain": "text"}
            yield next(kinds[name] for name in box["class"] if name in kinds), box.get_text().rstrip("\n")


def test_every_page_with_cells_links_its_notebook_and_nothing_else_is_published(site, soup):
    linked = {page: [a["href"] for a in soup(page).select("a[download]")] for page in SOURCES}

    assert linked == {page: [f"_downloads/notebooks/{page}.ipynb"] * (page in PAGES) for page in SOURCES}
    assert sorted(path.relative_to(site).as_posix() for path in site.rglob("*.ipynb")) == sorted(
        f"_downloads/notebooks/{page}.ipynb" for page in PAGES
    )


def test_the_link_gives_the_file_by_its_name(site, hand):
    tab = hand("by-hand")
    with tab.expect_download() as download:
        tab.get_by_role("link", name="Jupyterノートブック（").click()

    assert download.value.suggested_filename == "by-hand.ipynb"
    assert Path(download.value.path()).read_bytes() == (site / "_downloads/notebooks/by-hand.ipynb").read_bytes()


@every_notebook
def test_the_file_is_a_valid_notebook(notebook, page):
    read = notebook(page)
    nbformat.validate(read)

    assert (read.nbformat, read.nbformat_minor, read.metadata.kernelspec.name) == (4, 5, "python3")
    assert '\n%pip install "attention_book' in read.cells[0].source


@every_notebook
def test_cells_and_outputs_are_those_of_the_page(site, soup, notebook, page):
    cells, boxes = code_of(notebook(page)), soup(page).article.select("div.cell")

    assert len(cells) == len(boxes) > 0
    for cell, box in zip(cells, boxes, strict=True):
        folded = "tag_hide-cell" in box["class"]
        prompt = f"# {box.select_one('.collapsed').get_text()}\n" if folded else ""
        for code in box.select(".cell_input pre"):
            assert cell.source == prompt + code.get_text().rstrip("\n")
        assert [*map(shown, cell.outputs)] == list(shown_in(site, box))
        assert ("raises-exception" in cell.metadata.get("tags", [])) == ("tag_raises-exception" in box["class"])
        assert ("jupyter" in cell.metadata) == (folded or "tag_remove-input" in box["class"])


@pytest.mark.parametrize("page", [page for page in PAGES if page != "api"])  # of a docstring: its first sentence
def test_the_text_is_that_of_the_page(soup, notebook, page):
    """Rendered as Jupyter does, formulas aside: nothing is lost, and no mark of Markdown or MyST is left to be seen."""
    first, *rest = (cell.source for cell in notebook(page).cells if cell.cell_type == "markdown")
    html = MARKDOWN.render("\n\n".join([first.splitlines()[0], *rest]))
    in_jupyter = BeautifulSoup(html, "html.parser")
    in_browser = BeautifulSoup(str(soup(page).article), "html.parser")
    for gone in in_browser.select(".notebook, .headerlink, .section-number, div.cell, math, .eqno, svg text"):
        gone.decompose()
    for gone in in_jupyter.select(".math"):
        gone.decompose()

    here, there = (re.sub(r"\s|図：", "", tree.get_text()) for tree in (in_jupyter, in_browser))
    assert here == there
    assert html.count('class="math ') == len(soup(page).article.select("math"))


def install(package, target, folder):
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-index",
        "--target",
        str(target),
        package,
    ]
    subprocess.run(command, cwd=folder, check=True)
    return target


@pytest.fixture(scope="module", params=["by address", "from beside"])
def installed(request, site, base_url, notebook, tmp_path_factory):
    """The package as the first cell has it installed: from the site, or from a download in the same folder."""
    folder = tmp_path_factory.mktemp("reader")
    if request.param == "from beside":
        shutil.copy(site / "_downloads" / WHEEL, folder)
        return install(package("", "[figures]"), folder / "target", folder)
    (named,) = re.findall('^%pip install "(.+)"$', notebook("by-hand").cells[0].source, re.M)
    assert named == package(ADDRESS, "[figures]")
    return install(named.replace(ADDRESS, base_url), folder / "target", folder)


@pytest.mark.parametrize("page", RUN)
def test_it_runs_in_jupyter(monkeypatch, tmp_path, notebook, installed, page):
    """In a folder of its own, with no settings of the book; a cell that fails without saying so ends the test."""
    monkeypatch.setenv("PYTHONPATH", str(installed))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "1")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    (tmp_path / "empty").mkdir()
    before, after = notebook(page), notebook(page)
    place = {"metadata": {"path": str(tmp_path / "empty")}}
    NotebookClient(after, timeout=120, resources=place, coalesce_streams=True).execute()

    for old, new in zip(code_of(before), code_of(after), strict=True):
        if old.outputs and old.outputs[-1].output_type == "error":  # Jupyter shows more of the traceback
            old, new = ([*cell.outputs[:-1], cell.outputs[-1].evalue] for cell in (old, new))
            assert old == new
        else:
            assert [*map(shown, new.outputs)] == [*map(shown, old.outputs)]
