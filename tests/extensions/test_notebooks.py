"""Pages as notebooks: the text in Jupyter's Markdown, and the outputs of the build, however the page came to be read."""

import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from run_here import WHEEL

ROOT = Path(__file__).resolve().parents[2]
CONF = f"""
import sys
sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / "docs" / "_ext")!r}]
project, author, copyright, language = "小さな本", "著者", "著者", "ja"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinxcontrib.bibtex", "japanese", "ports", "recover", "notebooks"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
bibtex_bibfiles, bibtex_reference_style = ["references.bib"], "author_year"
nb_execution_mode, nb_merge_streams = "force", True
"""
HEAD = """---
file_format: mystnb
kernelspec:
  name: python3
---

# {}
"""
CELL = """
```{{code-cell}} ipython3
{}
```
"""
TEXT = r"""
一行目です。
*斜体*と**太字**、`a * b`と``a ` b``、\*と\_、a_b、5 < 6、<https://example.org/a>です。

- 一つ目は、$a_1 \times b$です。
  1. 中の一つ目
  2. 中の二つ目

  続きの段落
- 二つ目

| 名前 | 式 |
|---|---|
| `a\|b` | $x$ |
| 空 | |

$$
a = b
$$

> 引用

:::{admonition} 囲み
一つ目です。

- 項目
:::

:::{admonition} 1 < 2ですか。
:collapsible: closed
はい、$1 < 2$です。
:::

(here)=
## 参照

{ref}`next`と{ref}`別の名前 <next>`、{ref}`here`、{cite:t}`someone2020`、[外](https://example.org)です。

```{literalinclude} code.py
:language: python
```

```{raw} html
<svg><title>図の題</title><desc>図の説明 &amp; 続き</desc><text>中</text></svg>
```

```{eval-rst}
.. autofunction:: textwrap.dedent
```

% 見えない注
"""
IN_JUPYTER = [
    r"""一行目です。*斜体*と**太字**、`a * b`と`` a ` b ``、\*と\_、a_b、5 < 6、[https://example.org/a](https://example.org/a)です。

- 一つ目は、$a_1 \times b$です。

  1. 中の一つ目
  2. 中の二つ目

  続きの段落
- 二つ目

| 名前 | 式 |
|---|---|
| `a\|b` | $x$ |
| 空 |  |

$$
a = b
$$

> 引用

> **囲み**
>${SPACE}
> 一つ目です。
>${SPACE}
> - 項目

<details>
<summary>1 &lt; 2ですか。</summary>

はい、$1 < 2$です。

</details>""".replace("${SPACE}", " "),
    """## 参照

次のページと別の名前、参照、Someone [2020]、[外](https://example.org)です。

```python
def f():
    return 1
```

> **図：図の題**
>${SPACE}
> 図の説明 \\& 続き

**`textwrap.dedent(text)`**

Remove any common leading whitespace from every line in text.

説明の全体は、`help(textwrap.dedent)`で読めます。""".replace("${SPACE}", " "),
]
UNRUN = "-D", "nb_execution_mode=off"  # for what depends on no output
CACHED = "-D", "nb_execution_mode=cache"
CODE = """
```{code-cell} ipython3
import time

print("時刻", time.time_ns())
print("終わり")
```

```{code-cell} ipython3
:tags: [raises-exception]

1 / 0
```

```{code-cell} ipython3
---
tags: [hide-cell]
mystnb:
  code_prompt_show: 解答を開く
---
class Both:
    def _repr_mimebundle_(self, **options):
        return {"text/plain": "文", "text/html": "<b>文</b>"}


Both()
```

```{code-cell} ipython3
:tags: [remove-input]

print("式は見せません")
```
"""


