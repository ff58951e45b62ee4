"""The small Sphinx extensions, one by one; the built site is tested in tests/site."""

import base64
import hashlib
import logging
import socket
from types import SimpleNamespace

import access
import found
import interactive
import japanese
import maths
import policy
import ports
import pytest
import recover
import theme
from docutils import nodes
from docutils.utils import new_document
from jinja2 import Environment, FileSystemLoader
from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from myst_nb.core.utils import coalesce_streams
from nbformat.v4 import new_code_cell, new_notebook
from sphinx.errors import ExtensionError


def joined(*texts):
    """Run the transform over one paragraph; a str is a text node, a list an inline literal."""
    document = new_document("page")
    paragraph = nodes.paragraph()
    for text in texts:
        paragraph += nodes.Text(text) if isinstance(text, str) else nodes.literal("", text[0])
    document += paragraph
    japanese.JoinLines(document).apply()
    return paragraph.astext()


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["一つ目です。", "\n", "二つ目です。"], "一つ目です。二つ目です。"),
        (["一つ目です。\n二つ目です。"], "一つ目です。二つ目です。"),
        (["Attention", "\n", "は"], "Attentionは"),
        (["です。", "\n", "Attention"], "です。Attention"),
        (["one", "\n", "two"], "one\ntwo"),
        (["です。", "\n", ["softmax"], "を"], "です。softmaxを"),
        ([["softmax"], "\n", "は"], "softmaxは"),
        ([["one"], "\n", ["two"]], "one\ntwo"),
        (["空 白は", "そのまま"], "空 白はそのまま"),
    ],
)
def test_lines_join_beside_japanese_only(texts, expected):
    assert expected == joined(*texts)


def test_code_keeps_its_lines():
    document = new_document("page")
    document += nodes.literal_block("", "一行目\n二行目")
    japanese.JoinLines(document).apply()

    assert document.astext() == "一行目\n二行目"


@pytest.mark.parametrize(
    ("source", "html"),
    [
        ("これは**「注意」**です", "これは<strong>「注意」</strong>です"),
        ("**「一」**と**「二」**です", "<strong>「一」</strong>と<strong>「二」</strong>です"),
        ("は**`code`**を", "は<strong><code>code</code></strong>を"),
        ("は**終わり。**続き", "は<strong>終わり。</strong>続き"),
        ("は**太字**は、*斜体*は", "は<strong>太字</strong>は、<em>斜体</em>は"),
        ("は** 空白 **は", "は** 空白 **は"),
        ('a**"b"**c', "a**&quot;b&quot;**c"),
    ],
)
def test_emphasis_ends_beside_japanese(monkeypatch, source, html):
    monkeypatch.setattr(StateInline, "scanDelims", StateInline.scanDelims)  # put back after the test
    japanese.setup(SimpleNamespace(add_transform=lambda transform: None))

    assert MarkdownIt("commonmark").renderInline(source) == html


def test_short_code_is_kept_on_a_line():
    document = new_document("page")
    document += nodes.paragraph("", "", nodes.literal("", "-inf"), nodes.literal("", "softmax(Q @ K.T) @ V"))
    japanese.KeepShortCode(document).apply()

    assert [code["classes"] for code in document.findall(nodes.literal)] == [["whole"], []]


@pytest.mark.parametrize(
    ("before", "after", "held"),
    [
        ("部分（", "、と", "（a、"),
        ("「（", "）」。", "「（a）」。"),
        ("部分", "、と", "a、"),
        ("（", "と", "（a"),
        ("（部分", "と、", None),
        (None, None, None),
    ],
)
def test_a_formula_is_kept_with_its_punctuation(before, after, held):
    document = new_document("page")
    parts = [nodes.Text(before or ""), nodes.math("", "a"), nodes.Text(after or "")]
    document += nodes.paragraph("", "", *(part for part in parts if part.astext()))
    japanese.KeepPunctuation(document).apply()

    assert document.astext() == f"{before or ''}a{after or ''}"
    assert [kept.astext() for kept in document.findall(nodes.inline)] == ([held] if held else [])


