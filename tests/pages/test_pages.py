"""The rules of tests/pages/rules.py: on the real pages, and on samples that show that no rule is empty."""

import re
from pathlib import Path

import pytest
import rules

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in sorted(DOCS.glob("*.md"))}
EXPECTED = {path.stem for path in DOCS.glob("_expected/*.yml")}


def notebook(page, text):
    return rules.notebook(page, text, EXPECTED | {"good"})


RULES = [
    rules.spelling,
    rules.spaces,
    rules.full_width,
    rules.emphasis,
    rules.prompts,
    rules.headings,
    rules.one_sentence,
    rules.polite,
    rules.size,
    rules.code_width,
    rules.figure_cells,
    notebook,
]


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_page(rule, page):
    """Every page keeps every rule."""
    assert "\n".join(rule(page, PAGES[page])) == ""


@pytest.mark.parametrize("rule", [rules.listed, rules.terms], ids=lambda rule: rule.__name__)
def test_order_of_ideas(rule):
    """Every page is in a toctree, and no page needs what only a later one introduces."""
    assert "\n".join(rule(PAGES)) == ""


def cell(code, head=""):
    return f"```{{code-cell}} ipython3\n{head}{code}\n```\n"


def listing(start):
    """Show the one line of the rules that begins so."""
    return f'```{{literalinclude}} ../tests/pages/rules.py\n:start-at: "{start}"\n:end-at: "{start}"\n```\n'


ALT = "---\nmystnb:\n  image:\n    alt: 重みの図。3行3列で、対角線がいちばん濃い。\n---\n"
PLOT = "from attention_book.figures import heatmap\n\nheatmap(weights)"
HINT = ":::{admonition} 見出し\n:class: note\n"

BAD = [  # (rule, source, line of the problem)
    (rules.spelling, "# 題\n\nユーザが使います。", 3),
    (rules.spelling, "一行目です。\nサーバへつなぎます。", 2),
    (rules.spelling, "- メモリとベクターを見ます。", 1),
    (rules.spelling, "ソフトマックスに通します。", 1),
    (rules.spelling, "現在のtokenを見ます。", 1),
    (rules.spelling, "| a | b |\n|---|---|\n| 役割 | Queryの質問 |", 3),
    (rules.spelling, HINT + "Valueを混ぜることができます。\n:::", 3),
    (rules.spelling, ":::{admonition} 全てを見ますか。\n:::", 1),
    (rules.spelling, cell("x", ALT.replace("重みの図", "ベクターの図")), 1),
    (rules.spaces, "この Attentionです。", 1),
    (rules.spaces, "Attention は便利です。", 1),
    (rules.spaces, "これは `softmax`です。", 1),
    (rules.spaces, "$n$ 個です。", 1),
    (rules.spaces, "- **太字。** 続きです。", 1),
    (rules.full_width, "ここは３つです。", 1),
    (rules.full_width, cell("# ＱとＫ"), 2),
    (rules.emphasis, "**「注意」**は大事です。", 1),
    (rules.emphasis, "一行目です。\n**`code`**を使います。", 2),
    (rules.emphasis, "**$n$個**あります。", 1),
    (rules.emphasis, "これは**終わり。**続きです。", 1),
    (rules.emphasis, "これは**閉じていません。", 1),
    (rules.prompts, "```python\n>>> 1 + 1\n2\n```", 2),
    (rules.headings, "文です。", 1),
    (rules.headings, "## 節\n", 1),
    (rules.headings, "# 題\n\n### 項\n", 3),
    (rules.headings, "# 題\n\n# 題2\n", 3),
    (rules.one_sentence, "1つ目です。2つ目です。", 1),
    (rules.one_sentence, HINT + "1つ目です。\n2つ目です。3つ目です。\n:::", 4),
    (rules.one_sentence, "1つ目です。`code`です。", 1),
    (rules.polite, "これは重みである。", 1),
    (rules.polite, "- ほぼ一定だ。", 1),
    (rules.polite, cell(PLOT, ALT.replace("濃い。", "濃い図である。")), 1),
    (rules.size, "あ" * 9000, 1),
    (rules.code_width, "文です。\n\n" + cell("x = 1\nx = '" + "あ" * 28 + "'"), 5),
    (rules.code_width, cell("x" * 89, ":tags: [raises-exception]\n"), 3),
    (rules.code_width, "文です。\n\n" + listing("LATIN ="), 3),
    (rules.figure_cells, cell(PLOT), 1),
    (rules.figure_cells, cell(PLOT, ALT.replace("重みの図。3行3列で、対角線がいちばん濃い。", "図")), 1),
    (rules.figure_cells, cell(PLOT, ALT.replace("重みの図。3行3列で、対角線がいちばん濃い。", "weights of it")), 1),
    (rules.figure_cells, cell("w = f(x)\nfigures.line_plot(w)", ALT), 1),
    (notebook, cell("x"), 1),
    (notebook, "---\nfile_format: mystnb\n---\n\n" + cell("x"), 1),
]


