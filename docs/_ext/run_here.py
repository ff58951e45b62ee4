"""ページの中で動くセルを決め、そのためのPythonをサイトに置く。

動くのは、NumPyと標準ライブラリと attention_book だけで足りるセルです。
PyTorchか図を使うセルと、そこで作った名前を使うセルは、ビルド時の出力を見せるだけです。
ビルドした機械について調べるセルには、ページで build-only のタグを付けます。
Pythonは third_party/pyodide にあります。1バイトでも違えば、ビルドが止まります。
"""

import base64
import dis
import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import CodeType

from faults import tags_of
from outputs import is_box, is_input
from sphinx.errors import ExtensionError

from attention_book import __version__

ROOT = Path(__file__).resolve().parents[2]
RUNTIME = ROOT / "third_party" / "pyodide"
PACKAGE = ROOT / "attention_book"
BUILT_FROM = ["pyproject.toml", "README.md", "LICENSE"]  # besides the package, what its wheel is made of
WHEEL = f"attention_book-{__version__}-py3-none-any.whl"
BUILT_ONLY = {"torch": "torch", "matplotlib": "plot", "attention_book.figures": "plot"}  # module: why not here


def reasons(cells):
    """Return for each (source, labels) why it does not run in the page, or None when it does."""
    missing = {}  # a name that no cell of the page makes in the browser: why
    found = []
    for source, labels in cells:
        try:
            code = compile(source, "<cell>", "exec")
        except SyntaxError:  # half-written, or with IPython's own syntax
            found.append("ipython")
            continue
        used, stored = names(code)
        why = "build" if "build-only" in labels else next(filter(None, map(stopped_by, modules(code))), None)
        why = why or next((missing[name] for name in sorted(used) if name in missing), None)
        for name in stored:
            missing.pop(name, None)
        if why:
            missing.update(dict.fromkeys(stored, why))
        found.append(why)
    return found


def names(code):
    """Return the global names that the code needs from before, and those that it makes."""
    used, stored, inner = set(), set(), set()
    for step in dis.get_instructions(code):
        if step.opname in ("STORE_NAME", "STORE_GLOBAL"):
            stored.add(step.argval)
        elif step.opname in ("LOAD_NAME", "LOAD_GLOBAL") and step.argval not in stored:
            used.add(step.argval)
        elif isinstance(step.argval, CodeType):
            inner |= names(step.argval)[0]
    return used | (inner - stored), stored


def modules(code):
    for step in dis.get_instructions(code):
        if step.opname == "IMPORT_NAME":
            yield step.argval
        elif isinstance(step.argval, CodeType):
            yield from modules(step.argval)


def stopped_by(module):
    return next((why for name, why in BUILT_ONLY.items() if f"{module}.".startswith(f"{name}.")), None)


def mark_cells(app, tree):
    """Give each cell a class that says whether it runs in the page; run.js reads it."""
    # a cell without its code, of which only the output is shown, has nothing to run
    cells = [(cell, code) for cell in tree.findall(is_box("cell_code")) for code in cell.findall(is_input)]
    found = reasons([(code.astext(), tags_of(cell)) for cell, code in cells])
    for (cell, _), why in zip(cells, found, strict=True):
        cell["classes"].append(f"needs-{why}" if why else "runs-here")


def place_runtime(app):
    """Copy Python to the site, with a wheel of this checkout's package; nothing to do when it is there."""
    if app.builder.format != "html":
        return
    key = digest(*sources(), RUNTIME / "SHA256SUMS", Path(__file__))
    folder = Path(app.outdir, "_static", "run")
    spec = folder / f"runtime-{key}.json"
    if not spec.exists():
        fill(folder, spec, key)
    size = json.loads(spec.read_text(encoding="utf-8"))["compressed"]
    app.run_here = f"_static/run/{spec.name}", f"{size / 1e6:.0f}"


