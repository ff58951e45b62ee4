"""The search: what a learner types finds its page, in a real browser; and the page that shows it."""

import base64
import gzip
import hashlib
import re
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from conftest import WIDTH

DOCS = Path(__file__).resolve().parents[2] / "docs"
WRITTEN = sorted(path.stem for path in DOCS.glob("*.md"))
FIRST = 3  # a page that is not among so many first is not found
BUDGET = 320_000  # bytes of a first search, with gzip: 105 kB of engine and titles, then its part of index and text

# What is typed: the pages of which one shall be among the first.
PHRASES = {
    "なぜ√d_kで割る": "scaling",
    "ルートdkで割る理由": "scaling",
    "スコア 分散 次元": "scaling",
    "softmax 飽和 勾配": "scaling",
    "マスク 全部inf NaN": "masks mask-apis",
    "損失がNaNになる": "faq masks mask-apis",
    "未来を見ない": "masks",
    "True False 逆 マスク": "mask-apis faq",
    "key_padding_mask attn_mask 違い": "mask-apis torch-mha",
    "is_causal=True エラー": "faq torch-mha mask-apis",
    "causal mask tril triu": "mask-apis",
    "float mask 足される": "mask-apis",
    "位置エンコーディング なぜ": "positions",
    "コーザルマスク": "masks",
    "RoPE 回転": "positions",
    "RoPEとは": "positions glossary",
    "sinusoidal 偶数 奇数": "positions",
    "並べ替え 同変": "positions",
    "KVキャッシュ メモリ": "cost",
    "キャッシュ 何バイト": "cost",
    "FlashAttention 何が速い": "cost",
    "O(n^2) 計算量": "cost why-attention",
    "MultiheadAttention 重み ヘッドごと": "torch-mha",
    "need_weights=False": "torch-mha",
    "eval 出力が変わる": "torch-mha faq",
    "embed_dim num_heads 割り切れない": "multi-head capstone api",
    "view と transpose の順番": "multi-head",
    "クエリ キー バリュー 意味": "weighted-lookup projections",
    "QKVとは": "self-attention projections weighted-lookup",
    "セルフアテンション": "self-attention glossary",
    "self attention cross attention 違い": "self-attention",
    "交差注意": "self-attention glossary",
    "温度を下げる": "weighted-lookup",
    "RNN 勾配消失": "why-attention",
    "LSTM 遠く 覚える": "why-attention",
    "残差接続 なぜ必要": "inside",
    "attention は説明か": "explanation",
    "重みは説明にならない": "explanation",
    "ヒートマップ 読み方": "faq",
    "手計算 例": "by-hand",
    "最大値を引く オーバーフロー": "by-hand",
    "scaled dot product attention numpy": "by-hand scaling api",
    "ドロップアウト 重み 合計 1でない": "torch-mha faq",
    "練習 解答": "summary",
    "attention is all you need": "references",
    "グラフ 日本語 文字化け 豆腐": "faq",
}
SAME = {
    "softmax": ["ＳＯＦＴＭＡＸ", "SoftMax", " softmax　", "softmaxとは"],
    "マスク": ["ﾏｽｸ"],
    "key_padding_mask": ["ｋｅｙ＿ｐａｄｄｉｎｇ＿ｍａｓｋ", "KEY_PADDING_MASK"],
    "KVキャッシュ": ["ＫＶキャッシュ", "kvｷｬｯｼｭ"],
}
SIGNS = {"√d_k": "scaling", "d_k": "scaling", "softmax(QK^T)": "scaling", "-inf": "masks", "$\\sqrt{d_k}$": "scaling"}


def named(heading):
    """The words of a heading, without its number and its link."""
    text = heading.get_text()
    number = heading.find("span", class_="section-number")
    return text.removeprefix(number.get_text() if number else "").removesuffix("¶")


@pytest.fixture(scope="module")
def find(browser, base_url):
    """find([query, ...]): for each, [(page, [anchor of a section, ...]), ...]; one page of the browser for all."""
    context = browser.new_context(locale="ja")
    tab = context.new_page()
    tab.set_default_timeout(300_000)
    complaints = []
    tab.on("console", lambda message: complaints.append(message.text))
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.goto(f"{base_url}search.html")

    def found(queries):
        lists = tab.evaluate(
            """async (queries) => {
              const { find } = await import(new URL("_static/search/find.js", document.baseURI));
              const found = [];
              for (const query of queries) {
                const { pages } = await find(query);
                found.push(pages.map((page) => [page.address, page.sections.map((section) => section.anchor)]));
              }
              return found;
            }""",
            queries,
        )
        assert complaints == []
        return [[(address.removesuffix(".html"), anchors) for address, anchors in pages] for pages in lists]

    yield found
    context.close()


def first(pages):
    return [page for page, _ in pages[:FIRST]]