@pytest.mark.parametrize(("rule", "source", "line"), BAD)
def test_bad_sample(rule, source, line):
    """The rule finds the fault, names page and line, and speaks Japanese."""
    found = rule("bad", source)
    assert found
    assert {x.split(": ")[0] for x in found} == {f"docs/bad.md:{line}"}
    assert all(re.search("[ぁ-ん].*。$", x) for x in found)


GOOD = """\
---
file_format: mystnb
---

(good)=
# 題

## 節

ユーザーとサーバーとブラウザーは、メモリーを使います。
これは**太字**です（**太字**の例です。「かっこ」の中です）。
Self-attentionの`query`と`key, value`は$n$個で、{ref}`by-hand`と`**kwargs`を見ます。
引用：「1つ目です。2つ目です。」

- 1つ目です。2つ目です。
- **言えること**：Multi-head attentionの128 MiBです。

| 列 | `Query` |
|---|---|
| スコア → softmax | 1つ目です。2つ目です。 |

> クエリ → **キー** → 重み付きで足し合わせたものだった。

Transformerは再帰をなくしました {cite:p}`vaswani2017`。

:::{admonition} 見出しですか。
:class: note
1つ目です。
2つ目です。
:::

### 項

"""
GOOD += cell("print('token')  # Query と Key である。\nx = '" + "x" * 54 + "'") + cell(PLOT, ALT) + cell("", "")
GOOD += listing("JA =")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_good_sample(rule):
    """No rule complains of what the book does, nor of code."""
    assert rule("good", GOOD) == []


def test_glossary_may_write_readings():
    """The readings and the English of a term stand in the glossary, and only there."""
    source = "```{glossary}\nsoftmax\n  （ソフトマックス）関数です。\n```"

    assert rules.spelling("glossary", source) == []
    assert rules.spelling("masks", source) != []


def book(first, second, glossary="重み"):
    return {
        "index": "---\nintroduces: []\nneeds: []\n---\n```{toctree}\nb\na\nglossary\nnotation\n```",
        "a": second,
        "b": first,
        "glossary": f"---\nintroduces: []\nneeds: []\n---\n```{{glossary}}\n{glossary}\n  説明です。\n```",
        "notation": "---\nintroduces: []\nneeds: []\n---\n| $W_Q, W_K$ | `head_dim` | 長さ |\n| $-\\infty$ | `-inf` | 値 |",
    }


def meta(introduces, needs):
    return f"---\nintroduces: [{introduces}]\nneeds: [{needs}]\n---\n"


def test_terms_in_order():
    """The order is the toctree's (b before a), and the table of symbols counts as defined."""
    assert rules.terms(book(meta("重み, W_K", ""), meta("-inf, head_dim", "重み, W_K"))) == []


@pytest.mark.parametrize(
    ("first", "second", "page", "word"),
    [
        (meta("", "重み"), meta("重み", ""), "b", "前のどのページ"),
        (meta("重み", ""), meta("重み", ""), "a", "説明済み"),
        (meta("重み", "重み"), meta("", ""), "b", "両方"),
        (meta("漏れ", ""), meta("", ""), "b", "glossary"),
        (meta("重み", ""), "# 題", "a", "introduces: ["),
        (meta("重み", ""), "---\nintroduces: []\n---\n", "a", "needs: ["),
    ],
)
def test_terms_out_of_order(first, second, page, word):
    """A term that comes too late, twice, undefined or not at all is named."""
    found = rules.terms(book(first, second))
    assert found
    assert all(x.startswith(f"docs/{page}.md:1: ") for x in found)
    assert word in found[0]


def test_unlisted_page():
    """A page that no toctree holds is found."""
    assert rules.listed(book("", "") | {"lost": "# 題"})[0].startswith("docs/lost.md:1: ")
