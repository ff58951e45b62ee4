"""キーボード、読み上げ、携帯電話で使えるようにする。

_static/keyboard.js は、furoがマウスにだけ用意したものをキーボードに開きます。
ここでは、docutilsのHTMLに足りない役割と、狭い画面での表の列の幅、長いコードの切れ目を補います。
"""

import re
from unicodedata import east_asian_width

from docutils import nodes
from japanese import SHORT
from sphinx.errors import ExtensionError
from sphinx.writers.html5 import HTML5Translator

LONG = re.compile(rf'(?<=<span class="pre">)\w{{{SHORT + 1},}}')  # a name in code
SEAM = re.compile("(?<=_)(?=[a-zA-Z])|(?<=[a-z])(?=[A-Z])")  # check_|cross_|attention, MultiHead|Attention
WORD, LINES, WIDEST = 4.5, 3, 9  # a short word stays on its line; a text takes about 3, if 9 letters a line are enough


def visit_entry(self, node):
    """Say that a header stands for its column, and how narrow that may become: Japanese breaks anywhere."""
    HTML5Translator.visit_entry(self, node)
    if "<th" in self.body[-1]:
        replace_in_last(self, "<th ", f'<th scope="col" style="min-width: {narrowest(node):.1f}em" ')


def depart_entry(self, node):
    """Let a long name go on in the next line of its cell; book.css does so on a phone only."""
    start = max(i for i, html in enumerate(self.body) if re.match("<t[hd][ >]", html))
    self.body[start:] = [LONG.sub(lambda name: SEAM.sub("<wbr />", name[0]), html) for html in self.body[start:]]
    HTML5Translator.depart_entry(self, node)


def narrowest(header):
    column = header.parent.index(header)
    table = header.parent.parent.parent
    cells = (row[column] for row in table.findall(nodes.row) if column < len(row))
    longest = max(map(width, cells))
    return min(max(min(longest, WORD), longest / LINES), WIDEST)


def width(cell):
    """In em; a Latin letter is about half as wide as a Japanese one."""
    return sum(1 if east_asian_width(letter) in "FWA" else 0.5 for letter in cell.astext())


def visit_citation(self, node):
    """docutils writes a list of doc-biblioentry: a deprecated role, and not one of items."""
    HTML5Translator.visit_citation(self, node)
    replace_in_last(self, 'role="doc-biblioentry"', 'role="listitem"')


def replace_in_last(translator, old, new):
    if translator.body[-1].count(old) != 1:
        raise ExtensionError(
            f"docutilsの出力に {old!r} が1回あるはずですが、{translator.body[-1]!r} でした。"
            "docs/_ext/access.py を、今のdocutilsに合わせて直してください。"
        )
    translator.body[-1] = translator.body[-1].replace(old, new)


def setup(app):
    app.add_node(nodes.entry, override=True, html=(visit_entry, depart_entry))
    app.add_node(nodes.citation, override=True, html=(visit_citation, HTML5Translator.depart_citation))
    app.add_js_file("keyboard.js", defer="defer")  # not a module: browsers load none from disk
    return {"parallel_read_safe": True, "parallel_write_safe": True}
