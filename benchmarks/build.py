"""本を作る速さを測り、比の表を出します（nox -s bench -- build）。

    python benchmarks/build.py           # 全部（30分ほど）
    python benchmarks/build.py --quick   # 1回ずつ、枚数を少なくして（5分ほど）

一時フォルダーへの写しだけを使い、手元のファイルも_buildも変えません。
時間は機械で変わるので、同じ実行の中の比を見ます。
"""

import concurrent.futures
import contextlib
import io
import multiprocessing
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
CORES = multiprocessing.cpu_count()  # what Sphinx takes for -j auto
LIBRARIES = "torch", "matplotlib.pyplot"  # what the pages import, NumPy with them
KERNELS = '    "kernels",\n'  # in conf.py; without it every page has an ordinary kernel
CELL = re.compile(r"^```\{code-cell\}(?:.|\n)*?(?=^```$)", re.M)
READ = re.compile(r"^docs/(.+)\.md：[\d.]+秒（(.+)）$", re.M)  # docs/_ext/progress.py
EDITED = "by-hand"

SMALL_PAGE = """\
---
file_format: mystnb
kernelspec:
  name: python3
---

# 小さいページ{}

```{{code-cell}} ipython3
import numpy as np

x = np.arange(12).reshape(3, 4)
print(x.sum(axis=1))
```

行ごとの和です。

```{{code-cell}} ipython3
print(x.T @ x)
```

```{{code-cell}} ipython3
assert (x >= 0).all()
```
"""
SMALL_EXPECTED = """\
- - stream: '[ 6 22 38]'
- - stream: |-
      [[ 80  92 104 116]
       [ 92 107 122 137]
       [104 122 140 158]
       [116 137 158 179]]
- []
"""
PLAIN_CONF = """\
extensions = ["myst_nb"]
language = "ja"
html_theme = "furo"
nb_execution_mode = "force"
"""


class Build(NamedTuple):
    seconds: float
    read: list  # the pages that Sphinx read
    cells: int  # how many cells ran


def build(root, mode):
    """Build as the sessions do: `check` is nox -s docs, `live` what nox -s live starts after each save."""
    fresh = ("-E", "-a", "-j", "auto") if mode == "check" else ()
    command = [sys.executable, "-m", "sphinx", "-c", ".", "-d", f"_build/{mode}-doctrees", *fresh]
    command += ["docs", f"_build/{mode}"]
    env = os.environ | {"BOOK_MODE": mode, "NO_COLOR": "1"}
    start = time.perf_counter()
    done = subprocess.run(
        command, cwd=root, env=env, encoding="utf-8", stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    seconds = time.perf_counter() - start
    if done.returncode:
        sys.exit(f"{done.stdout}\n本を作れないので、測れません。")
    pages = dict(READ.findall(done.stdout))
    ran = [page for page, how in pages.items() if how == "実行しました"]
    return Build(seconds, [*pages], sum(len(cells_of(root / "docs" / f"{page}.md")) for page in ran))


def cells_of(path):
    return CELL.findall(path.read_text(encoding="utf-8"))


def fastest(root, mode, rounds):
    return min(build(root, mode) for _ in range(rounds))


def own_time(root):
    """Return the CPU seconds of one import of the libraries, and of all cells, run in this one plain process.

    IPython, which the kernels use too, shows the values and draws the figures of the cells.
    """
    os.chdir(root / "docs")
    sys.path.insert(0, str(root))
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"  # as in a kernel
    start = time.process_time()
    for name in LIBRARIES:
        __import__(name)
    imports, cells = time.process_time() - start, 0.0
    from IPython.core.interactiveshell import InteractiveShell
    from myst_nb.core.read import read_myst_markdown_notebook
    from traitlets.config import Config

    shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
    for path in sorted(Path().glob("*.md")):
        notebook = read_myst_markdown_notebook(path.read_text(encoding="utf-8"))
        shell.reset(new_session=False)
        for cell in notebook.cells:
            if cell.cell_type != "code":
                continue
            start = time.process_time()
            with contextlib.redirect_stdout(io.StringIO()):
                result = shell.run_cell(cell.source)
            cells += time.process_time() - start
            if not result.success and "raises-exception" not in cell.metadata.get("tags", []):
                sys.exit(f"{path} のセルが失敗したので、測れません: {result.error_in_exec!r}\n{cell.source}")
    return imports, cells


def copy_book(root):
    skip = shutil.ignore_patterns("__pycache__", "profile_default")
    for name in ("attention_book", "docs", "third_party"):
        shutil.copytree(ROOT / name, root / name, ignore=skip)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, root)
    profile = Path("docs/_ipython/profile_default/ipython_kernel_config.py")
    (root / profile).parent.mkdir()
    shutil.copy(ROOT / profile, root / profile)
    shutil.copy(ROOT / "conf.py", root)
    return root


