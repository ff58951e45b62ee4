"""The small Sphinx extensions, one by one; the built site is tested in tests/site."""

import logging
import socket
from types import SimpleNamespace

import interactive
import japanese
import maths
import ports
import pytest
import recover
import theme
from docutils import nodes
from docutils.utils import new_document
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
    page = "".join(old * times for old, (_, times) in theme.REPLACEMENTS.items())
    changed = theme.in_japanese(page, "page")

    assert "Toggle" not in changed
    with pytest.raises(ExtensionError, match="page: furoの出力に"):
        theme.in_japanese(page.replace("Toggle site", "Open site"), "page")


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