def lost(find, asked):
    """The queries of {query: pages} that find none of their pages among the first."""
    results = zip(asked, find([*asked]), strict=True)
    return {query: first(pages) for query, pages in results if not set(asked[query].split()) & {*first(pages)}}


def test_every_term_is_found_by_its_name_its_reading_and_in_english(find, soup):
    """Its entry comes first; or second, where a function of the package has that name."""
    terms = {}
    for term in soup("glossary").select("dl.glossary > dt"):
        aside = re.match("（(.*?)）", term.find_next_sibling("dd").get_text().strip())
        assert aside, f"用語集の「{named(term)}」の説明は、（読み、英語）で始めます。"
        for name in [named(term), *aside[1].split("、")]:
            terms.setdefault(name, []).append(term["id"])

    assert len(terms) > 150
    wrong = {}
    for (name, anchors), pages in zip(terms.items(), find([*terms]), strict=True):
        place, sections = next(((i, s) for i, (page, s) in enumerate(pages) if page == "glossary"), (None, [""]))
        before = [page for page, _ in pages[:place]]
        if before not in ([], ["api"]) or sections[0] not in anchors:
            wrong[name] = pages[:FIRST]
    assert wrong == {}


def test_every_heading_finds_its_section(find, soup):
    """Its page is among the first three, beside the other pages that have the same heading."""
    headings = [
        (named(heading), page, heading.find_parent("section")["id"])
        for page in WRITTEN
        for heading in soup(page).article.select("h1, h2, h3")
    ]
    assert len(headings) > 300
    wrong = []
    for (name, page, anchor), pages in zip(headings, find([name for name, *_ in headings]), strict=True):
        alike = {other for text, other, _ in headings if text == name}
        places = dict(pages[: FIRST + len(alike) - 1])
        if page not in places or not (anchor in places[page] or anchor == soup(page).article.section["id"]):
            wrong.append((name, page, [*places]))
    assert wrong == []


def test_every_compound_of_the_text_finds_a_page_that_has_it(find, soup):
    """Three and more letters of kanji and katakana, up to a particle."""
    said = {
        page: "\n".join(tag.get_text() for tag in soup(page).article.select("h1, h2, h3, p, li, td, dt, dd"))
        for page in WRITTEN
    }
    letter = "一-鿿々ァ-ヺー"
    compound = re.compile(rf"(?<![{letter}A-Za-z0-9])[{letter}]{{3,}}(?=[のはがをにでとへもやか、。」）\n])")
    compounds = sorted({match for text in said.values() for match in compound.findall(text)})

    assert len(compounds) > 150
    assert {"注意機構", "長距離依存"} <= {*compounds}
    results = zip(compounds, find(compounds), strict=True)
    assert {word: first(pages) for word, pages in results if not any(word in said[page] for page in first(pages))} == {}


def test_words_of_the_text_find_their_page(find):
    assert (
        lost(find, {"注意機構": "index why-attention", "重み付き検索": "weighted-lookup", "長距離依存": "glossary"})
        == {}
    )


def test_every_function_is_found_by_its_name(find, soup):
    functions = {sig["id"].rpartition(".")[2]: sig["id"] for sig in soup("api").select("dt.sig") if sig.get("id")}
    results = zip(functions.items(), find([*functions]), strict=True)

    assert len(functions) > 20
    assert [name for (name, anchor), pages in results if ("api", anchor) not in [(p, s[0]) for p, s in pages[:2]]] == []


def test_phrases_of_learners(find):
    assert len(PHRASES) >= 40
    assert lost(find, PHRASES) == {}


def test_signs(find):
    assert lost(find, SIGNS) == {}


def test_width_and_case_of_letters_do_not_matter(find):
    for plain, variants in SAME.items():
        expected, *others = find([plain, *variants])
        assert expected
        assert [other for other in others if other != expected] == []


def test_what_is_not_in_the_book_is_not_found(find):
    assert find(["", "　", "。", "^", "zzzz", "ヌヌヌヌヌ", "寿司"]) == [[]] * 7


def ask(tab, query):
    """Type into the field of the search page, and wait for the answer."""
    tab.locator("#search-query").fill(query)
    answered(tab, query)


def answered(tab, query):
    tab.wait_for_function("query => document.getElementById('search-status').textContent.includes(query)", arg=query)


