"""attention_book に間違いを1つずつ植え、試験がどれも見つけるかを調べます。

    python tests/mutants/run.py              # 全部
    python tests/mutants/run.py masks cache  # そのモジュールだけ

見逃した間違い、植えられない間違い、間違いがないのに失敗する試験があれば、終了コードは1です。
"""

import collections
import concurrent.futures
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from mutants import MUTANTS

ROOT = Path(__file__).parents[2]
WORKERS = 2
TIMEOUT = 600  # seconds: a mutant may make a loop endless
# No .pyc: two mutants of one size, written within one second, would share it.
ENV = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1"}


def copy_package(folder):
    skip = shutil.ignore_patterns("__pycache__")
    for name in ("attention_book", "tests/package"):
        shutil.copytree(ROOT / name, folder / name, ignore=skip)
    shutil.copy(ROOT / "pyproject.toml", folder)


def run_tests(folder, module):
    """Return (exit code of pytest, the tests that failed, its whole output)."""
    files = [*folder.glob("attention_book/*.py"), *folder.glob("tests/package/test_*.py")]
    files.sort(key=lambda file: (module not in file.stem, "figures" in file.stem, file.stem))  # the nearest first
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--tb=short", "--doctest-modules"]
    command += [str(file.relative_to(folder)) for file in files]
    try:
        done = subprocess.run(command, cwd=folder, env=ENV, capture_output=True, encoding="utf-8", timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return 1, [f"{TIMEOUT}秒で終わりません"], f"試験が{TIMEOUT}秒で終わりません。"
    return (
        done.returncode,
        re.findall(r"^FAILED (?:\S*/)?(.+?)(?: - .*)?$", done.stdout, re.M),
        done.stdout + done.stderr,
    )


def verdict(mutant, folders):
    """Plant one mutant in a free folder, and return (killed, what to say of it)."""
    module, old, new, _ = mutant
    folder = folders.get()
    source = folder / "attention_book" / f"{module}.py"
    text = source.read_text(encoding="utf-8")
    try:
        if text.count(old) != 1:
            return False, f"植えられません：「{old}」が {source.name} に {text.count(old)} か所あります"
        source.write_text(text.replace(old, new), encoding="utf-8")
        code, failed, output = run_tests(folder, module)
    finally:
        source.write_text(text, encoding="utf-8")
        folders.put(folder)
    if code == 0:
        return False, "見逃しました"
    if code != 1 or not failed:  # a mutant that does not even import proves nothing of the tests
        return False, f"試験が始まりません（終了コード {code}）\n{output[-1500:]}"
    return True, failed[0]


def main(names):
    modules = {path.stem for path in (ROOT / "attention_book").glob("*.py")} - {"__init__"}
    if unknown := set(names) - modules:
        sys.exit(f"attention_book にないモジュールです: {'、'.join(sorted(unknown))}。")
    if missing := modules - {module for module, *_ in MUTANTS}:
        sys.exit(f"間違いが1つも用意されていないモジュールがあります: {'、'.join(sorted(missing))}。")
    chosen = [mutant for mutant in MUTANTS if not names or mutant[0] in names]
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as parent, concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        folders = queue.SimpleQueue()
        for n in range(WORKERS):
            folders.put(folder := Path(parent, str(n)))
            copy_package(folder)
        print("間違いを植えずに試験しています。", flush=True)
        code, _, output = run_tests(folder, "attention")
        if code:
            sys.exit(f"{output}\n間違いを植えていないのに、試験が失敗しました。先に試験を直してください。")
        verdicts = pool.map(lambda mutant: verdict(mutant, folders), chosen)
        for (module, *_, breaks), (killed, text) in zip(chosen, verdicts, strict=True):
            counts[killed] += 1
            print(f"{'○' if killed else '×'} {module}：{breaks} → {text}", flush=True)
    print(f"{len(chosen)} 個の間違いのうち、{counts[True]} 個を試験が見つけました。")
    if counts[False]:
        sys.exit("× の行の間違いを見つける試験を足すか、tests/mutants/mutants.py の表を今のソースに合わせてください。")


if __name__ == "__main__":
    main(sys.argv[1:])
