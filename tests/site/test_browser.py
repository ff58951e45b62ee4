"""Every page in a real browser: two themes, two widths, one navigation for each; then what a reader does by hand."""

import functools
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from conftest import WIDTH

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = [*sorted(path.stem for path in DOCS.glob("*.md")), "genindex", "search", "404"]
DIAGRAMS = ["weighted-lookup", "projections", "masks"]
THEMES, WIDTHS = ["light", "dark"], [1280, 375]

# What the tests ask of a page, measured in one go once its fonts are there.
MEASURE = r"""
async () => {
  await document.fonts.ready;
  const style = (e) => getComputedStyle(e);
  const luminance = (color) => {
    const parts = color.match(/[\d.]+/g).slice(0, 3).map((x) => x / 255);
    const [r, g, b] = parts.map((x) => (x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const texts = [...document.querySelectorAll("svg.diagram text")].map((text) => {
    const box = text.getBoundingClientRect();
    const x = box.x + box.width / 2, y = box.y + box.height / 2;
    const behind = [...text.ownerSVGElement.querySelectorAll("rect")].filter((rect) => {
      const r = rect.getBoundingClientRect();
      return r.left <= x && x <= r.right && r.top <= y && y <= r.bottom;
    });
    const fill = behind.length ? style(behind.at(-1)).fill : style(document.body).backgroundColor;
    const card = text.ownerSVGElement.getBoundingClientRect();
    return {
      text: text.textContent,
      size: text.getScreenCTM().a * parseFloat(style(text).fontSize),
      height: box.height,
      contrast: contrast(style(text).fill, fill),
      inside: box.left >= card.left - 1 && box.right <= card.right + 1,
      boxed: behind.length > 0,
    };
  });
  return {
    texts,
    images: [...document.images].map((i) => ({
      loaded: i.naturalWidth > 0, left: i.getBoundingClientRect().left, right: i.getBoundingClientRect().right,
    })),
    maths: [...document.querySelectorAll("math")].map((m) => style(m).fontFamily),
    font: [...document.fonts].filter((f) => f.family.includes("Book Math")).map((f) => f.status),
    background: luminance(style(document.body).backgroundColor),
  };
}
"""

every_page = pytest.mark.parametrize("page", PAGES)
every_theme = pytest.mark.parametrize("theme", THEMES)
every_width = pytest.mark.parametrize("width", WIDTHS)


@pytest.fixture(scope="session")
def tab(browser):
    """tab("dark", 375): one open tab for each theme and width, with what it asked for and complained of."""

    @functools.cache
    def opened(theme, width):
        context = browser.new_context(color_scheme=theme, viewport={"width": width, "height": 800}, locale="ja")
        context.set_default_timeout(10_000)
        tab = context.new_page()
        tab.log = {"requests": [], "errors": []}
        tab.on("request", lambda request: tab.log["requests"].append(request.url))
        tab.on("requestfailed", lambda request: tab.log["errors"].append(request.url))
        tab.on("pageerror", lambda error: tab.log["errors"].append(str(error)))
        tab.on("console", lambda m: tab.log["errors"].append(f"{m.type}: {m.text} {m.location['url']}"))
        return tab

    return opened


@pytest.fixture(scope="session")
def visit(tab, base_url):
    """visit("masks", "dark", 375): the facts of the page there; the browser goes there once."""

    @functools.cache
    def visited(page, theme, width):
        there = tab(theme, width)
        there.log = {"requests": [], "errors": []}
        there.goto(f"{base_url}{page}.html")
        return there.evaluate(MEASURE) | {"width": there.evaluate(WIDTH)} | there.log

    return visited


@every_width
@every_theme
@every_page
def test_console_is_silent_and_no_other_host_is_asked(visit, base_url, page, theme, width):
    facts = visit(page, theme, width)
    assert facts["errors"] == []
    assert facts["requests"]
    hosts = {urlsplit(url).netloc for url in facts["requests"] if not url.startswith("data:")}
    assert hosts == {urlsplit(base_url).netloc}


@every_width
@every_theme
@every_page
def test_page_fits_the_window(visit, page, theme, width):
    facts = visit(page, theme, width)
    assert facts["width"] <= width
    assert all(image["loaded"] for image in facts["images"])
    assert [i for i in facts["images"] if i["left"] < 0 or i["right"] > width] == []


@every_page
def test_page_fits_a_screen_magnified_fourfold(tab, base_url, page):
    """WCAG 1.4.10: 320 px, where only code, formulas and tables scroll, each in its box."""
    there = tab("light", 320)
    there.goto(f"{base_url}{page}.html")
    assert there.evaluate(WIDTH) <= 320


@every_theme
@every_page
def test_theme_follows_the_system(visit, page, theme):
    assert (visit(page, theme, 1280)["background"] > 0.5) == (theme == "light")


@every_width
@every_theme
@pytest.mark.parametrize("page", DIAGRAMS)
def test_diagrams_are_legible(visit, page, theme, width):
    """Letters of at least 11 px, inside of their diagram, with a contrast of 4.5 to what is behind them."""
    texts = visit(page, theme, width)["texts"]
    assert any(text["boxed"] for text in texts)
    assert [t for t in texts if t["size"] < 11 or t["height"] < 11] == []
    assert [t for t in texts if t["contrast"] < 4.5] == []
    assert [t for t in texts if not t["inside"]] == []


@every_page
def test_formulas_use_the_font_of_the_book(visit, page):
    facts = visit(page, "light", 1280)
    assert facts["maths"] or page != "scaling"
    assert all(family.startswith('"Book Math"') for family in facts["maths"])
    assert facts["font"] == ["loaded" if facts["maths"] else "unloaded"]


@pytest.mark.parametrize("java_script", [True, False])
@pytest.mark.parametrize("page", ["masks", "summary"])
def test_details_open_by_click_and_by_keyboard(hand, page, java_script):
    tab = hand(page, java_script_enabled=java_script)
    for details in tab.locator("article details").all():
        summary = details.locator("summary")
        inside = details.locator(":scope > :not(summary)").first

        assert not inside.is_visible()
        summary.click()
        assert inside.is_visible()
        summary.press("Enter")
        assert not inside.is_visible()
        summary.press("Enter")
        assert inside.is_visible()


@every_theme
def test_theme_button(hand, theme):
    """The button goes through all themes; a diagram has the same colours in the chosen one as in that of the system."""
    tab = hand("masks", color_scheme=theme)
    state = "[document.body.dataset.theme, getComputedStyle(document.querySelector('svg.diagram text')).fill]"
    seen = [tab.evaluate(state)]
    for _ in range(3):
        tab.locator(".theme-toggle-content .theme-toggle").click()
        seen.append(tab.evaluate(state))

    colours = dict(seen[:3])
    assert seen[0] == seen[3]
    assert colours.keys() == {"auto", "light", "dark"}
    assert colours["auto"] == colours[theme]
    assert colours["light"] != colours["dark"]