def test_from_the_box_in_the_sidebar_to_the_section(hand):
    """By keyboard: Enter asks, Tab goes through the results, Enter opens one, each in a visible ring."""
    tab = hand("masks")
    box = tab.get_by_role("search").get_by_label("検索")
    box.focus()
    assert box.evaluate("e => getComputedStyle(e).outlineStyle") == "solid"
    tab.keyboard.type("重み付き検索")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/search.html?q=*")
    answered(tab, "重み付き検索")
    assert tab.url.endswith(f"?q={quote('重み付き検索')}")

    results = tab.locator("#search-results")
    assert results.locator("h2").first.inner_text() == "重み付き検索として読む"
    assert "重み付き検索" in results.locator("mark").all_inner_texts()
    tab.locator("#search-query").focus()
    rings = []
    for _ in range(4):
        ring = "[getComputedStyle(document.activeElement).outlineStyle, document.activeElement.textContent]"
        rings.append(tab.evaluate(ring))
        tab.keyboard.press("Tab")
    assert [style for style, _ in rings if style == "none"] == []
    assert [text for _, text in rings[1:]] == ["検索", "重み付き検索として読む", "辞書の検索から、重み付き検索へ"]
    tab.keyboard.press("Shift+Tab")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/book/weighted-lookup.html#*")
    anchor = urlsplit(tab.url).fragment
    assert tab.locator(f"[id='{anchor}'] > h2").inner_text().startswith("辞書の検索から、重み付き検索へ")


def test_a_late_answer_does_not_overwrite(hand):
    """What was typed on is not shown, though its answer comes first."""
    tab, waiting = hand("search"), []
    tab.route("**/titles.json", lambda route: waiting.append(route))
    tab.evaluate("""() => {
      window.said = [];
      const status = document.getElementById("search-status");
      new MutationObserver(() => said.push(status.textContent)).observe(status, { childList: true, subtree: true });
    }""")
    tab.locator("#search-query").fill("RoPE")
    tab.wait_for_function("() => location.search === '?q=RoPE'")
    tab.locator("#search-query").fill("ALiBi")
    tab.wait_for_function("() => location.search === '?q=ALiBi'")
    tab.wait_for_function("() => said.length >= 2")
    for route in waiting:
        route.continue_()
    answered(tab, "ALiBi")
    assert [text for text in tab.evaluate("said") if "RoPE" in text] == []


def test_an_input_method_is_let_finish(hand):
    tab = hand("search")
    tab.locator("#search-query").focus()
    keys = tab.context.new_cdp_session(tab)
    for text in ("ｍ", "ま", "ます", "ますｋ", "ますく"):
        keys.send("Input.imeSetComposition", {"text": text, "selectionStart": len(text), "selectionEnd": len(text)})
    tab.wait_for_timeout(700)
    assert tab.locator("#search-query").input_value() == "ますく"
    assert tab.locator("#search-status").inner_text() == ""
    assert urlsplit(tab.url).query == ""

    keys.send("Input.insertText", {"text": "マスク"})
    answered(tab, "「マスク」を含む")
    assert tab.locator("#search-results h2").first.inner_text() == "用語集"


def test_typing_replaces_the_address_and_the_results(hand):
    tab = hand("search")
    before = tab.evaluate("history.length")
    ask(tab, "RoPE")
    assert urlsplit(tab.url).query == "q=RoPE"
    ask(tab, "ALiBi")
    assert urlsplit(tab.url).query == "q=ALiBi"
    assert tab.locator("#search-results a", has_text="ALiBi").count()
    tab.locator("#search-query").fill("")
    tab.locator("#search-tips").wait_for()
    assert tab.locator("#search-results li").count() == 0
    assert tab.locator("#search-status").inner_text() == ""
    assert urlsplit(tab.url).query == ""
    assert tab.evaluate("history.length") == before


def test_the_answer_says_how_much_was_found(hand):
    tab = hand("search")
    assert tab.locator("#search-status").get_attribute("role") == "status"
    ask(tab, "重み付き検索")
    assert re.fullmatch(
        r"「重み付き検索」を含む\d+ページと、一部を含む\d+ページを、近い順に並べます。",
        tab.locator("#search-status").inner_text(),
    )
    ask(tab, "コーザルマスク")
    assert "「コーザルマスク」か「causal mask」を含む" in tab.locator("#search-status").inner_text()
    ask(tab, "RoPE 豆腐")
    assert "「RoPE 豆腐」を全部含むページはありません。" in tab.locator("#search-status").inner_text()


def test_nothing_found_says_what_to_try(hand):
    tab = hand("search")
    ask(tab, "zzzz")
    assert tab.locator("#search-status").inner_text() == "「zzzz」は見つかりませんでした。"
    tips = tab.locator("#search-tips")
    assert tips.is_visible()
    assert all(word in tips.inner_text() for word in ("短い言葉", "別の書き方", "ページ内検索"))
    links = {link.get_attribute("href") for link in tips.locator("a").all()}
    assert {"glossary.html", "genindex.html", "faq.html", "index.html"} == links
    ask(tab, "RoPE")
    assert not tips.is_visible()