def fill(folder, spec, key):
    core = folder / f"pyodide-{digest(RUNTIME / 'SHA256SUMS')}"
    core.mkdir(parents=True, exist_ok=True)
    lock, files = checked_files()
    for file in files:
        shutil.copyfile(file, core / file.name)
    # only NumPy's row, and no time of day: the whole lock is 110 kB
    (core / "pyodide-lock.json").write_text(json.dumps(lock), encoding="utf-8")
    shutil.copytree(RUNTIME / "LICENSES", core / "LICENSES", dirs_exist_ok=True)
    # the notebooks name the address of the wheel, so it stays; the question tells a browser's cache of a new one
    wheel = build_wheel(sources(), folder.parents[1] / "_downloads")
    files = {f"{core.name}/{file.name}": file for file in files} | {f"../../_downloads/{WHEEL}?{key}": wheel}
    for old in folder.glob("runtime-*.json"):
        old.unlink()
    text = json.dumps(
        {
            "core": f"{core.name}/",
            "wheel": list(files)[-1],
            "files": {address: [file.stat().st_size, integrity(file)] for address, file in files.items()},
            "compressed": sum(len(gzip.compress(f.read_bytes(), 6)) for f in files.values()),  # what most servers send
        }
    )
    spec.write_text(text, encoding="utf-8")


def sources():
    package = sorted(p for p in PACKAGE.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    return [*package, *(ROOT / name for name in BUILT_FROM)]


def checked_files():
    """Return the trimmed lock and the files to load; each has the checksum that Pyodide's release gives it."""
    rows = (row.split() for row in (RUNTIME / "SHA256SUMS").read_text(encoding="utf-8").splitlines())
    sums = {name: want for want, name in rows}
    check(RUNTIME / "pyodide-lock.json", sums.pop("pyodide-lock.json"))
    lock = json.loads((RUNTIME / "pyodide-lock.json").read_text(encoding="utf-8"))
    numpy = lock["packages"]["numpy"]
    sums[numpy["file_name"]] = numpy["sha256"]
    for name, want in sums.items():
        check(RUNTIME / name, want)
    return lock | {"packages": {"numpy": numpy}}, [RUNTIME / name for name in sums]


def check(file, want):
    if not file.is_file():
        raise ExtensionError(f"{file.relative_to(ROOT)} がありません。git checkout third_party で戻してください。")
    got = hashlib.sha256(file.read_bytes()).hexdigest()
    if got != want:
        raise ExtensionError(
            f"{file.relative_to(ROOT)} のsha256が {got} で、配布元の値 {want} と違います。"
            "git checkout third_party で戻してください。版を上げるなら third_party/pyodide/README.md の手順で行います。"
        )


def build_wheel(files, folder):
    """Build the package's wheel from a copy, as the build leaves files beside its sources."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as copy:
        for file in files:
            target = Path(copy, file.relative_to(ROOT))
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
        command = f"from setuptools.build_meta import build_wheel; build_wheel({str(folder)!r})"
        epoch = {"SOURCE_DATE_EPOCH": "315532800"}  # 1980, where zip begins: the same package gives the same bytes
        run = subprocess.run(
            [sys.executable, "-c", command], cwd=copy, env=os.environ | epoch, capture_output=True, encoding="utf-8"
        )
    if run.returncode:
        raise ExtensionError(f"attention_book のwheelを作れませんでした。\n{run.stderr}")
    return folder / WHEEL


def digest(*files):
    sums = [f"{file.relative_to(ROOT).as_posix()} {hashlib.sha256(file.read_bytes()).hexdigest()}" for file in files]
    return hashlib.sha256("\n".join(sums).encode()).hexdigest()[:12]


def integrity(file):
    return "sha256-" + base64.b64encode(hashlib.sha256(file.read_bytes()).digest()).decode()


def load_script(app, pagename, templatename, context, tree):
    """Only pages with such a cell load the script; it learns from its element where Python is."""
    if tree is not None and any("runs-here" in cell["classes"] for cell in tree.findall(is_box("cell_code"))):
        spec, megabytes = app.run_here
        where = {"data-runtime": context["pathto"](spec, resource=True), "data-megabytes": megabytes}
        app.add_js_file("run/run.js", type="module", **where)
        app.add_css_file("run/run.css")


def setup(app):
    app.connect("builder-inited", place_runtime)
    app.connect("doctree-read", mark_cells)
    app.connect("html-page-context", load_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