def edit(path, change):
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")


def without_kernels(conf):
    if conf.count(KERNELS) != 1:
        sys.exit("conf.py の extensions に kernels が見つかりません。benchmarks/build.py を直してください。")
    return conf.replace(KERNELS, "")


def comment_in_first_cell(page):
    return CELL.sub(lambda match: f"{match[0]}# 追記\n", page, count=1)


def fresh(root, rounds):
    """Yield the rows of a whole build: ours, the bound it is compared with, ordinary kernels."""
    say("測っています：全セルのCPU時間")
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=spawn) as pool:
        imports, cells = pool.submit(own_time, root).result()
    bound = (cells + CORES * imports) / CORES
    say("測っています：全部を作り直す")
    ours = fastest(root, "check", rounds)
    edit(root / "conf.py", without_kernels)
    ordinary = fastest(root, "check", rounds)
    shutil.copy(ROOT / "conf.py", root)
    yield from ("| | 秒 | 下限との比 |", "| --- | ---: | ---: |")
    yield f"| 全セルのCPU時間（1つのプロセス、ライブラリを除く） | {cells:.1f} | |"
    yield f"| ライブラリを1回読み込むCPU時間（{'、'.join(LIBRARIES)}） | {imports:.1f} | |"
    yield f"| 下限：(全セル + {CORES} × 読み込み) ÷ {CORES}コア | {bound:.1f} | 1 |"
    yield f"| 全部を作り直す | {ours.seconds:.1f} | {mark(ours.seconds / bound, 1.5)} |"
    yield f"| 全部を作り直す（普通のカーネル） | {ordinary.seconds:.1f} | {ordinary.seconds / bound:.2f} |"
    yield f"\n枝分かれするカーネルは、普通のカーネルの{ordinary.seconds / ours.seconds:.1f}倍の速さです。\n"
    yield from edits(root, ours.seconds, rounds)


def edits(root, whole, rounds):
    """Yield the rows of what is rebuilt after a save."""
    page, module = root / "docs" / f"{EDITED}.md", root / "attention_book" / "softmax.py"
    say("測っています：変えたものだけを作り直す")
    build(root, "live")
    found = {}
    for _ in range(rounds):
        for title, path, change in (
            ("何も変えない", page, None),
            (f"1ページの文章を変える（{EDITED}）", page, lambda text: f"{text}\n\n追記です。\n"),
            (f"1ページのコードを変える（{EDITED}）", page, comment_in_first_cell),
            ("パッケージを変える", module, lambda text: f"{text}\n# 追記\n"),
        ):
            if change:
                edit(path, change)
            found.setdefault(title, []).append(build(root, "live"))
    yield from (
        "| 変えたもの（live） | 秒 | 作り直しとの比 | 読んだページ | 動かしたセル |",
        "| --- | ---: | ---: | ---: | ---: |",
    )
    for title, builds in found.items():
        best = min(builds)
        seconds = mark(best.seconds, 3) if "文章" in title else f"{best.seconds:.1f}"
        yield f"| {title} | {seconds} | {best.seconds / whole:.2f} | {len(best.read)} | {best.cells} |"