@pytest.mark.parametrize("query", ["両方向", "全員"])
def test_every_extract_has_what_was_looked_for(hand, query):
    """Pagefind also finds sections by words that look alike."""
    tab = hand("search")
    ask(tab, query)
    assert tab.locator("#search-results h2").count() > 0
    assert tab.locator("#search-results p:not(:has(mark))").all_inner_texts() == []


def test_text_of_pages_is_shown_as_text(hand):
    """An extract has what the page says, also its signs, and no markup of its own but the marks."""
    tab = hand("search")
    ask(tab, "np.where")
    names = tab.locator("#search-results p *").evaluate_all("tags => [...new Set(tags.map((tag) => tag.localName))]")
    assert names == ["mark"]
    assert "&lt;" not in tab.locator("#search-results").inner_text()


@pytest.mark.parametrize("scripts", ["none", "file"])
def test_without_search_the_page_says_what_to_do(browser, base_url, site, scripts):
    """Without JavaScript, and opened as a file, where browsers refuse modules."""
    context = browser.new_context(java_script_enabled=scripts == "file", locale="ja")
    tab = context.new_page()
    tab.goto(f"{site.as_uri()}/search.html?q=x" if scripts == "file" else f"{base_url}search.html?q=x")
    status = tab.locator("#search-status")
    status.wait_for()
    tab.wait_for_timeout(1_000)

    assert status.is_visible()
    assert "検索には、JavaScriptと" in status.inner_text()
    assert tab.locator("#search-tips").is_visible()
    assert not tab.locator("#search-form").is_visible()
    context.close()


def test_a_lost_index_is_said_and_asked_for_again(hand):
    tab = hand("search")
    tab.route("**/titles.json", lambda route: route.abort())
    tab.locator("#search-query").fill("RoPE")
    lost = "() => document.getElementById('search-status').textContent.startsWith('検索の索引を読めません')"
    tab.wait_for_function(lost)
    assert tab.locator("#search-tips").is_visible()
    tab.unroute("**/titles.json")
    tab.get_by_role("button", name="検索", exact=True).click()
    answered(tab, "「RoPE」を含む")


@pytest.mark.parametrize("width", [1280, 375])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_results_are_accessible(hand, theme, width):
    tab = hand("search", color_scheme=theme, viewport={"width": width, "height": 800})
    for query in ("重み付き検索", "zzzz"):
        ask(tab, query)
        found = Axe().run(tab, context="article").response["violations"]
        assert [(rule["id"], rule["nodes"][0]["html"]) for rule in found] == []
        assert tab.evaluate(WIDTH) <= width
    ask(tab, "重み付き検索")
    sizes = tab.locator("#search-form :is(input, button)").evaluate_all(
        "all => all.map((e) => [e.getBoundingClientRect().height, parseFloat(getComputedStyle(e).fontSize)])"
    )
    assert [size for size in sizes if size[0] < 44 or size[1] < 16] == []


def test_a_strict_policy_allows_it(hand, site):
    """Scripts of the site, furo's one inline script, and WebAssembly; no code made of text."""
    page = (site / "search.html").read_text(encoding="utf-8")
    [inline] = re.findall(r"<script>(.*?)</script>", page, re.S)
    digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'self' 'sha256-{digest}' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'"
    )
    tab = hand("search")
    said = []
    tab.on("console", lambda message: said.append(message.text))
    tab.route("**/search.html", lambda route: route.fulfill(body=page, headers={"Content-Security-Policy": policy}))
    tab.reload()
    ask(tab, "RoPE")
    assert tab.locator("#search-results h2").count()
    assert said == []


def test_a_first_search_fetches_no_more_than_it_must(hand, site):
    """Bytes with gzip, as most servers send them; the index and the texts are compressed files."""
    tab = hand("search")
    asked = []
    tab.on("request", lambda request: asked.append(urlsplit(request.url).path.removeprefix("/book/")))
    ask(tab, "なぜ√d_kで割る")
    sizes = {name: len(gzip.compress((site / name).read_bytes(), 6)) for name in asked}
    assert "pagefind/titles.json" in sizes
    assert sum(sizes.values()) < BUDGET


def test_no_page_loads_the_search_of_sphinx(soup, site):
    """Nor is it there; and of Pagefind only what the search loads."""
    gone = ("searchindex", "searchtools", "language_data", "translations", "doctools", "sphinx_highlight")
    for page in [*WRITTEN, "genindex", "search"]:
        scripts = {urlsplit(tag["src"]).path.rpartition("/")[2] for tag in soup(page).find_all("script", src=True)}
        assert not scripts & {f"{name}.js" for name in gone}
        assert ("search.js" in scripts) == (page == "search")
    assert [path for name in gone for path in site.rglob(f"{name}*")] == []
    assert sorted(path.name for path in site.glob("pagefind/pagefind*.js")) == ["pagefind-worker.js", "pagefind.js"]
    assert list(site.glob("pagefind/*ui*")) == []
