"""What Pagefind is given to read, and what is said when it fails; the search itself is tested in tests/site."""

import re
from types import SimpleNamespace

import pytest
import search
from sphinx.errors import ExtensionError

PAGE = """<nav>目次</nav><article role="main" id="main">
<section class="tex2jax_ignore" id="masks">
<span id="id1"></span><h1>マスク<a class="headerlink" href="#masks">¶</a></h1>
<section id="why">
<h2>なぜ<math><msqrt><msub><mi>d</mi><mi>k</mi></msub></msqrt></math>で割るのか</h2>
<dl><dt id="term-4">重み<a class="headerlink" href="#term-4">¶</a></dt><dd><p>（おもみ、attention weight）合計1の数です。</p></dd>
<dt class="sig sig-object py" id="book.causal_mask"><span>causal_mask</span>(n)</dt><dd>説明</dd>
<dt class="field-odd">引数</dt></dl>
</section></section></article><footer>終わり</footer>"""


def test_headings_terms_and_functions_have_their_address():
    copy = search.copy_of(PAGE, "masks")

    assert re.findall(r'<(h\d) id="(.*?)"', copy) == [
        ("h1", "masks"),
        ("h2", "why"),
        ("h4", "term-4"),
        ("h4", "book.causal_mask"),
    ]
    assert "重み<a" in copy
    assert "（おもみ、attention weight）</h4><dd><p>合計1の数です。" in copy
    assert 'id="book.causal_mask">book.causal_mask</h4>' in copy
    assert "なぜ√d_kで割るのか" in copy
    assert "目次" not in copy
    assert "終わり" not in copy


@pytest.mark.parametrize(
    ("mathml", "text"),
    [
        ("<math><mfrac><mi>a</mi><mi>b</mi></mfrac></math>", "a/b"),
        ("<math><msup><mi>K</mi><mo>⊤</mo></msup><mo>&lt;</mo></math>", "K^⊤&lt;"),
        ("<math><mi>log</mi><mo>&ApplyFunction;</mo><mi>n</mi></math>", "log n"),
    ],
)
def test_formulas_become_text(mathml, text):
    assert text == re.sub(".+", search.formula, mathml)


@pytest.mark.parametrize("page", [PAGE.replace('<section id="why">', "<section>"), "<article>見出しなし</article>", ""])
def test_a_heading_without_address_stops_the_build(page):
    with pytest.raises(ExtensionError, match=r"^masks: .*住所.*docs/_ext/search\.py"):
        search.copy_of(page, "masks")


def test_names():
    term = {"id": "term-4", "element": "h4", "text": "重み（おもみ、attention weight）"}
    method = {"id": "attention_book.KVCache.append", "element": "h4", "text": "attention_book.KVCache.append"}

    assert search.names(term) == ["重み", "おもみ", "attention weight"]
    assert search.names(method) == ["append"]
    assert search.names({"id": "why", "element": "h2", "text": "なぜ（理由）"}) == []


def test_a_failure_of_pagefind_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("PAGEFIND_BINARY_PATH", str(tmp_path / "nothing"))
    with pytest.raises(ExtensionError, match=r"検索の索引を作れませんでした。(?s:.*)Error(?s:.*)nox -s env"):
        search.index(tmp_path, tmp_path / "out")


@pytest.mark.parametrize(("mode", "times"), [("check", 2), ("live", 1)])
def test_an_edit_in_live_keeps_the_index(monkeypatch, tmp_path, mode, times):
    made = []
    monkeypatch.setattr(search, "index", lambda pages, out: made.append(out.mkdir()))
    (tmp_path / "masks.html").write_text(PAGE, encoding="utf-8")
    app = SimpleNamespace(
        builder=SimpleNamespace(name="html"),
        config=SimpleNamespace(gate_mode=mode),
        env=SimpleNamespace(found_docs=["masks"]),
        outdir=tmp_path,
    )
    for _ in range(2):
        search.write_index(app, None)

    assert len(made) == times
    assert (tmp_path / "pagefind" / "titles.json").is_file()