class Book:
    def __init__(self, root):
        self.root, self.docs = root, root / "docs"
        self.docs.mkdir()
        (root / "conf.py").write_text(CONF, encoding="utf-8")
        (self.docs / "code.py").write_text("def f():\n    return 1\n", encoding="utf-8")
        (root / "references.bib").write_text(
            "@book{someone2020, author={A. Someone}, title={T}, publisher={P}, year=2020}"
        )
        self.write("index", "# 表紙\n\n```{toctree}\n:glob:\n\n*\n```\n\n```{bibliography}\n```\n")

    def write(self, page, text):
        (self.docs / f"{page}.md").write_text(text, encoding="utf-8")

    def build(self, *options):
        command = [sys.executable, "-m", "sphinx", "-c", ".", "-q", *options, "docs", "html"]
        env = os.environ | {"PYTHONUTF8": "1", "LC_ALL": "C"}
        run = subprocess.run(command, cwd=self.root, env=env, capture_output=True, encoding="utf-8")
        assert run.returncode == 0, run.stderr
        return run.stderr

    def file(self, page):
        return self.root / "html" / "_downloads" / "notebooks" / f"{page}.ipynb"

    def notebook(self, page):
        return nbformat.reads(self.file(page).read_text(encoding="utf-8"), as_version=4)

    def text(self, page):
        return [cell.source for cell in self.notebook(page).cells if cell.cell_type == "markdown"]

    def code(self, page):
        return [cell for cell in self.notebook(page).cells if cell.cell_type == "code"]


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    book = Book(tmp_path_factory.mktemp("book"))
    book.write("page", HEAD.format("題と`コード`") + TEXT + CELL.format("pass"))
    book.write("next", "(next)=\n# 次の*ページ*\n")
    book.write("cells", HEAD.format("セル") + CODE + "\n終わりです。\n")
    for n in range(4):  # Sphinx reads in parallel from six pages on
        book.write(f"more{n}", f"# {n}\n")
    said = book.build("-j", "2", "-W")
    assert "notebooks" not in said
    return book


def test_text_is_what_jupyter_reads(book):
    first, *rest = book.text("page")

    assert first.startswith("# 題と`コード`\n\n「小さな本」のページを")
    assert rest == IN_JUPYTER


def test_the_first_cell_tells_how_to_run_the_others(book):
    first = book.notebook("page").cells[0]

    assert first.cell_type == "markdown"
    assert f"`{WHEEL}`もダウンロードして、" in first.source
    assert f'%pip install "./{WHEEL}"\n' in first.source
    assert "numpy " in first.source
    assert "torch" not in first.source  # only a page that uses it makes its reader load it
    assert "http" not in first.source
    assert "© 著者。" in first.source


def test_a_page_says_what_it_needs(tmp_path):
    book = Book(tmp_path)
    book.write("plot", HEAD.format("題") + CELL.format("from attention_book.figures import heatmap"))
    book.write("layer", HEAD.format("題") + CELL.format("import torch"))
    book.build(*UNRUN)

    assert f'"./{WHEEL}[figures]"\n' in book.text("plot")[0]
    assert f'"./{WHEEL}" torch=={version("torch").partition("+")[0]}\n' in book.text("layer")[0]


def test_outputs_are_those_of_the_page(book):
    printed, error, solution, unseen = book.code("cells")
    html = (book.root / "html" / "cells.html").read_text(encoding="utf-8")

    assert [output.output_type for output in printed.outputs] == ["stream"]
    assert re.fullmatch("時刻 \\d+\n終わり\n", printed.outputs[0].text)
    assert printed.outputs[0].text in html
    assert [output.ename for output in error.outputs] == ["ZeroDivisionError"]
    assert error.metadata.tags == ["raises-exception"]
    assert solution.outputs[0].data == {"text/plain": "文", "text/html": "<b>文</b>"}
    assert unseen.source == 'print("式は見せません")'  # the cells after it may need it
    assert unseen.outputs[0].text == "式は見せません\n"
    assert [cell.execution_count for cell in (printed, error, solution, unseen)] == [1, 2, 3, 4]