def mark(number, limit):
    """Write the number with its target, from issue 4."""
    return f"{number:.2f} {'○' if number <= limit else '×'}（目標は{limit}以下）"


def small_books(parent):
    """Return {title: folder} of books with one small page, its expectation accepted."""
    books = {
        title: parent / folder
        for title, folder in (("この本", "a"), ("普通のカーネル", "b"), ("furoとMyST-NBだけ", "c"))
    }
    ours, ordinary, plain = books.values()
    copy_book(ours)
    for path in (*ours.glob("docs/*.md"), *ours.glob("docs/_expected/*.yml")):
        path.unlink()
    shutil.copytree(ours, ordinary)
    edit(ordinary / "conf.py", without_kernels)
    (plain / "docs").mkdir(parents=True)
    (plain / "conf.py").write_text(PLAIN_CONF, encoding="utf-8")
    return books


def fill(root, count):
    """Let the book have that many small pages, with what the gate expects of them."""
    docs = root / "docs"
    names = [f"page-{n}" for n in range(count)]
    for name in names:
        (docs / f"{name}.md").write_text(SMALL_PAGE.format(name.partition("-")[2]), encoding="utf-8")
        if (docs / "_expected").exists():
            (docs / "_expected" / f"{name}.yml").write_text(SMALL_EXPECTED, encoding="utf-8")
    (docs / "index.md").write_text(
        "\n".join(["# 本", "", "```{toctree}", ":caption: 本編", *names, "```", ""]), encoding="utf-8"
    )


def growth(parent, counts):
    """Yield the rows of books of many small pages."""
    books = small_books(parent)
    yield f"| 小さいページ | {' | '.join(f'{title}（秒）' for title in books)} | この本 ÷ furoとMyST-NBだけ |"
    yield f"| --- | {'---: | ' * len(books)}---: |"
    seconds = {}
    for count in counts:
        for title, root in books.items():
            say(f"測っています：{count}枚、{title}")
            fill(root, count)
            seconds[count, title] = build(root, "check").seconds
        row = [seconds[count, title] for title in books]
        yield row_of(f"{count}枚", row)
    few, *_, many = counts
    added = [(seconds[many, title] - seconds[few, title]) / (many - few) for title in books]
    yield row_of("1枚ふえるごと", added)


def row_of(title, row):
    return f"| {title} | {' | '.join(f'{number:.2f}' for number in row)} | {row[0] / row[-1]:.2f} |"


def say(text):
    print(text, file=sys.stderr, flush=True)


def machine():
    from bench import processor  # only now: it imports torch

    pages = [path for path in ROOT.glob("docs/*.md") if cells_of(path)]
    yield f"{time.strftime('%Y-%m-%d')}、{processor()}、{CORES}コア、Python {platform.python_version()} で測りました。"
    if hasattr(os, "getloadavg"):  # not on Windows; other work on the machine spoils the seconds
        yield f"始めたときの負荷（load average）は{os.getloadavg()[0]:.1f}です。"
    yield f"セルのあるページは{len(pages)}枚、セルは{sum(len(cells_of(path)) for path in pages)}個です。\n"


def main():
    quick = sys.argv[1:] == ["--quick"]
    if sys.argv[1:] and not quick:
        sys.exit(f"使える引数は --quick だけです: {' '.join(sys.argv[1:])}。")
    with tempfile.TemporaryDirectory() as folder:
        print("".join(machine()), flush=True)
        for row in fresh(copy_book(Path(folder, "book")), 1 if quick else 3):
            print(row, flush=True)
        print()
        for row in growth(Path(folder), (5, 10, 20) if quick else (20, 50, 200)):
            print(row, flush=True)


if __name__ == "__main__":
    main()