def table(*rows):
    """Return the header of the first column of a one-column table."""
    entries = [nodes.entry("", nodes.paragraph("", text)) for text in rows]
    head, *body = (nodes.row("", entry) for entry in entries)
    nodes.table("", nodes.tgroup("", nodes.thead("", head), nodes.tbody("", *body)))
    return entries[0]


@pytest.mark.parametrize(
    ("rows", "letters"),
    [(("分", "18"), 1), (("名", "スコア"), 3), (("名", "か" * 18), 6), (("名", "a" * 36), 6), (("名", "か" * 90), 9)],
)
def test_columns_are_wide_enough_for_their_text(rows, letters):
    assert access.narrowest(table(*rows)) == letters


@pytest.mark.parametrize(
    ("code", "html"),
    [
        ("check_cross_attention", "check_<wbr />cross_<wbr />attention"),
        ("MultiHeadAttentionWrapper", "Multi<wbr />Head<wbr />Attention<wbr />Wrapper"),
        ("in_proj_weight", "in_proj_weight"),
        ("(..., L, embed_dim)", '(...,</span> <span class="pre">L,</span> <span class="pre">embed_dim)'),
    ],
)
def test_long_names_in_cells_may_break(code, html):
    before = ["<td><p>", "<code>", '<span class="pre">not_of_this_cell_at_all</span>', "</td>"]
    words = " ".join(f'<span class="pre">{word}</span>' for word in code.split())
    translator = SimpleNamespace(body=[*before, "<td>", words], context=["</td>"])
    access.depart_entry(translator, nodes.entry())

    assert translator.body == [*before, "<td>", f'<span class="pre">{html}</span>', "</td>"]


def test_a_change_in_docutils_stops_the_build():
    with pytest.raises(ExtensionError, match=r"docs/_ext/access\.py"):
        access.replace_in_last(SimpleNamespace(body=['<div role="doc">']), 'role="doc-biblioentry"', "")


def test_good_tex_becomes_mathml(caplog):
    html = maths.mathml(nodes.math("", r"\frac{Q K^\top}{\sqrt{d_k}}"), display=True)

    assert html.startswith("<math")
    assert all(f"<{tag}>" in html for tag in ("mfrac", "msqrt", "msub"))


def test_bad_tex_warns_with_its_place_and_stays_readable(caplog):
    node = nodes.math("", r"\sqrt{a < b")
    node.source, node.line = "page.md", 7
    with caplog.at_level(logging.WARNING, logger="sphinx.maths"):
        html = maths.mathml(node, display=False)

    assert "数式を読めません" in caplog.text
    assert "a &lt; b" in html


def test_theme_strings_are_replaced_or_the_build_stops():
    page = theme.CAPTION + "".join(old * times for old, (_, times) in theme.REPLACEMENTS.items())
    changed = theme.in_japanese(page, "page")

    assert "Toggle" not in changed
    with pytest.raises(ExtensionError, match="page: furoの出力に"):
        theme.in_japanese(page.replace("Toggle site", "Open site"), "page")
    with pytest.raises(ExtensionError, match="page: サイトの目次に"):
        theme.in_japanese(page.replace(theme.CAPTION, "<p>"), "page")


def templates(tmp_path, base):
    (tmp_path / "base.html").write_text(base, encoding="utf-8")
    return SimpleNamespace(environment=Environment(loader=FileSystemLoader(tmp_path)))


def test_the_script_of_furo_is_allowed_by_its_content(tmp_path):
    digest = base64.b64encode(hashlib.sha256(b"run()").digest()).decode()

    assert policy.hash_of_furo(templates(tmp_path, "<script>run()</script>")) == f"'sha256-{digest}'"


@pytest.mark.parametrize("base", ["", "<script>1</script><script>2</script>", "<script>{{ changing }}</script>"])
def test_other_scripts_of_furo_stop_the_build(tmp_path, base):
    with pytest.raises(ExtensionError, match=r"docs/_ext/policy\.py"):
        policy.hash_of_furo(templates(tmp_path, base))


