"""セルの出力を、doctreeから取り出し、許容差つきで比べる（gate.py が使います）。"""

import re
from pathlib import Path

from docutils import nodes

DECIMAL = re.compile(r"([-+]?(?:\d+\.\d*|\.\d+|\d+(?=[eE][-+]?\d))(?:[eE][-+]?\d+)?)")


def cells_of(tree):
    """Return [(cell, outputs)]; values that the text shows through {glue:text} are a last cell of their own."""
    cells = [(cell, outputs(cell)) for cell in tree.findall(is_box("cell_code"))]
    if glued := [node.astext() for node in tree.findall(nodes.inline) if "pasted-text" in node["classes"]]:
        cells.append((nodes.container(cell_metadata={}, exec_count=0), [{"glue": "\n".join(glued)}]))
    return cells


def outputs(cell):
    """Return what the cell publishes as [{kind: text}].

    A figure of the book gives its numbers, any other image the name MyST-NB makes of its content.
    """
    found = []
    for box in cell.findall(is_box("cell_code_output")):
        for output in box.children:
            if output.get("nb_element") != "mime_bundle":
                found.append({next(c for c in output["classes"] if c != "output"): clean(output.astext())})
                continue
            kinds = {}
            for form in output.children:
                image = next(form.findall(nodes.image), None)
                kinds[form["mime_type"]] = Path(image["uri"]).name if image else clean(form.astext())
            if kinds.get("text/plain", "").startswith("図："):  # attention_book.figures.summary
                kinds = {"text/plain": kinds["text/plain"]}
            found.append({kind: text for kind, text in sorted(kinds.items()) if text})
    return found


def is_box(kind):
    return lambda node: isinstance(node, nodes.container) and node.get("nb_element") == kind


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
    """Text and integers are equal, decimals close; spaces within a line do not count."""
    a, b = DECIMAL.split(want), DECIMAL.split(got)
    if len(a) != len(b) or want.count("\n") != got.count("\n"):
        return False
    return all(
        close(x, y, tolerance) if i % 2 else re.sub(r"[ \t]+", "", x) == re.sub(r"[ \t]+", "", y)
        for i, (x, y) in enumerate(zip(a, b, strict=True))
    )


def close(want, got, tolerance):
    """Within 1e-5 of the value, and from four decimals on one more unit of the last one."""
    mantissa, _, exponent = want.lower().partition("e")
    digits = len(mantissa.partition(".")[2])
    last_unit = 1.01 * 10.0 ** (int(exponent or 0) - digits) if digits >= 4 else 0
    return abs(float(want) - float(got)) <= max(1e-5 * abs(float(want)) + last_unit, tolerance)
