"""公開する出力を、レビューしてコミットした期待出力と比べる。

HTMLになるdoctreeそのものからセルの出力を取り出し、docs/_expected/<ページ>.yml と比べます。

- **出力**：文字と整数は完全に一致し、小数は相対`1e-5`（小数4桁以上なら末位の1）まで許します。
  セルのメタデータに`tolerance`があれば、そのセルの小数はその絶対誤差まで許します。
  図は、描いた数の要約で比べます。
- **実行**：どのセルも最後まで動き、警告（stderr）を出しません。
- **文字**：番地、絶対パス、復帰文字、省略された配列を公開しません。
- **本文**：本文、見出し、表、図の中の小数は、同じページの出力のどれかを丸めた値です。
  セルのコメントの小数は、出力か、そのセルのコードにあります。
  ただのコードブロックに、小数や、出力と同じ行や、動かないPythonのコードを貼りません。
  `literalinclude`で見せるPythonのコードは、パッケージのファイルの連続した行です。
- **図**：どの画像にも、何を見るかを書いた日本語の代替テキストがあります。

モードは conf.py の gate_mode：check はずれで失敗し、accept は期待出力を書き、live は知らせるだけです。
"""

import difflib
import os
from pathlib import Path

import yaml
from faults import faults, finished
from myst_nb.sphinx_ import NbMetadataCollector
from outputs import cells_of, same
from sphinx.util import logging

log = logging.getLogger(__name__)


def drifts(cells, want, how):
    """Yield (line, message) for each cell whose output is not the accepted one."""
    if want is None:
        yield None, f"期待出力のファイルが壊れています。\n{how}"
    elif len(want) != len(cells):
        yield None, f"コードセルの数が {len(want)} から {len(cells)} に変わりました。\n{how}"
    for n, ((cell, got), expected) in enumerate(zip(cells, want or (), strict=False), 1):
        if not finished(cell, got):
            break
        if not same(expected, got, tolerance_of(cell)):
            a, b = to_yaml(expected).splitlines(), to_yaml(got).splitlines()
            diff = "\n".join(difflib.unified_diff(a, b, "期待", "今回", lineterm="", n=2))
            yield cell.line, f"セル{n}の出力が変わりました。\n{diff}\n{how}"


def accepted(cells, want):
    """Return the new expectation; a cell that did not drift keeps its very text, also where cells moved."""
    want = want or []
    return [
        next((old for old in (*want[n : n + 1], *want) if same(old, got, tolerance_of(cell))), got)
        for n, (cell, got) in enumerate(cells)
    ]


def check(app, env):
    """Judge every page on every build, read again or not, so that a second run is as red as the first."""
    mode, only, folder = app.config.gate_mode, set(app.config.gate_pages), Path(app.srcdir, "_expected")

    def report(doc, line, message):
        if mode != "live":
            app.statuscode = 1  # red with or without -W
        log.warning("%s", message, location=(doc, line) if doc else None, type="gate")

    for page in sorted(only - env.found_docs):
        report(None, None, f"ページ {page} はありません。あるのは {'、'.join(sorted(env.found_docs))} です。")
    orphans = set(folder.glob("**/*.yml"))
    for doc in sorted(env.found_docs):
        tree, path = env.get_doctree(doc), folder / f"{doc}.yml"
        cells = cells_of(tree)
        if cells:
            orphans.discard(path)
        if only and doc not in only:
            continue
        want, found = read(path), list(faults(tree, cells, Path(app.confdir, "attention_book")))
        ran = NbMetadataCollector.get_exec_data(env, doc)
        if ran and not ran["succeeded"] and all(finished(*cell) for cell in cells):
            found.append((None, "出力を消したセルが、最後まで実行されていません。エラーを直してください。"))
        if mode != "accept":
            found += drifts(cells, want, f"意図した変更なら: nox -s accept -- {doc}")
        elif found:
            report(
                doc, None, f"このページの出力は受け入れていません。次の問題を直して、もう一度: nox -s accept -- {doc}"
            )
        elif cells and (new := accepted(cells, want)) != want:
            try:
                write(path, new)
            except OSError as error:
                report(
                    doc, None, f"期待出力を書けないので、前のまま残しました: {error}。直して、もう一度 nox -s accept。"
                )
            else:
                log.info("受け入れました: %s。git diff で確かめてからコミットします。", path.relative_to(app.confdir))
        for line, message in dict.fromkeys(found):  # the same number twice in a line is one message
            report(doc, line, message)
    for path in sorted(orphans if not only else ()):
        if mode == "accept":
            if path.stem not in env.found_docs or "{code-cell}" not in Path(env.doc2path(path.stem)).read_text("utf-8"):
                path.unlink()  # a page whose cells did not run keeps its own
        else:
            report(None, None, f"対応するページのない期待出力です: {path.name}。nox -s accept が消します。")


def tolerance_of(cell):
    return float(cell["cell_metadata"].get("tolerance", 0))  # YAML reads 1e-3 as text


Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast, where PyYAML was built with it


class Dumper(yaml.SafeDumper):
    """Writes text of several lines as a block, and equal outputs in full, so that a person can read the difference."""

    def ignore_aliases(self, data):
        return True


def represent_text(dumper, text):
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


Dumper.add_representer(str, represent_text)


def to_yaml(data):
    return yaml.dump(data, Dumper=Dumper, allow_unicode=True, sort_keys=False, width=10**6)


def read(path):
    """Return the expectation, [] without a file, None where it is not a list of lists of {kind: text}."""
    if not path.exists():
        return []
    try:
        data = yaml.load(path.read_text(encoding="utf-8"), Loader)
        good = all(isinstance(text, str) for outputs in data for output in outputs for text in output.values())
    except (yaml.YAMLError, UnicodeDecodeError, TypeError, AttributeError):
        return None
    return data if good else None


def write(path, data):
    """Write all or nothing: a run that is stopped leaves the old file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    try:
        new.write_text(to_yaml(data), encoding="utf-8", newline="\n")
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)


def setup(app):
    app.add_config_value("gate_mode", "check", "")
    app.add_config_value("gate_pages", [], "")
    app.connect("env-updated", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