@pytest.mark.parametrize("metatags", ["", policy.VIEWPORT * 2])
def test_a_change_in_sphinx_stops_the_build(metatags):
    app = SimpleNamespace(builder=SimpleNamespace(policy="default-src 'none'"))

    with pytest.raises(ExtensionError, match="page: Sphinx"):
        policy.write(app, "page", "page.html", {"metatags": metatags}, tree=nodes.section())


def section(*texts):
    return nodes.section("", *(nodes.paragraph("", text) for text in texts))


def test_a_page_is_described_by_its_goals_or_its_first_sentences():
    goals = nodes.bullet_list("", *(nodes.list_item("", nodes.paragraph("", text)) for text in ("一つ。", "二つ。")))
    box = nodes.admonition("", nodes.title("", "このページの目標"), goals)
    lesson = nodes.section("", box, nodes.paragraph("", "本文です。"))

    assert found.describe(lesson) == "一つ。二つ。"
    assert found.describe(section("一文目です。", "二文目です。")) == "一文目です。二文目です。"
    assert found.describe(section("一文目です。", f"{'長' * 120}。", "三文目です。")) == "一文目です。"
    assert found.describe(section(f"{'長' * 120}。")) == f"{'長' * 120}。"
    assert found.describe(section()) == ""  # a page that was only begun


def test_ports_stay_out_of_the_range_that_others_are_given(monkeypatch):
    draws = iter([1, 1, 2, 3])
    monkeypatch.setattr(ports.secrets, "randbelow", lambda count: next(draws))
    monkeypatch.setattr(ports, "is_free", lambda ip, port: port != ports.FIRST + 2)
    cache = ports.LocalPortCache()
    found = [ports.find_available_port(cache, "127.0.0.1") for _ in range(2)]

    assert found == [ports.FIRST + 1, ports.FIRST + 3]
    assert 1024 < ports.FIRST < ports.FIRST + ports.COUNT < 32_768


def test_a_port_in_use_is_not_free():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        assert not ports.is_free("127.0.0.1", taken.getsockname()[1])


@pytest.fixture
def page_with():
    """page_with('<figure …>'): what the extension adds to a page with this HTML."""

    def added(html, folder):
        tree = new_document("page")
        tree += nodes.raw("", html, format="html")
        files = []
        app = SimpleNamespace(
            confdir=folder,
            add_js_file=lambda file, **options: files.append((file, options)),
            add_css_file=lambda file: files.append((file, {})),
        )
        interactive.add_scripts(app, "page", "page.html", {}, tree)
        return files

    return added


def test_a_page_loads_the_scripts_of_its_figures_only(page_with, tmp_path):
    (tmp_path / "docs/_static/figures").mkdir(parents=True)
    (tmp_path / "docs/_static/figures/masks.js").touch()

    assert page_with("<p>data-figure</p>", tmp_path) == []
    assert page_with('<svg data-figure="masks"></svg><figure data-figure="masks"></figure>', tmp_path) == [
        ("figures/masks.js", {"type": "module"}),
        ("figures/figures.css", {}),
    ]
    assert interactive.add_scripts(None, "genindex", "genindex.html", {}, None) is None


def test_a_figure_without_a_script_warns(page_with, tmp_path, caplog):
    with caplog.at_level(logging.WARNING, logger="sphinx.interactive"):
        assert page_with('<figure data-figure="maskz"></figure>', tmp_path) == [("figures/figures.css", {})]
    assert "maskz のスクリプト docs/_static/figures/maskz.js がありません" in caplog.text


def test_a_line_that_is_printed_in_two_pieces_stays_one_line(tmp_path):
    cell = new_code_cell("import time\nprint('a', end='', flush=True)\ntime.sleep(0.5)\nprint('\\nb')")
    recover.run(new_notebook(cells=[cell]), str(tmp_path), 60, allow_errors=False)
    assert [output.text for output in coalesce_streams(cell.outputs)] == ["a\nb\n"]
