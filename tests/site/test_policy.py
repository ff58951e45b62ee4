"""The policy in the head of every page: what it says, that the page obeys it, and that it stops what it should."""

import base64
import hashlib

import pytest
from test_html import PAGES

every_page = pytest.mark.parametrize("page", PAGES)


def policy(tree):
    """Return {"script-src": ["'self'", …], …}."""
    (meta,) = tree.select('head > meta[http-equiv="Content-Security-Policy"]')
    return {name: sources for name, *sources in map(str.split, meta["content"].split(";"))}


@every_page
def test_policy_stands_before_what_it_governs(soup, page):
    tree = soup(page)
    names = [tag.get("http-equiv", tag.name) for tag in tree.head.find_all(True)]
    assert {*names[: names.index("Content-Security-Policy")]} == {"meta"}


@every_page
def test_no_other_host_and_no_text_that_becomes_code(soup, page):
    words = policy(soup(page))
    assert words["default-src"] == ["'none'"]
    hashes = [word for word in words["script-src"] if word.startswith("'sha256-")]
    assert words["script-src"] == ["'self'", "'wasm-unsafe-eval'", *hashes]
    assert {word for sources in words.values() for word in sources} - {*hashes} == {
        "'none'",
        "'self'",
        "'unsafe-inline'",  # styles
        "'wasm-unsafe-eval'",
        "data:",  # images
    }
    assert [name for name, sources in words.items() if "'unsafe-inline'" in sources] == ["style-src"]
    assert (words["base-uri"], words["form-action"]) == (["'none'"], ["'self'"])  # default-src is not for them
    assert [name for name, sources in words.items() if "data:" in sources] == ["img-src"]


@every_page
def test_inline_scripts_are_those_of_the_policy(soup, page):
    tree = soup(page)
    inline = [script.string for script in tree.find_all("script", src=False)]
    hashes = [f"'sha256-{base64.b64encode(hashlib.sha256(x.encode()).digest()).decode()}'" for x in inline]
    assert len(inline) == 1
    assert hashes == policy(tree)["script-src"][2:]


@every_page
def test_no_code_in_attributes(soup, page):
    attributes = [(name, str(value)) for tag in soup(page).find_all(True) for name, value in tag.attrs.items()]
    assert [a for a in attributes if a[0].startswith("on") or a[1].strip().lower().startswith("javascript:")] == []


@every_page
def test_one_viewport(soup, page):
    assert len(soup(page).select('meta[name="viewport"]')) == 1


def test_what_slips_in_does_not_run(hand, base_url):
    """Inline code, text that becomes code, another host's image and request, a frame, a base: all are refused."""
    tab, answered, refused = hand("about"), [], []
    slip = """
      <script>document.title = "script"</script>
      <img src="lost.png" alt="" onerror="document.title = 'handler'">
      <script src="slip.js"></script>
      <img src="https://example.org/lost.png" alt="">
      <iframe src="about.html"></iframe>
      <base href="https://example.org/">
    """
    code = "fetch('https://example.org/lost.json'); new Function('document.title = 1')();"

    def slipped(route):
        answer = route.fetch()
        assert answer.text().count("</article>") == 1
        route.fulfill(response=answer, body=answer.text().replace("</article>", f"{slip}</article>"))

    tab.route("**/masks.html", slipped)
    tab.route("**/slip.js", lambda route: route.fulfill(body=code, content_type="text/javascript"))
    tab.route("https://example.org/**", lambda route: route.fulfill(body=""))  # would answer, were it asked
    tab.on("response", lambda response: answered.append(response.url))
    tab.on("console", lambda message: refused.append(message.text))
    tab.goto(f"{base_url}masks.html", wait_until="networkidle")

    assert tab.title() not in ("script", "handler", "1")
    assert tab.evaluate("document.baseURI") == f"{base_url}masks.html"
    assert f"{base_url}slip.js" in answered
    assert [url for url in answered if not url.startswith((base_url, "data:"))] == []
    for broken in ("script-src", "unsafe-eval", "img-src", "connect-src", "default-src", "base-uri"):
        assert any(broken in text for text in refused), refused


@pytest.mark.parametrize("java_script", [True, False])
def test_page_opens_from_disk(browser, site, java_script):
    """As README says: with its style, its figures and the font of its formulas; and the theme changes."""
    with browser.new_context(java_script_enabled=java_script) as context:
        tab, said = context.new_page(), []
        tab.on("console", lambda message: said.append(message.text))
        tab.goto((site / "scaling.html").as_uri())
        assert tab.evaluate("document.fonts.ready.then(() => [...document.fonts].map((font) => font.status))") == [
            "loaded"
        ]
        assert tab.evaluate("getComputedStyle(document.body).lineBreak") == "strict"
        widths = tab.evaluate("[...document.images].map((image) => image.naturalWidth)")
        assert widths
        assert all(widths)
        # browsers load no module from disk: what a module would add is not there, and nothing else is missing
        assert [text for text in said if "Access to script" not in text and "ERR_FAILED" not in text] == []
        button = tab.locator(".theme-toggle-content .theme-toggle")
        assert button.is_visible() == java_script
        if java_script:
            button.click()
            assert tab.evaluate("document.body.dataset.theme") == "dark"
