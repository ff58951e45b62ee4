"""Every page on paper: only the page, all of it, dark on white, and no wider than A4."""

import pytest

# A4 less the margins of book.css, in CSS pixels; the sheet has its own
WIDTH, SHEET = 672, 718
MEASURE = """() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const name = (e) => `${e.tagName} ${e.className} ${e.textContent.trim().slice(0, 30)}`;
  const shown = (e) => e.checkVisibility() && e.getBoundingClientRect().width > 1;
  const CHROME = "header, footer, aside, nav, .skip-to-content, .back-to-top, .headerlink, .run-tools, .run-note, .controls";
  // 0 is black, 1 white; "none" and what has no colour of its own is as its surroundings
  const light = (colour) => {
    const [r, g, b, a = 1] = colour.match(/[\\d.]+/g)?.map(Number) ?? [0, 0, 0, 0];
    return a < 0.5 ? null : (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255;
  };
  const texts = all("article *").filter((e) => shown(e) && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()));
  const ink = (e) => light(e.closest("svg") ? getComputedStyle(e).fill : getComputedStyle(e).color);
  const scrolls = (e) => e.matches("pre, .table-wrapper, .math-wrapper, td, th") && e.scrollWidth > e.clientWidth + 1;
  return {
    texts: texts.length,
    chrome: all(CHROME).concat(all("button").filter((e) => !e.closest("figure"))).filter(shown).map(name),
    folded: all("details").flatMap((e) => [...e.children].slice(1)).filter((e) => !shown(e) && !e.matches(CHROME)).map(name),
    wide: all("article *").filter((e) => shown(e) && (e.getBoundingClientRect().right > innerWidth + 1 || scrolls(e)))
      .filter((e) => !e.closest("math, svg *")).map(name),
    pale: texts.filter((e) => ink(e) === null || ink(e) > 0.6).map(name),
    // the shade of a weight is a number, and light enough for black letters
    dark: all("html, body, article, article *").filter((e) => shown(e) && !e.closest("svg, math, [style*='--shade']"))
      .filter((e) => (light(getComputedStyle(e).backgroundColor) ?? 1) < 0.8).map(name),
    frames: all("div.cell_input:not(details *)").map((e) => getComputedStyle(e)).map((s) => `${s.backgroundColor} ${s.borderTopColor}`)
      .filter((colours) => colours !== "rgb(247, 247, 247) rgb(204, 204, 204)"), // MyST-NB's, where it is light
    boxes: all("pre, .highlight, .table-wrapper, .math-wrapper, div.cell_output")
      .filter((e) => getComputedStyle(e).overflowX !== "visible").map(name),
    scheme: [document.documentElement, document.body].map((e) => getComputedStyle(e).colorScheme),
    paper: [document.documentElement, document.body].map((e) => getComputedStyle(e).backgroundColor),
  };
}"""


@pytest.mark.parametrize("theme", ["auto", "dark"])  # the reader's machine is dark; the reader chose dark
def test_every_page_prints_whole_and_light(browser, site, base_url, theme):
    context = browser.new_context(color_scheme="dark", locale="ja")
    context.add_init_script(f"localStorage.setItem('theme', '{theme}')")
    tab = context.new_page()
    found = {}
    for path in sorted(site.glob("*.html")):
        tab.set_viewport_size({"width": SHEET if path.stem == "sheet" else WIDTH, "height": 980})
        tab.goto(base_url + path.name)
        assert tab.evaluate("document.body.dataset.theme") == theme
        assert tab.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
        tab.emulate_media(media="print")
        facts = tab.evaluate(MEASURE)
        tab.emulate_media(media="screen")
        assert facts.pop("texts") or path.name == "search.html"
        assert set(facts.pop("paper")) == {"rgb(255, 255, 255)"}
        assert set(facts.pop("scheme")) == {"light"}  # of fields and other things that the browser draws
        found |= {f"{path.stem} {what}": names for what, names in facts.items() if names}
    context.close()
    assert found == {}
