"""The same sources give the same bytes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENV = {"BOOK_URL": "https://example.org/book/", "LC_ALL": "C", "PYTHONUTF8": "1", "OMP_NUM_THREADS": "1"}


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_another_folder_seed_zone_and_kernel_give_the_same_bytes(site, tmp_path):
    """`site` reads cached outputs, in one process; here ordinary kernels run every cell, in two."""
    for name in ("attention_book", "docs", "third_party"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    conf = (ROOT / "conf.py").read_text(encoding="utf-8")
    assert conf.count('    "kernels",\n') == 1
    (tmp_path / "conf.py").write_text(conf.replace('    "kernels",\n', ""), encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-c", ".", "-d", "trees", "-j", "2", "-q", "docs", "html"]
    env = os.environ | ENV | {"BOOK_MODE": "check", "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"}
    subprocess.run(command, cwd=tmp_path, env=env, check=True)

    one, other = files(site), files(tmp_path / "html")
    assert {"index.html", "_static/book.css"} <= one.keys()
    assert one.keys() == other.keys()
    assert [name for name in one if one[name] != other[name]] == []
