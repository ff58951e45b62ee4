"""Which cells run in the page, the Python that they run on, and what it says about a cell."""

import shutil
import zipfile
from pathlib import Path

import pytest
import run_here
from sphinx.errors import ExtensionError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def run_cell(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_static" / "run"))
    from cell import run_cell

    return lambda source, namespace=None: run_cell(source, {} if namespace is None else namespace, "<セル3>")


@pytest.mark.parametrize(
    ("sources", "why"),
    [
        (["import numpy as np", "np.ones(3)"], [None, None]),
        (["import torch", "torch.ones(3)"], ["torch", "torch"]),
        (["import torch.nn as nn", "x = 1"], ["torch", None]),
        (["import torchlike"], [None]),
        (["from torch import ones\nx = ones(3)", "y = 2 * x", "print(y)"], ["torch", "torch", "torch"]),
        (["def f():\n    import torch\n    return torch", "f()"], ["torch", "torch"]),
        (["from attention_book.figures import heatmap", "heatmap([[1.0]])"], ["plot", "plot"]),
        (["from attention_book import softmax", "softmax([1.0])"], [None, None]),
        (["import torch\nx = 1", "x = 2", "print(x)"], ["torch", None, None]),  # made anew by a cell that runs
        (["import torch\nx = 1", "x = x + 1", "print(x)"], ["torch", "torch", "torch"]),
        (["import torch\nx = 1", "def f(x):\n    return x", "f(2)"], ["torch", None, None]),  # an argument of that name
        (["import torch\nx = 1", "def f():\n    return x"], ["torch", "torch"]),
        (["import torch\nx = 1", "[x for x in range(3)]"], ["torch", None]),
        (["import torch\nx = 1", "def f():\n    return x\nx = 2"], ["torch", None]),
        (["%time 1", "x = 1"], ["ipython", None]),
    ],
)
def test_reasons(sources, why):
    assert run_here.reasons([(source, []) for source in sources]) == why


def test_a_label_keeps_a_cell_from_the_page():
    assert run_here.reasons([("x = 1", ["build-only"]), ("x", [])]) == ["build", "build"]


@pytest.fixture
def runtime(tmp_path, monkeypatch):
    folder = tmp_path / "third_party" / "pyodide"  # a copy, to be damaged
    shutil.copytree(run_here.RUNTIME, folder)
    monkeypatch.setattr(run_here, "ROOT", tmp_path)
    monkeypatch.setattr(run_here, "RUNTIME", folder)
    return folder


def test_runtime_is_what_was_released(runtime):
    lock, files = run_here.checked_files()
    assert list(lock["packages"]) == ["numpy"]
    assert {file.suffix for file in files} == {".mjs", ".wasm", ".zip", ".whl"}
    assert all(file.is_file() for file in files)


@pytest.mark.parametrize("name", [file.name for file in run_here.checked_files()[1]] + ["pyodide-lock.json"])
def test_a_changed_byte_stops_the_build(runtime, name):
    data = bytearray((runtime / name).read_bytes())
    data[len(data) // 2] ^= 1
    (runtime / name).write_bytes(data)
    with pytest.raises(ExtensionError, match=rf"{name} のsha256が .*git checkout"):
        run_here.checked_files()


def test_a_lost_file_stops_the_build(runtime):
    (runtime / "pyodide.asm.wasm").unlink()
    with pytest.raises(ExtensionError, match=r"pyodide\.asm\.wasm がありません。git checkout"):
        run_here.checked_files()


def test_wheel_holds_the_whole_package_and_the_same_bytes(tmp_path):
    sources = run_here.sources()
    one, two = (run_here.build_wheel(sources, tmp_path / name) for name in "ab")
    assert one.read_bytes() == two.read_bytes()
    held = set(zipfile.ZipFile(one).namelist())
    assert {str(path.relative_to(ROOT)) for path in sources if path.is_relative_to(run_here.PACKAGE)} <= held


def test_a_package_that_does_not_build_says_so(tmp_path):
    with pytest.raises(ExtensionError, match="wheelを作れませんでした"):
        run_here.build_wheel([ROOT / "pyproject.toml"], tmp_path / "wheel")


def test_last_expression_is_shown(run_cell):
    namespace = {}
    assert run_cell("x = 2\nx + 1", namespace)["shown"] == "3"
    assert run_cell("x = 5", namespace)["shown"] is None
    assert run_cell("print(1)", namespace)["shown"] is None
    assert run_cell("", namespace)["shown"] is None
    assert run_cell("x", namespace)["shown"] == "5"


def test_error_names_the_lines_of_the_reader(run_cell):
    result = run_cell("import numpy as np\ndef f():\n    return np.ones(2) @ np.ones(3)\n\nf()")
    assert result["error"].startswith("ValueError: ")
    assert result["where"] == "セル3の5行目：f()\nセル3の3行目：return np.ones(2) @ np.ones(3)"


@pytest.mark.parametrize("source", ["exit()", "raise KeyboardInterrupt", "def f(): f()\nf()"])
def test_nothing_gets_out(run_cell, source):
    assert run_cell(source)["error"]


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        ("x＝1", "1行目に「＝」とありますが、Pythonが読めるのは半角の「=」です。"),
        ("x = 1\ny = （2", "2行目に「（」とありますが、Pythonが読めるのは半角の「(」です。"),
        ("x = １", "1行目に「１」とありますが、Pythonが読めるのは半角の「1」です。"),
        ("x = 1＋2", "1行目に「＋」とありますが、Pythonが読めるのは半角の「+」です。"),
        ("x = 3−1", "1行目に「−」とありますが、Pythonが読めるのは半角の「-」です。"),
        ("x = 1ー2", "1行目に「ー」とありますが、Pythonが読めるのは半角の「-」です。"),
        ("x = 2\ny = xー1", "2行目に「ー」とありますが、Pythonが読めるのは半角の「-」です。"),
        ("x = 2 × 3", "1行目に「×」とありますが、Pythonが読めるのは半角の「*」です。"),
        ("print(“a”)", '1行目に「“」とありますが、Pythonが読めるのは半角の「"」です。'),
        ('print("a”)', '1行目に「”」とありますが、Pythonが読めるのは半角の「"」です。'),
        ("print('a’)", "1行目に「’」とありますが、Pythonが読めるのは半角の「'」です。"),
        ("x　= 1", "1行目に、全角の空白があります。半角の空白に直してください。"),
        ("if x：\n    pass", "1行目に「：」とありますが、Pythonが読めるのは半角の「:」です。"),
        ('x = "１"; y = （1', "1行目に「（」とありますが、Pythonが読めるのは半角の「(」です。"),
        ('x = = "（"', None),  # in a string it is text
        ('x = "ここまで', None),
        ("print(スコアー)", None),  # a Japanese name that is not there
        ("x = 1 +", None),
        ("undefined", None),
    ],
)
def test_slips_of_input_methods_are_named(run_cell, source, hint):
    got = run_cell(source)
    assert got["error"]
    assert got["hint"] == hint
