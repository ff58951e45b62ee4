"""公開してはいけないものを見つける：途中で止まったセル、警告、番地、貼られた出力、出力にない本文の数（gate.py が使います）。"""

import re
import unicodedata
from pathlib import Path

from docutils import nodes
from myst_nb.ext.glue.utils import PendingGlueReference
from outputs import DECIMAL, ancestors, in_cell, is_input, joined

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
DIGIT = re.compile(r"\d", re.ASCII)
TAG = re.compile(r'<(?:[^>]*?\b(?:alt|title|aria-label)="([^"]*)")?[^>]*>')  # and what a screen reader reads of it
PYTHON = re.compile("i?py")
NOT_PROSE = nodes.literal, nodes.literal_block, nodes.doctest_block, nodes.citation
JAPANESE = re.compile(r"[ぁ-んァ-ヶ一-龠]")


def faults(tree, cells, package):
    """Yield (line, message) for what may never be published, whatever was accepted."""
    values = [value for _, got in cells for output in got for value in output.values()]
    yield from in_cells(cells)
    yield from in_blocks(tree, values, package)
    for node in tree.findall(PendingGlueReference):
        yield line_of(node), f"ほかのページの値 {node.key} は比べられません。このページのセルで glue してください。"
    for image in tree.findall(nodes.image):
        if len(alt := image.get("alt", "")) < 10 or not JAPANESE.search(alt):
            yield line_of(image), f"図の代替テキストに、何を見るかを10文字以上の日本語で書いてください: {alt!r}。"
    yield from in_numbers(tree, cells, values)


def in_cells(cells):
    """What the cells did, and what they print."""
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


def in_blocks(tree, values, package):
    """Code blocks that are not cells: outputs pasted into them, and code that did not run."""
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


def in_numbers(tree, cells, values):
    """Decimals of the text, and of comments in cells."""
    printed = [value for value in values if "data-figure=" not in value]  # a figure has so many numbers that most fit
    shown = [float(number) for value in printed for number in DECIMAL.findall(joined(value))]
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


def prose(tree):
    """Yield (node, text) of what a reader reads outside of code, outputs and the list of references, if it has digits."""
    for node in tree.findall(lambda n: isinstance(n, nodes.image) or (isinstance(n, nodes.Text) and has_digit(n))):
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


def has_digit(text):
    """Whether `stale` could find anything in the text, in whatever kind of digits."""
    return DIGIT.search(unicodedata.normalize("NFKC", text))


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
