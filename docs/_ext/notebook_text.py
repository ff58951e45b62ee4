"""ページの文章を、JupyterのMarkdownに書き直す（notebooks.py が使います）。

MySTの書き方はJupyterでは働かないので、ソースではなく、参照や文献を解決し終えたdoctreeから書きます。
"""

import html
import re
from itertools import count, repeat
from textwrap import indent
from urllib.parse import urljoin

from docutils import nodes
from sphinx.util import logging

log = logging.getLogger(__name__)

SPECIAL = re.compile(r"[\\`*$~&]|(?<!\w)_|_(?!\w)|<(?=[\w/!?])|\](?=[(\[:])")  # what Markdown would not show as it is
NAMED = re.compile(r"<(title|desc)\b[^>]*>(.*?)</\1>", re.S)


class Markdown:
    """Write nodes as the Markdown that Jupyter shows; each method is named for the node that it writes."""

    def __init__(self, address):
        self.address = address  # of the page, if it has a host

    def __call__(self, node):
        write = getattr(self, type(node).__name__, None)
        if write is None:
            message = "ノートブックへの書き方がない要素です: %s。docs/_ext/notebook_text.py に加えてください。"
            log.warning(message, type(node).__name__, location=node, type="notebooks")
        return write(node) if write else ""

    def inside(self, node):
        return "".join(map(self, node.children))

    def blocks(self, node):
        return "\n\n".join(filter(None, map(self, node.children)))

    def nothing(self, node):
        return ""

    paragraph = title = inline = title_reference = inside
    container = blocks
    target = index = comment = nothing

    def Text(self, node):
        return plain(node)

    def strong(self, node):
        return f"**{self.inside(node)}**"

    def emphasis(self, node):
        return f"*{self.inside(node)}*"

    def literal(self, node):
        text = node.astext()
        return f"`` {text} ``" if "`" in text else f"`{text}`"

    def math(self, node):
        return f"${node.astext()}$"

    def math_block(self, node):
        return f"$$\n{node.astext()}\n$$"

    def reference(self, node):
        text, uri = self.inside(node), node.get("refuri") or f"#{node['refid']}"
        if node.get("internal") and not self.address:
            return text
        return f"[{text}]({urljoin(self.address, uri)})"

    def literal_block(self, node):
        return f"```{node.get('language', '')}\n{node.astext().rstrip()}\n```"

    def bullet_list(self, node):
        return self.items(node, repeat("- "))

    def enumerated_list(self, node):
        return self.items(node, (f"{n}. " for n in count(node.get("start", 1))))

    def items(self, node, marks):
        items = zip(marks, map(self.blocks, node.children), strict=False)
        return "\n".join(mark + indent(text, " " * len(mark)).lstrip() for mark, text in items)

    def block_quote(self, node):
        return quoted(self.blocks(node))

    def admonition(self, node):
        title, body = node[0], "\n\n".join(map(self, node[1:]))
        if node.get("collapsible"):
            return f"<details>\n<summary>{html.escape(title.astext())}</summary>\n\n{body}\n\n</details>"
        return quoted(f"**{self(title)}**\n\n{body}")

    def table(self, node):
        rows = [[self.blocks(entry).replace("|", r"\|") for entry in row] for row in node.findall(nodes.row)]
        head, *body = (f"| {' | '.join(row)} |" for row in rows)
        return "\n".join([head, "|---" * len(rows[0]) + "|", *body])

    def raw(self, node):
        """A diagram gives its words: Jupyter removes an SVG from text, and has none of the site's colours."""
        words = [plain(html.unescape(match[2])) for match in NAMED.finditer(node.astext())]
        return quoted("\n\n".join([f"**図：{words[0]}**", *words[1:]])) if words else ""

    def desc(self, node):
        """A function of the package gives its first sentence; Jupyter shows the rest."""
        signature, content = node.children[:2]
        name, first = signature["ids"][0], next(content.findall(nodes.paragraph))
        return f"**`{signature.astext()}`**\n\n{self(first)}\n\n説明の全体は、`help({name})`で読めます。"


def plain(text):
    return SPECIAL.sub(r"\\\g<0>", text)


def quoted(text):
    return indent(text, "> ", lambda line: True)
