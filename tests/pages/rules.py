"""How a page is written: pure functions from (page name, source text) to a list of problems.

A problem reads "docs/page.md:LINE: what is wrong and how to mend it", in Japanese, because contributors read it.
What is prose and what is code is decided by the Markdown parser, not by regular expressions.
"""

import ast
import re
from pathlib import Path
from typing import NamedTuple
from unicodedata import east_asian_width

import yaml
from markdown_it import MarkdownIt
from mdit_py_plugins.colon_fence import colon_fence_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.front_matter import front_matter_plugin
from mdit_py_plugins.myst_blocks import myst_block_plugin
from mdit_py_plugins.myst_role import myst_role_plugin
from sphinx.config import Config
from sphinx.directives.code import LiteralIncludeReader

DOCS = Path(__file__).resolve().parents[2] / "docs"
MARKDOWN = MarkdownIt("commonmark").enable("table")
for plugin in (colon_fence_plugin, dollarmath_plugin, front_matter_plugin, myst_block_plugin, myst_role_plugin):
    MARKDOWN.use(plugin)

JA = r"[\u3040-\u30ff\u3400-\u9fff々〆]"
# what is not prose; one MASK stands for each. A citation keeps the space before its bracket.
MASK = "\ufffc"
CITATION = re.compile(r"\{cite:p\}`[^`]+`")
MASKED = re.compile(r"(?:\{[\w:]+\})?(`+)(?:(?!`).)+\1|\$[^$\n]+\$")
MAX_BYTES, MAX_COLUMNS, MIN_ALT = 25_000, 60, 10
FIGURES = {"heatmap", "line_plot", "value_map"}

LONG = "外来語の語尾の「ー」は省きません"
LATIN = "本文では英語のままの名前を使います。読みは用語集だけに書きます"
TERM = "本文ではカタカナで書きます。コードの名前なら`で囲みます"
SPELLING = [  # (forbidden, write this, reason, pages where it is right)
    ("(ユーザ|サーバ|ブラウザ|メモリ|フォルダ)(?!ー)", r"\1ー", LONG, ""),
    ("(レイヤ|エンコーダ|デコーダ|パラメータ|コンピュータ)(?!ー)", r"\1ー", LONG, ""),
    ("ベクター", "ベクトル", "数学の用語に合わせます", ""),
    ("ソフトマックス", "softmax", LATIN, "glossary"),
    ("アテンション", "Attention", LATIN, "glossary"),
    ("トランスフォーマー?", "Transformer", LATIN, "glossary"),
    (r"(?<![\w-])[Tt]oken(?![\w-])", "トークン", TERM, "glossary"),
    (r"(?<![\w-])[Qq]uery(?![\w-])", "クエリ", TERM, "glossary"),
    (r"(?<![\w-])[Kk]ey(?![\w-])", "キー", TERM, "glossary"),
    (r"(?<![\w-])[Vv]alue(?![\w-])", "バリュー", TERM, "glossary"),
    ("することができ", "でき", "短く書きます", ""),
    ("全て", "すべて", "ひらがなで書きます", ""),
    ("下さい", "ください", "ひらがなで書きます", ""),
    ("出来([るま])", r"でき\1", "ひらがなで書きます", ""),
    ("，", "、", "読点は「、」です", ""),
    ("．", "。", "句点は「。」です", ""),
    ("[ｦ-ﾟ]+", "全角のカタカナ", "半角カナは使いません", ""),
]


class Prose(NamedTuple):
    """One source line that a reader reads, and the kind of block that it stands in."""

    line: int
    kind: str  # paragraph, list, table, quote, heading, title, definition, alt
    text: str


class Cell(NamedTuple):
    """One code cell: the line of its fence, its metadata, the line of its first code, and the code."""

    line: int
    metadata: dict
    start: int
    code: str


def problem(page, line, message):
    return f"docs/{page}.md:{line}: {message}"


def front_matter(text):
    """Return the YAML between the first two `---`, or {}."""
    tokens = MARKDOWN.parse(text)
    return yaml.safe_load(tokens[0].content) or {} if tokens and tokens[0].type == "front_matter" else {}


def columns(line):
    """Return the width on screen: a Japanese letter takes two columns."""
    return sum(2 if east_asian_width(c) in "WF" else 1 for c in line)


def prose(text, offset=0):
    """Yield the Prose of a page: also of directives, glossary definitions and alternative texts, never of code."""
    inside, line = [], 0
    for token in MARKDOWN.parse(text):
        line = token.map[0] if token.map else line
        start = line + 1 + offset
        kind = token.type.rpartition("_")[0]
        if token.nesting == 1:
            inside.append({"list_item": "list", "blockquote": "quote"}.get(kind, kind))
        elif token.nesting == -1:
            inside.pop()
        elif token.type == "inline":
            kind = next((k for k in ("table", "list", "quote", "heading") if k in inside), "paragraph")
            for n, part in enumerate(token.content.split("\n")):
                yield Prose(start + n, kind, part)
        elif token.type == "colon_fence":
            yield Prose(start, "title", token.info.strip().partition(" ")[2])
            content = re.sub(r"^:[\w-]+:.*$", "", token.content, flags=re.M)  # options
            yield from prose(content, start)
        elif token.type == "fence" and token.info.startswith("{glossary}"):
            for n, part in enumerate(token.content.split("\n")):
                yield Prose(start + 1 + n, "definition", part.strip())
        elif token.type == "fence" and token.info.startswith("{code-cell}"):
            cell = cell_of(token, offset)
            if alt := alt_of(cell):
                yield Prose(cell.line, "alt", alt)


