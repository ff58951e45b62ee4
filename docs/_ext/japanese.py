"""文の途中の改行を、日本語の隣では空白にしない。

ソースは1文1行で書きます。HTMLの改行は空白として表示されるので、前後どちらかが日本語の文字なら取り除きます。
"""

import re

from docutils import nodes
from sphinx.transforms import SphinxTransform

# kana, kanji, CJK punctuation, full-width forms
JAPANESE = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")


class JoinLines(SphinxTransform):
    default_priority = 400

    def apply(self):
        for block in self.document.findall(nodes.TextElement):
            if isinstance(block.parent, nodes.TextElement) or isinstance(block, nodes.FixedTextElement):
                continue  # inline nodes belong to the block around them; code keeps its lines
            texts = list(block.findall(nodes.Text))
            whole = "".join(texts)
            start = 0
            for text in texts:
                end = start + len(text)
                joined = "".join(
                    c
                    for i, c in enumerate(text, start)
                    if not (c == "\n" and JAPANESE.search(whole[max(i - 1, 0) : i + 2]))
                )
                if joined != text:
                    text.parent.replace(text, nodes.Text(joined))
                start = end


def setup(app):
    app.add_transform(JoinLines)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
