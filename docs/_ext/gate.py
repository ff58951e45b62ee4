"""公開する出力を、レビューしてコミットした期待出力と比べる。

HTMLになるdoctreeそのものからセルの出力を取り出し、docs/_expected/<ページ>.yml と比べます。

出力：文字と整数は完全に一致し、小数は相対1e-5（小数4桁以上なら末位の1）まで許します。
    セルのメタデータに tolerance があれば、そのセルの小数はその絶対誤差まで許します。
    図は、描いた数の要約で比べます。
実行：どのセルも最後まで動き、警告（stderr）を出しません。
文字：番地、絶対パス、復帰文字、省略された配列を公開しません。
本文：本文、見出し、表、図の中の小数は、同じページの出力のどれかを丸めた値です。
    セルのコメントの小数は、出力か、そのセルのコードにあります。
    ただのコードブロックに、小数や、出力と同じ行や、動かないPythonのコードを貼りません。
    literalincludeで見せるPythonのコードは、パッケージのファイルの連続した行です。
図　：どの画像にも、何を見るかを書いた日本語の代替テキストがあります。

モードは conf.py の gate_mode：check はずれで失敗し、accept は期待出力を書き、live は知らせるだけです。
"""

import difflib
import os
import re
import unicodedata
from pathlib import Path

import yaml
from docutils import nodes
from myst_nb.ext.glue.utils import PendingGlueReference
from myst_nb.sphinx_ import NbMetadataCollector
from outputs import DECIMAL, ancestors, cells_of, in_cell, is_input, joined, same
from sphinx.util import logging

log = logging.getLogger(__name__)

FORBIDDEN = {
    "実行のたびに変わる番地": re.compile(r"0x[0-9a-f]{6,}", re.I),
    "作った機械のパス": re.compile(r"(?<![\w.:/<])/[\w.-]+/[\w.-]+|file:/+\w|\b[A-Za-z]:[\\/]\w"),
    "復帰文字": re.compile(r"\r"),
    "省略された配列（...）": re.compile(r"(?:^|[\s\[,])\.\.\.(?:$|[\s\],])", re.M),
}
# A number with a point or an exponent, in the ways text writes them: 1.5e-3, 1.5×10^-3, $1.5\times 10^{-3}$.
IN_TEXT = re.compile(
    r"(?<![\w.])((?:(?<!\w)-)?(?:\d*\.\d+|\d+(?=[eE][-+]?\d)))(?!\d|\.\d)"
    r"(?:[eE]([-+]?\d+)|\s*(?:×|\\times)\s*10\^\{?([-+]?\d+)\}?)?",
    re.ASCII,
)
RAISED = re.compile("(?<=10)(?=[⁻⁺⁰¹²³⁴-⁹])")
COMMENT = re.compile(r"(?:^|(?<=\s))#.*", re.M)
# Numbers in text that no cell can show: versions of software and licences, sections of papers.
EXEMPT = re.compile(
    r"(?:Python|NumPy|PyTorch|torch|matplotlib|Sphinx|MyST-NB|CC BY|arXiv:)\s?\d+(?:\.\d+)+|\d+\.\d+(?=節)"
)
TAG = re.compile(r'<(?:[^>]*?\b(?:alt|title|aria-label)="([^"]*)")?[^>]*>')  # and what a screen reader reads of it
PYTHON = re.compile("i?py")
NOT_PROSE = nodes.literal, nodes.literal_block, nodes.doctest_block, nodes.citation
JAPANESE = re.compile(r"[ぁ-んァ-ヶ一-龠]")


