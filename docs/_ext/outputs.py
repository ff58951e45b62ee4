"""セルの出力を、doctreeから取り出し、許容差つきで比べる（gate.py が使います）。"""

import re
from pathlib import Path

from docutils import nodes

# A number with a point or an exponent; 2.4.6 is a version, and text.
DECIMAL = re.compile(r"(?<![\d.])([-+]?(?:\d+\.\d*|\.\d+|\d+(?=[eE][-+]?\d))(?:[eE][-+]?\d+)?)(?!\d|\.\d)")


def cells_of(tree):
    """Return [(cell, outputs)]; values that the text shows through {glue} are a last cell of their own."""
    cells = [(cell, outputs(cell)) for cell in tree.findall(is_box("cell_code"))]
    if glued := [published(node) for node in tree.findall(is_glued)]:
        cells.append((nodes.container(cell_metadata={}, exec_count=0), glued))
    return cells


def outputs(cell):
    """Return what the cell publishes as [{kind: text}]."""
    return [published(output) for box in cell.findall(is_box("cell_code_output")) for output in box.children]


def published(output):
    """Return {kind: text}: a figure of the book gives its numbers, any other image a name made of its content."""
    bundle = next(output.findall(is_box("mime_bundle")), None)
    if bundle is None:  # printed text, an error, or a value in the text
        kind = next((c for c in output["classes"] if c not in ("output", "pasted-text")), "glue")
        return {kind: clean(output.astext())}
    kinds = {}
    for form in bundle.children:
        image = next(form.findall(nodes.image), None)
        kinds[form["mime_type"]] = Path(image["uri"]).name if image else clean(form.astext())
    if kinds.get("text/plain", "").startswith("図："):  # attention_book.figures.summary
        kinds = {"text/plain": kinds["text/plain"]}
    return {kind: text for kind, text in sorted(kinds.items()) if text}


def is_box(kind):
    return lambda node: isinstance(node, nodes.container) and node.get("nb_element") == kind


def is_glued(node):
    shown = isinstance(node, nodes.inline) and "pasted-text" in node["classes"]
    return (shown or is_box("mime_bundle")(node)) and not in_cell(node)


def in_cell(node):
    return any("nb_element" in parent for parent in ancestors(node))


def ancestors(node):
    while (node := node.parent) is not None:
        yield node


def clean(text):
    """Without colours and trailing spaces; a carriage return stays, to be refused."""
    lines = re.sub(r"\x1b\[[0-9;]*m", "", text).rstrip("\n ").split("\n")
    return "\n".join(line.rstrip(" \t") for line in lines)


def same(want, got, tolerance=0):
    """Tell whether two lists of outputs are the same kinds with the same text."""
    return [list(o) for o in want] == [list(o) for o in got] and all(
        same_text(w[kind], g[kind], tolerance) for w, g in zip(want, got, strict=True) for kind in w
    )


def same_text(want, got, tolerance=0):
    """Text and integers are equal, decimals close; how wide a space is does not count."""
    a, b = DECIMAL.split(want), DECIMAL.split(got)
    return len(a) == len(b) and all(
        close(x, y, tolerance) if i % 2 else narrow(x) == narrow(y) for i, (x, y) in enumerate(zip(a, b, strict=True))
    )


def narrow(text):
    """One space between words and integers, none beside a bracket or a comma."""
    return re.sub(r"[ \t]+", " ", re.sub(r"(?<!\w)[ \t]+|[ \t]+(?!\w)", "", text))


def close(want, got, tolerance):
    """Within 1e-5 of the value, and from four decimals on one more unit of the last one."""
    mantissa, _, exponent = want.lower().partition("e")
    digits = len(mantissa.partition(".")[2])
    last_unit = 1.01 * 10.0 ** (int(exponent or 0) - digits) if digits >= 4 else 0
    return want == got or abs(float(want) - float(got)) <= max(1e-5 * abs(float(want)) + last_unit, tolerance)
