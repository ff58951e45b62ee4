"""セルの出力を、doctreeから取り出し、許容差つきで比べる（gate.py が使います）。"""

import re
from pathlib import Path

from docutils import nodes

# A number with a point or an exponent; 2.4.6 is a version, and text.
DECIMAL = re.compile(r"(?<![\d.])([-+]?(?:\d+\.\d*|\.\d+|\d+(?=[eE][-+]?\d))(?:[eE][-+]?\d+)?)(?!\d|\.\d)")

THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?=\.\d)")


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
        kind = form["mime_type"]
        targets = [Path(image["uri"]).name for image in form.findall(nodes.image)]
        if not kind.startswith("image/"):
            targets += [link["refuri"] for link in form.findall(nodes.reference) if "refuri" in link]
            targets.insert(0, form.astext())
        kinds[kind] = clean("\n".join(targets))
    if kinds.get("text/plain", "").startswith("図："):  # attention_book.figures.summary
        kinds = {kind: text for kind, text in kinds.items() if not kind.startswith("image/")}
    return {kind: text for kind, text in sorted(kinds.items()) if text}


def is_box(kind):
    return lambda node: isinstance(node, nodes.container) and node.get("nb_element") == kind


def is_input(node):
    return isinstance(node, nodes.literal_block) and any(map(is_box("cell_code_source"), ancestors(node)))


def is_glued(node):
    shown = isinstance(node, nodes.inline | nodes.math_block) and {"pasted-text", "pasted-math"} & {*node["classes"]}
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


def joined(text):
    """Write 1,234.5 as 1234.5."""
    return THOUSANDS.sub(lambda match: match[0].replace(",", ""), text)


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
    """Within 1e-5 of the value, and from four decimals on one more unit of the last one of the finer number."""
    places = [decimals(number) for number in (want, got)]
    last = min(exponent - digits for digits, exponent in places)
    last_unit = 1.01 * 10.0**last if max(places)[0] >= 4 else 0
    return want == got or abs(float(want) - float(got)) <= max(1e-5 * abs(float(want)) + last_unit, tolerance)


def decimals(number):
    """Return how many decimals and which exponent are written: (1, -3) for 1.5e-3."""
    mantissa, _, exponent = number.lower().partition("e")
    return len(mantissa.partition(".")[2]), int(exponent or 0)
