"""コードセルのあるページを、このビルドの出力ごとJupyterノートブック（.ipynb）にして、ページからダウンロードできるようにする。

出力は、ページを読むときにdoctreeへ添えたものです。控えを使っても、並列に読んでも、読み直さなくても、HTMLと同じ出力です。
文章は、参照や文献を解決し終えたdoctreeを、JupyterのMarkdownに書き直したものです。
"""

import hashlib
import re
import sys
from collections import Counter
from importlib.metadata import version
from pathlib import Path

import nbformat
from docutils import nodes
from myst_nb.sphinx_ import SphinxNbRenderer
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from notebook_text import Markdown
from outputs import is_box
from run_here import WHEEL
from sphinx import addnodes

render_cell = SphinxNbRenderer.render_nb_cell_code

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
TORCH = re.compile(r"^(?:import|from) torch\b", re.M)
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
ABOUT = """\
「{project}」のページを、サイトを作ったときの出力ごと、ノートブックにしたものです。{source}

セルを動かすには、この本のパッケージ`attention_book`が要ります。\
{first}次の1行を、新しいセルで1度だけ実行してください。

```
%pip install "{package}"{more}
```

出力は、{versions}で計算しました。\
ほかの版では、少し変わることがあります。

© {copyright}。"""
BESIDE = f"このファイルと同じページから`{WHEEL}`もダウンロードして、このファイルと同じフォルダーに置きます。"


def parts(section, write, level=0):
    """Yield texts and code cells in the order of the page."""
    for node in section.children:
        if isinstance(node, nodes.section):
            yield from parts(node, write, level + 1)
        elif is_box("cell_code")(node):
            yield node
        elif text := write(node):
            yield f"{'#' * level} {text}" if isinstance(node, nodes.title) else text


def notebook(tree, about, write):
    """Return the page as a notebook: the same cells in the same order, and ids that depend on nothing else."""
    title, *rest = parts(tree, write)
    cells = [new_markdown_cell(f"{title}\n\n{about}")]
    for n, part in enumerate(rest):
        if not isinstance(part, str):
            cells.append(code_cell(part))
        elif n and cells[-1].cell_type == "markdown" and not part.startswith("#"):
            cells[-1].source += f"\n\n{part}"
        else:
            cells.append(new_markdown_cell(part))
    seen = Counter()
    for cell in cells:
        cell.id = hashlib.sha256(f"{seen[cell.source]} {cell.source}".encode()).hexdigest()[:16]
        seen[cell.source] += 1
    return new_notebook(cells=cells, metadata={"kernelspec": KERNEL, "language_info": {"name": "python"}})


def code_cell(node):
    """Return the cell; what the page folds or leaves out is folded. Jupyter shows the first line of a folded one."""
    (source, outputs), tags = node["executed"], node["cell_metadata"].get("tags", [])
    metadata = {"tags": tags} if tags else {}
    if "hide-cell" in tags:
        source = f"# {node['prompt_show']}\n{source}"
        metadata["jupyter"] = {"source_hidden": True, "outputs_hidden": True}
    elif "remove-input" in tags:
        metadata["jupyter"] = {"source_hidden": True}
    return new_code_cell(source, execution_count=node["exec_count"], outputs=outputs, metadata=metadata)


def about(config, tree, base, address):
    """Return what the reader of the file must know: what it is, how its cells run, and the licence."""
    code = "\n".join(node["executed"][0] for node in tree.findall(is_box("cell_code")))
    used = {"numpy": True, "matplotlib": "attention_book.figures" in code, "torch": TORCH.search(code)}
    versions = {name: version(name).partition("+")[0] for name, needed in used.items() if needed}
    return ABOUT.format(
        project=config.project,
        source=f"元のページは<{address}>です。" if address else "",
        first="" if base else BESIDE,
        package=package(base, "[figures]" if "matplotlib" in versions else ""),
        more=f" torch=={versions['torch']}" if "torch" in versions else "",
        versions="、".join([f"Python {PYTHON}", *map(" ".join, versions.items())]),
        copyright=config.copyright,
    )


def package(base, extra):
    """Return what pip installs: the wheel that run_here.py publishes, or the reader's copy of it."""
    return f"attention_book{extra} @ {base}_downloads/{WHEEL}" if base else f"./{WHEEL}{extra}"


def keep_cell(self, token):
    """Replace SphinxNbRenderer's method: its nodes hold what HTML shows, a notebook needs the cell itself."""
    render_cell(self, token)
    _, outputs = self.nb_client.code_cell_outputs(token.meta["index"])
    for node in self.current_node[-1:]:
        if node.get("cell_index") == token.meta["index"]:  # the page shows something of it
            node["executed"] = token.content.rstrip("\n"), outputs


def attach(app, tree, page):
    """Write the notebook of a page with cells beside its HTML, and link it below the title."""
    if app.builder.format != "html" or not any(tree.findall(is_box("cell_code"))):
        return
    base = app.config.html_baseurl and f"{app.config.html_baseurl.rstrip('/')}/"
    address = base and base + app.builder.get_target_uri(page)
    text = nbformat.writes(notebook(tree, about(app.config, tree, base, address), Markdown(address))) + "\n"
    name = f"notebooks/{page}.ipynb"
    path = Path(app.outdir, "_downloads", name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    words = f"Jupyterノートブック（{len(text.encode()) / 1000:.0f}\N{NO-BREAK SPACE}kB）をダウンロード"
    links = [addnodes.download_reference("", words, filename=name)]
    if not base:
        links.append(addnodes.download_reference("", "動かすためのパッケージをダウンロード", filename=WHEEL))
    title = next(tree.findall(nodes.title))
    title.parent.insert(1, nodes.paragraph("", "", *links, classes=["notebook"]))


def setup(app):
    SphinxNbRenderer.render_nb_cell_code = keep_cell
    app.connect("doctree-resolved", attach)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