def test_a_folded_cell_is_folded_and_says_what_it_is(book):
    *others, solution, unseen = book.code("cells")

    assert solution.source.startswith("# 解答を開く\nclass Both:")
    assert solution.metadata.jupyter == {"source_hidden": True, "outputs_hidden": True}
    assert unseen.metadata.jupyter == {"source_hidden": True}
    assert not any("jupyter" in cell.metadata for cell in others)


def test_notebooks_are_valid_and_their_ids_follow_the_cells(book):
    old = book.notebook("cells")
    nbformat.validate(old)
    assert (old.nbformat, old.nbformat_minor) == (4, 5)
    assert old.metadata.kernelspec.name == "python3"

    # two cells of one text: nbformat would give the second a random id
    changed = f"{HEAD.format('セル')}{CODE}{CELL.format('pass') * 2}\n終わりです。\n"
    book.write("cells", changed)
    book.build()
    new = book.notebook("cells")
    ids = [cell.id for cell in new.cells]

    assert [cell.id for cell in old.cells] == ids[:5] + ids[7:]


def test_a_cached_page_keeps_its_outputs(tmp_path):
    """myst-nb's own copy loses them. The cell prints the time, which tells of which run its output is."""
    book = Book(tmp_path)
    book.write("cells", HEAD.format("セル") + CODE)
    book.build(*CACHED)
    before = book.file("cells").read_bytes()
    book.build(*CACHED, "-E")  # reads every page again

    assert book.file("cells").read_bytes() == before


def test_a_page_that_is_not_read_again_keeps_its_outputs(book):
    before = book.file("cells").read_bytes()
    book.file("cells").unlink()
    book.build("-a")  # writes every page again

    assert book.file("cells").read_bytes() == before


def test_only_pages_with_cells_have_a_notebook(book):
    folder = book.file("page").parent
    linked = [path.stem for path in sorted((book.root / "html").glob("*.html")) if ".ipynb" in path.read_text("utf-8")]

    assert linked == sorted(path.stem for path in folder.iterdir()) == ["cells", "page"]


def downloads(book, page):
    soup = BeautifulSoup((book.root / "html" / f"{page}.html").read_text(encoding="utf-8"), "html.parser")
    return [link["href"] for link in soup.select(".notebook a[download]")]


def test_a_book_without_an_address_links_the_package_too(book):
    assert downloads(book, "page") == ["_downloads/notebooks/page.ipynb", f"_downloads/{WHEEL}"]


def test_a_hosted_book_links_its_pages(tmp_path):
    book = Book(tmp_path)
    book.write("next", "(next)=\n# 次のページ\n")
    text = "\n(here)=\n## 参照\n\n{ref}`next`と{ref}`here`、{cite:t}`someone2020`です。\n"
    book.write("page", HEAD.format("題") + text + CELL.format("pass"))
    book.build(*UNRUN, "-D", "html_baseurl=https://example.org/book")
    first, rest = book.text("page")

    assert f'%pip install "attention_book @ https://example.org/book/_downloads/{WHEEL}"\n' in first
    assert downloads(book, "page") == ["_downloads/notebooks/page.ipynb"]
    assert "元のページは<https://example.org/book/page.html>です。" in first
    assert "[次のページ](https://example.org/book/next.html#next)と" in rest
    assert "と[参照](https://example.org/book/page.html#here)、" in rest
    assert "Someone [[2020](https://example.org/book/index.html#id" in rest


def test_what_cannot_be_written_is_told(tmp_path):
    book = Book(tmp_path)
    book.write(
        "page",
        HEAD.format("題")
        + "\n```{parsed-literal}\n文\n```\n\n```{glossary}\n言葉\n  説明\n```\n"
        + CELL.format("pass"),
    )
    said = book.build(*UNRUN)

    assert "page.md:" in said
    assert "ノートブックへの書き方がない要素です: glossary。docs/_ext/notebook_text.py に加えてください。" in said
