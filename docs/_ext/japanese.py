"""日本語の文を、日本語として読む。

ソースは1文1行で書きます。HTMLの改行は空白として表示されるので、前後どちらかが日本語の文字なら取り除きます。
CommonMarkは、語を空白で分ける文のために作られています。
空白のない日本語では、`は**「注意」**は`のように、端に記号やコードのある強調の始まりと終わりが見えません。
隣が日本語の文字なら、そこを語の切れ目とみなします。
短いコードは、`-inf`の「-」の後のような所で、2行に分けません。
数式は、前の「（」や後の「、」と同じ行に置きます。ブラウザーは、数式の前後ならどこででも行を折るからです。
"""

import re

from docutils import nodes
from markdown_it.rules_inline import StateInline
from sphinx.transforms import SphinxTransform

# kana, kanji, CJK punctuation, full-width forms
JAPANESE = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")

OPENING, CLOSING = re.compile(r"[（「『【]+$"), re.compile(r"^[、。，．）」』】！？]+")
SHORT = 16  # letters of code, about a third of a phone's line


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


class KeepShortCode(SphinxTransform):
    default_priority = 400

    def apply(self):
        for code in self.document.findall(nodes.literal):
            if len(code.astext()) <= SHORT:
                code["classes"].append("whole")


class KeepPunctuation(SphinxTransform):
    default_priority = 410  # the lines are joined

    def apply(self):
        for formula in list(self.document.findall(nodes.math)):
            held = nodes.inline("", "", classes=["whole"])
            formula.replace_self(held)
            held += [*cut(held.previous_sibling(), OPENING), formula, *cut(held.next_node(siblings=True), CLOSING)]
            if len(held) == 1:
                held.replace_self(formula)


def cut(text, marks):
    """Take the marks off the end or beginning of the text beside a formula, and yield them."""
    if isinstance(text, nodes.Text) and (found := marks.search(text)):
        text.parent.replace(text, nodes.Text(marks.sub("", text)))
        yield nodes.Text(found[0])


def scan_stars(scan):
    """Let `*` also open after a Japanese letter, and close before one, unless a space stands on the inner side."""

    def scanned(state, start, can_split_word):
        found = scan(state, start, can_split_word)
        before, after = state.src[start - 1 : start], state.src[start + found.length :][:1]
        if state.src[start] != "*" or before.isspace() or after.isspace():
            return found
        return found._replace(
            can_open=found.can_open or bool(after and JAPANESE.match(before)),
            can_close=found.can_close or bool(before and JAPANESE.match(after)),
        )

    return scanned


def setup(app):
    StateInline.scanDelims = scan_stars(StateInline.scanDelims)
    app.add_transform(JoinLines)
    app.add_transform(KeepShortCode)
    app.add_transform(KeepPunctuation)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