def words(text):
    """Yield the same with inline code, roles and formulas masked."""
    for item in prose(text):
        yield item._replace(text=MASKED.sub(MASK, CITATION.sub("", item.text)))


def cells(text):
    return [cell_of(t) for t in MARKDOWN.parse(text) if t.type == "fence" and t.info.startswith("{code-cell}")]


def cell_of(token, offset=0):
    lines, line = token.content.split("\n"), token.map[0] + 1 + offset
    if lines[0] == "---":
        end = lines.index("---", 1)
        metadata = yaml.safe_load("\n".join(lines[1:end]))
        end += 1
    else:
        end = next((n for n, x in enumerate(lines) if not re.match(r":[\w-]+:", x)), len(lines))
        metadata = dict(x[1:].split(":", 1) for x in lines[:end])
    return Cell(line, metadata, line + 1 + end, "\n".join(lines[end:]))


def alt_of(cell):
    return str(cell.metadata.get("mystnb", {}).get("image", {}).get("alt", ""))


# The rules: each takes (page, text) and returns a list of problems.


def spelling(page, text):
    found = []
    for pattern, right, reason, allowed in SPELLING:
        for item in words(text) if page not in allowed.split() else ():
            for match in re.finditer(pattern, item.text, re.A):
                better = match.expand(right)
                found.append(problem(page, item.line, f"「{match[0]}」は「{better}」と書きます。{reason}。"))
    return found


def spaces(page, text):
    """Latin letters, figures, code and formulas stand beside Japanese without a typed space."""
    pattern = re.compile(rf"(?:{JA}|[、。」）]) +[\w{MASK}]|[\w{MASK}] +(?:{JA}|[「（])")
    return [
        problem(page, item.line, f"「{match[0].replace(MASK, '`')}」の空白を消します。すき間はブラウザーが描きます。")
        for item in words(text)
        for match in pattern.finditer(item.text.replace("**", ""))
    ]


def full_width(page, text):
    return [
        problem(page, n, f"全角の英数字「{match[0]}」を半角にします。")
        for n, line in enumerate(text.split("\n"), 1)
        for match in re.finditer("[Ａ-Ｚａ-ｚ０-９]+", line)
    ]


def emphasis(page, text):
    """CommonMark does not see the end of `**「注意」**は`: punctuation, code and formulas stay outside of the stars."""
    found = []
    for item in prose(text):
        parts = MASKED.sub("`", item.text).split("**")
        for bold in parts[1::2]:
            if re.match("[「」（）。、`]", bold) or re.search("[「」（）。、`]$", bold):
                message = f"**{bold}** の端の記号やコードを、** の外に出します。中にあると太字になりません。"
                found.append(problem(page, item.line, message))
        if len(parts) % 2 == 0:
            found.append(problem(page, item.line, "** の数が奇数です。同じ行で開いて閉じます。"))
    return found


def prompts(page, text):
    return [
        problem(page, n, "「>>>」はページに書けません。code-cell で実行します（doctestはdocstringだけに書きます）。")
        for n, line in enumerate(text.split("\n"), 1)
        if ">>>" in line
    ]


def headings(page, text):
    found, before = [], 0
    for token in MARKDOWN.parse(text):
        if token.type == "heading_open":
            level, line = int(token.tag[1]), token.map[0] + 1
            if before == 0 and level != 1:
                found.append(problem(page, line, "最初の見出しは「# 」にします。"))
            elif before and level == 1:
                found.append(problem(page, line, "「# 」の見出しは1ページに1つです。「## 」にします。"))
            elif before and level > before + 1:
                found.append(problem(page, line, f"見出しの段を飛ばしています。「{'#' * (before + 1)} 」にします。"))
            before = level
    return found if before else [problem(page, 1, "「# 」の見出しがありません。")]


def one_sentence(page, text):
    found = []
    for item in words(text):
        outer = re.sub("（[^（）]*）|「[^「」]*」", "", item.text)
        if item.kind == "paragraph" and re.search(r"。\**\s*[^\s*]", outer):
            found.append(problem(page, item.line, "1行に2つの文があります。「。」の後で改行します。"))
    return found


def polite(page, text):
    """Quoted claims keep their form."""
    return [
        problem(page, item.line, f"「{match[0]}」を、です・ますで書きます。")
        for item in words(text)
        if item.kind != "quote" and (match := re.search(r"(である|だ|だった)。", item.text))
    ]


