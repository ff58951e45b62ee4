"""数式をビルド時にMathMLへ直す。JavaScriptも、ほかのサーバーも使わない。"""

import html

from docutils import nodes
from math_core import LatexError, LatexToMathML
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

log = logging.getLogger(__name__)
converter = LatexToMathML()


def mathml(node, display):
    tex = node.astext()
    try:
        return converter.convert_with_local_state(tex, displaystyle=display)
    except LatexError as error:
        log.warning("数式を読めません: %s\n  %s", error, tex, location=node, type="maths")
        return f"<code>{html.escape(tex)}</code>"


def visit_inline(self, node):
    self.body.append(mathml(node, display=False))
    raise nodes.SkipNode


def visit_block(self, node):
    self.body.append(self.starttag(node, "div", CLASS="math"))  # furo puts it into a box that scrolls
    if node["number"]:
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})</span>')
    self.body.append(mathml(node, display=True) + "</div>\n")
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
