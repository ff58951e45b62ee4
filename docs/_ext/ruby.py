"""読みの難しい語に、各ページの本文で初めて出るところで、ふりがなを付ける。

ソースには何も書きません。
検索、出力の検査、ダウンロードするノートブックは、ふりがなのない文を読みます。
"""

import re

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.writers.html5 import HTML5Translator

READINGS = {
    "因果": "いんが",
    "階数": "かいすう",
    "寄与": "きよ",
    "勾配": "こうばい",
    "残差": "ざんさ",
    "射影": "しゃえい",
    "正弦": "せいげん",
    "積和": "せきわ",
    "畳み込み": "たたみこみ",
    "転置": "てんち",
    "同変": "どうへん",
    "端数": "はすう",
    "不変": "ふへん",
    "飽和": "ほうわ",
    "余弦": "よげん",
}
WORD = re.compile("|".join(READINGS))
WITH_ITS_READING = {"glossary"}  # pages that write the readings themselves


class AddReadings(SphinxTransform):
    default_priority = 500  # after JoinLines

    def apply(self):
        if self.env.current_document.docname in WITH_ITS_READING:
            return
        new = dict(READINGS)
        for text in list(self.document.findall(nodes.Text)):
            if not is_running(text):
                continue
            parts = []
            for part in re.split(f"({WORD.pattern})", text):
                reading = new.pop(part, None)
                parts.append(nodes.inline("", part, reading=reading) if reading else nodes.Text(part))
            if len(parts) > 1:
                text.parent.replace(text, [part for part in parts if part.astext()])


def is_running(text):
    """Tell whether the text stands in a sentence: not in a heading, a link, a term, code or a formula."""
    node = text.parent
    while not isinstance(node, nodes.paragraph):
        if not isinstance(node, nodes.strong | nodes.emphasis):
            return False
        node = node.parent
    return not isinstance(node.parent, nodes.entry)


def visit(self, node):
    if "reading" in node:
        self.body.append("<ruby>")
    else:
        HTML5Translator.visit_inline(self, node)


def depart(self, node):
    if "reading" in node:
        self.body.append(f"<rt data-pagefind-ignore>{node['reading']}</rt></ruby>")  # the search finds the word only
    else:
        HTML5Translator.depart_inline(self, node)


def setup(app):
    app.add_node(nodes.inline, override=True, html=(visit, depart))
    app.add_transform(AddReadings)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
