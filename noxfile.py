"""コマンドはここだけに書きます。CI、公開、文書は、ここのセッションを呼びます。"""

import functools
import os
import shutil
import subprocess
from pathlib import Path

import nox

nox.needs_version = ">=2026.10.20"  # the first with requires= and default=False together
nox.options.default_venv_backend = "virtualenv"  # pip; uv would take the CUDA build of torch
nox.options.reuse_venv = "yes"  # 1.5 GB, made once
nox.options.error_on_external_run = True

# LC_ALL: "C" exists on every machine. OMP_NUM_THREADS: another number of threads gives other last digits.
# PYTHONWARNINGS: a deprecation in a cell is seen (and refused) before it becomes an error.
ENV = {"LC_ALL": "C", "PYTHONUTF8": "1", "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "default"}
SPHINX = ("-m", "sphinx", "-c", ".", "-d", "_build/doctrees")
# read and write every page, in one process a core; a warning is a failure
FRESH = ("-E", "-a", "-j", "auto", "-W")
# Rows that only a CUDA build of torch needs: pip adds them by itself where that build is chosen.
GPU_ONLY = ("cuda-", "nvidia-", "triton")

# One environment serves every session: released nox has no option for that.
shared = functools.partial(nox.session, venv_backend="none", requires=["env"])


def program(session, name, *args, **variables):
    """Run a program of the shared environment."""
    folder = session.cache_dir.parent / "env"  # follows --envdir
    path = f"Scripts/{name}.exe" if os.name == "nt" else f"bin/{name}"
    session.run(str(folder.absolute() / path), *args, env=ENV | variables, external=True)


def python(session, *args, **variables):
    """Run Python of the shared environment."""
    program(session, "python", *args, **variables)


def commit_time():
    """Return the variable that gives tools the commit's time where they would write the clock's."""
    git = shutil.which("git") and subprocess.run(("git", "log", "-1", "--format=%ct"), capture_output=True, text=True)
    return {"SOURCE_DATE_EPOCH": git.stdout.strip()} if git and git.returncode == 0 else {}


@nox.session(default=False)
def env(session):
    """全セッションが使う、ただ1つの環境を作ります。"""
    session.install("-r", "requirements.txt")


@shared
def lint(session):
    """コード（ruff）、GitHub Actionsの設定（actionlint、zizmor）、ページの書き方（tests/pages）を検査します。"""
    python(session, "-m", "ruff", "check", ".")
    python(session, "-m", "ruff", "format", "--check", ".")
    # the files by name, as it finds them in a git checkout only; without the other linters that it starts where a
    # machine has them, so that the answer is the same everywhere
    workflows = map(str, sorted(Path(".github/workflows").glob("*.y*ml")))
    program(session, "actionlint", "-shellcheck=", "-pyflakes=", *workflows)
    # --offline: nothing is asked of GitHub, so that the answer is the same everywhere
    program(session, "zizmor", "--offline", "--persona", "pedantic", "--quiet", ".github")
    python(session, "-m", "pytest", "-q", "tests/pages", *session.posargs)


@shared
def tests(session):
    """パッケージと、出力の検査を試験します。"""
    covered = ("--cov=attention_book", "--cov-branch", "--cov-fail-under=100", "--cov-report=term-missing:skip-covered")
    python(session, "-m", "pytest", "-q", "tests/package", *covered)
    python(session, "-m", "pytest", "tests/data", "tests/extensions", "tests/gate", "tests/newest", *session.posargs)


@shared
def site(session):
    """できたサイトを、本物のブラウザーで試験します。"""
    python(session, "-m", "pytest", "tests/site", *session.posargs)


@shared
def doctest(session):
    """docstringの使用例を実行します。"""
    python(session, "-m", "pytest", "-q", "--doctest-modules", "attention_book", *session.posargs)


@shared
def docs(session):
    """全セルを実行してHTMLを書き、出力が期待とずれていれば失敗します。"""
    shutil.rmtree("_build/html", ignore_errors=True)  # no page or picture of an earlier build is published
    variables = {"BOOK_MODE": "check"} | commit_time()
    python(session, *SPHINX, *FRESH, "docs", "_build/html", *session.posargs, **variables)


@shared(default=False, requires=["env", "docs"])
def pdf(session):
    """検査したサイトを1冊にとじて、_build/book.pdf に印刷します（Chromiumを使います）。"""
    python(session, "docs/_paper/pdf.py", "_build/html", "_build/book.pdf", **commit_time())


@shared(default=False, requires=["env", "docs"])
def epub(session):
    """検査したサイトを、電子書籍 _build/book.epub にまとめます。"""
    python(session, "docs/_paper/epub.py", "_build/html", "_build/book.epub", **commit_time())


@shared(default=False)
def mutants(session):
    """パッケージをわざと1か所ずつ壊し、どれも試験が見つけることを確かめます（10分ほど）。"""
    python(session, "tests/mutants/run.py", *session.posargs)


@shared(default=False)
def bench(session):
    """PyTorchと速さを比べます（`-- build` は本を作る速さ、`-- weight` はページの重さ。前の2つは `--quick` で短く）。"""
    other = session.posargs[:1] in (["build"], ["weight"])
    python(session, f"benchmarks/{session.posargs[0] if other else 'bench'}.py", *session.posargs[other:])


@shared(default=False)
def accept(session):
    """全セルを実行し、今の出力を期待出力として書きます（`-- ページ名` で絞れます）。"""
    pages = " ".join(page.removeprefix("docs/").removesuffix(".md") for page in session.posargs)
    python(session, *SPHINX, *FRESH, "docs", "_build/html", BOOK_MODE="accept", BOOK_PAGES=pages)


@shared(default=False)
def data(session):
    """ページのセルを動かし、学習した重みを attention_book/data に書き直します。"""
    python(session, "tests/data/export.py")


@shared(default=False)
def live(session):
    """書きながら見ます。保存するたびに、変わったページだけを作り直します。"""
    watched = ("--watch", "attention_book", "--watch", "conf.py", "--ignore", "*/_ipython/*")
    args = ("-c", ".", "-d", "_build/live/doctrees", "docs", "_build/live/html")
    python(session, "-m", "sphinx_autobuild", *watched, *args, *session.posargs, BOOK_MODE="live")


@shared(default=False)
def linkcheck(session):
    """ページの外部リンクが生きているかを調べます（ネットワークを使います）。"""
    python(session, *SPHINX, "-b", "linkcheck", "docs", "_build/linkcheck", *session.posargs, BOOK_MODE="live")


@nox.session(default=False)
def newest(session):
    """最新版のライブラリで本を作り、どのページがどれのためにずれるかを言います（`-- torch` で、torchの指定も外す）。"""
    session.run("python", "tests/newest/newest.py", *session.posargs, env=ENV)  # it installs what it compares


@nox.session(default=False)
def lock(session):
    """requirements.in から、全部の版を固定した requirements.txt を作り直します。"""
    session.install("uv")
    # --universal --python-version: one set of pins for every OS and for Python 3.11 to 3.14
    compiled = session.run(
        *("uv", "pip", "compile", "--universal", "--python-version", "3.11", "--fork-strategy", "fewest"),
        *("--no-annotate", "--no-header", "--quiet", "--upgrade", "requirements.in", *session.posargs),
        silent=True,
    )
    rows = [row for row in compiled.splitlines() if "==" in row and not row.startswith(GPU_ONLY)]
    head = "# nox -s lock が requirements.in から作ります。手で書き換えません。"
    with open("requirements.new", "w", encoding="utf-8", newline="\n") as file:
        file.write("\n".join([head, *rows, ""]))
    shutil.move("requirements.new", "requirements.txt")