def faults(tree, cells, package):
    """Yield (line, message) for what may never be published, whatever was accepted."""
    for n, (cell, got) in enumerate(cells, 1):
        text = "\n".join(value for output in got for value in output.values())
        if not finished(cell, got):
            yield cell.line, f"セル{n}は最後まで実行されていません。エラーを直してください。\n{text}"
            if failed(got):
                break  # the cells after it did not run
            continue
        if "remove-stderr" in tags_of(cell):
            yield (
                cell.line,
                f"セル{n}の警告を隠さないでください。タグの remove-stderr を外し、出ないように書き直します。",
            )
        if raises(cell) and not failed(got):
            yield cell.line, f"セル{n}は例外を起こしませんでした。タグの raises-exception を外してください。"
        if any("stderr" in output for output in got):
            yield cell.line, f"セル{n}が警告を出しました。出ないように書き直してください。\n{text}"
        for name, pattern in FORBIDDEN.items():
            if found := pattern.search(text):
                yield (
                    cell.line,
                    f"セル{n}の出力に{name}があります: {found[0].strip()!r}。見せる値を選んで print してください。",
                )
        if any(kind.startswith("image/") for output in got for kind in output):
            yield cell.line, f"セル{n}の図に、数の要約がありません。attention_book.figures の関数で描いてください。"

    values = [value for _, got in cells for output in got for value in output.values()]
    lines = {line.strip() for value in values for line in value.split("\n")} - {""}
    for block in tree.findall(nodes.literal_block):
        pasted = [x for x in block.astext().split("\n") if x.strip() in lines or DECIMAL.search(x)]
        if in_cell(block):
            continue
        if source := block.get("source"):  # of a literalinclude
            if source.endswith(".py") and not is_run(block.astext(), Path(source), package):
                yield (
                    line_of(block),
                    f"{Path(source).name} から見せたコードが、ページで動いたパッケージのコードと違います。",
                )
        elif pasted:
            yield line_of(block), f"コードブロックに出力を貼らず、code-cell で実行してください: {pasted[0]!r}。"
        elif PYTHON.match(block.get("language", "")):
            yield (
                line_of(block),
                "Pythonのコードは、code-cell で実行するか、literalinclude でパッケージから見せてください。",
            )

    for node in tree.findall(PendingGlueReference):
        yield line_of(node), f"ほかのページの値 {node.key} は比べられません。このページのセルで glue してください。"

    for image in tree.findall(nodes.image):
        if len(alt := image.get("alt", "")) < 10 or not JAPANESE.search(alt):
            yield line_of(image), f"図の代替テキストに、何を見るかを10文字以上の日本語で書いてください: {alt!r}。"

    shown = [float(number) for value in values for number in DECIMAL.findall(joined(value))]
    for node, text in prose(tree):
        for number in stale(text, shown):
            yield line_of(node), f"本文の数 {number} は、このページのどの出力にもありません。"
    for n, (cell, _) in enumerate(cells, 1):
        for block in cell.findall(is_input):
            code = COMMENT.sub("", block.astext())
            known = [*shown, *map(float, DECIMAL.findall(code))]
            for number in stale("\n".join(COMMENT.findall(block.astext())), known):
                yield cell.line, f"セル{n}のコメントの数 {number} は、出力にも、セルのコードにもありません。"


def stale(text, shown):
    """Yield each decimal of the text that rounds none of the shown numbers."""
    text = unicodedata.normalize("NFKC", RAISED.sub("^", text)).replace("\u2212", "-")  # minus sign
    for match in IN_TEXT.finditer(EXEMPT.sub("", joined(text))):
        mantissa, exponent = match[1], int(match[2] or match[3] or 0)
        half = 0.501 * 10.0 ** (exponent - len(mantissa.partition(".")[2]))
        if not any(abs(x - float(f"{mantissa}e{exponent}")) <= half for x in shown):
            yield match[0]


def is_run(text, path, package):
    """Whether the text is lines in a row of a file of the package."""
    lines, whole = ([line.strip() for line in x.strip().split("\n")] for x in (text, path.read_text(encoding="utf-8")))
    return package in path.parents and any(whole[n : n + len(lines)] == lines for n in range(len(whole)))


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
            report(doc, None, "このページの出力は受け入れていません。次の問題を直してください。")
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


def prose(tree):
    """Yield (node, text) of what a reader reads outside of code, outputs and the list of references."""
    for node in tree.findall(lambda n: isinstance(n, nodes.Text | nodes.image)):
        around = tuple(ancestors(node))
        if isinstance(node, nodes.image):
            text = node.get("alt", "")
        elif any(isinstance(n, NOT_PROSE) for n in around) or (
            in_cell(node) and not any(isinstance(n, nodes.caption) for n in around)
        ):
            continue
        else:
            text = TAG.sub(r"\n\1\n", node) if isinstance(node.parent, nodes.raw) else node
        yield node, text


def line_of(node):
    return next((n.line for n in (node, *ancestors(node)) if n.line), None)


def failed(got):
    return any("traceback" in output for output in got)


def tags_of(cell):
    return cell["cell_metadata"].get("tags", [])


def raises(cell):
    return "raises-exception" in tags_of(cell)


def finished(cell, got):
    return cell.get("exec_count") is not None and (raises(cell) or not failed(got))


def tolerance_of(cell):
    return float(cell["cell_metadata"].get("tolerance", 0))  # YAML reads 1e-3 as text


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
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
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