def size(page, text):
    n = len(text.encode())
    return [problem(page, 1, f"{n}バイトあります。{MAX_BYTES}バイトまでにページを分けます。")] if n > MAX_BYTES else []


def listings(text):
    """Yield (line of the fence, file, code) of each part of a file that the page shows."""
    for token in MARKDOWN.parse(text):
        if token.type == "fence" and token.info.startswith("{literalinclude}"):
            file = token.info.split()[1]
            options = dict(re.findall(r"^:([\w-]+): *(.*)$", token.content, re.M))
            options = {name: yaml.safe_load(value) for name, value in options.items()}
            code, _ = LiteralIncludeReader(DOCS / file, options, Config()).read()
            yield token.map[0] + 1, file, code


def code_width(page, text):
    found = [
        problem(page, cell.start + n, f"コードが{columns(line)}桁あります。{MAX_COLUMNS}桁までにします。")
        for cell in cells(text)
        for n, line in enumerate(cell.code.split("\n"))
        if columns(line) > MAX_COLUMNS
    ]
    for start, file, code in listings(text):
        for line in code.split("\n"):
            if columns(line) > MAX_COLUMNS:
                message = f"{file}の「{line.strip()}」が{columns(line)}桁あります。{MAX_COLUMNS}桁までにします。"
                found.append(problem(page, start, message))
    return found


def figure_cells(page, text):
    """A plot stands in a cell of its own, with an alternative text."""
    found = []
    for cell in cells(text):
        try:
            *before, last = ast.parse(cell.code).body
        except (SyntaxError, ValueError):  # broken or empty: the build says so
            continue
        call = last.value if isinstance(last, ast.Expr) else None
        name = call.func if isinstance(call, ast.Call) else None
        if getattr(name, "id", getattr(name, "attr", None)) not in FIGURES:
            continue
        if len(alt := alt_of(cell)) < MIN_ALT or not re.search(JA, alt):
            message = f"図のセルに、mystnb: image: alt: を{MIN_ALT}文字以上の日本語で書きます。"
            found.append(problem(page, cell.line, message))
        if not all(isinstance(node, ast.Import | ast.ImportFrom) for node in before):
            found.append(
                problem(page, cell.line, "図のセルは、import と図の関数だけにします。計算は前のセルへ移します。")
            )
    return found


def notebook(page, text, expected):
    """`expected`: names of the pages that have a file in docs/_expected."""
    if not cells(text):
        return []
    found = []
    if front_matter(text).get("file_format") != "mystnb":
        found.append(problem(page, 1, "先頭の --- の間に file_format: mystnb を書きます。ないとセルが実行されません。"))
    if page not in expected:
        found.append(problem(page, 1, f"期待出力がありません。nox -s accept -- {page} で作ります。"))
    return found


# Rules over all pages: {page: text} in the order of reading.


def in_order(pages):
    """Return {page: text} sorted as a reader meets them: the index, then its toctrees."""
    entries = [
        line
        for token in MARKDOWN.parse(pages["index"])
        if token.type == "fence" and token.info.startswith("{toctree}")
        for line in token.content.split()
        if line in pages
    ]
    return {page: pages[page] for page in ["index", *entries]}


def listed(pages):
    return [
        problem(page, 1, "docs/index.md の toctree に、このページを足します。")
        for page in sorted(pages.keys() - in_order(pages).keys())
    ]


def defined(pages):
    """Return the terms of the glossary, and the symbols and code names of the notation."""
    terms = set()
    for token in MARKDOWN.parse(pages["glossary"]):
        if token.type == "fence" and token.info.startswith("{glossary}"):
            terms |= {line for line in token.content.split("\n") if re.match(r"\S", line)}
    for row in re.findall(r"^\|(.*?)\|(.*?)\|", pages["notation"], re.M):
        terms |= {name.strip(" $`") for cell in row for name in cell.split(",")}
    return terms


def terms(pages):
    """Each page says what it introduces and needs; nothing is needed before a page has introduced it."""
    found, known, origin = [], defined(pages), {}
    for page, text in in_order(pages).items():
        meta = front_matter(text)
        for field in ("introduces", "needs"):
            if not isinstance(meta.get(field), list):
                found.append(problem(page, 1, f"先頭の --- の間に {field}: [用語, …] を書きます（なければ []）。"))
                meta[field] = []
        for term in map(str, meta["needs"]):
            if term in map(str, meta["introduces"]):
                found.append(problem(page, 1, f"「{term}」が introduces と needs の両方にあります。一方だけにします。"))
            elif term not in origin:
                message = f"「{term}」は、前のどのページの introduces にもありません。先に説明するか、順番を変えます。"
                found.append(problem(page, 1, message))
        for term in map(str, meta["introduces"]):
            if term in origin:
                message = f"「{term}」は docs/{origin[term]}.md が説明済みです。needs に移します。"
                found.append(problem(page, 1, message))
            if term not in known:
                message = f"「{term}」を docs/glossary.md か docs/notation.md に足します。"
                found.append(problem(page, 1, message))
            origin.setdefault(term, page)
    return found
