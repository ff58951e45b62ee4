"""Pictures and letters on the way to the reader: nothing moves when they come late, and they are sharp."""

import pytest
from test_html import PAGES

WITH_PLOTS = ["scaling", "positions", "explanation"]
SHARP = 2  # pixels of the picture for each of the page
SHIFT = 0.01  # of the window; Google calls up to 0.1 good

WATCH = """
window.shifts = [];
new PerformanceObserver((list) => shifts.push(...list.getEntries())).observe({ type: "layout-shift", buffered: true });
"""
OPEN = "document.querySelectorAll('details').forEach((details) => (details.open = true))"
SETTLED = (
    "async () => { await document.fonts.ready; for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame); }"
)


@pytest.mark.parametrize("width", [1280, 375])
@pytest.mark.parametrize("page", WITH_PLOTS)
def test_nothing_moves_when_a_picture_comes_late(hand, base_url, page, width):
    tab, waiting = hand("about", viewport={"width": width, "height": 800}), []
    tab.add_init_script(WATCH)
    tab.route("**/_images/**", lambda route: waiting.append(route))
    tab.goto(f"{base_url}{page}.html", wait_until="domcontentloaded")
    image = tab.locator("article img").first
    image.scroll_into_view_if_needed()
    tab.evaluate(SETTLED)
    assert waiting
    assert image.evaluate("(image) => image.naturalWidth") == 0

    for route in waiting:
        route.continue_()
    tab.wait_for_function("() => [...document.images].every((image) => image.naturalWidth)")
    tab.evaluate(SETTLED)
    shifts = tab.evaluate("shifts.map(({ value, sources }) => [value, sources.map(({ node }) => node?.textContent)])")
    assert sum(value for value, _ in shifts) < SHIFT, shifts


@pytest.mark.parametrize("page", PAGES)
def test_pictures_are_sharp_and_have_a_size(hand, soup, page):
    """A phone has two pixels and more where CSS has one."""
    if not soup(page).find("img"):
        return
    tab = hand(page)
    tab.wait_for_function("() => [...document.images].every((image) => image.naturalWidth)")
    images = tab.locator("img").evaluate_all("""(images) => images.map((image) => {
      const { naturalWidth, naturalHeight, src } = image;
      const said = [image.getAttribute("width"), image.getAttribute("height")].map(Number);
      const [inner] = getComputedStyle(image).width.match(/[\\d.]+/g).map(Number);
      return { src, said, real: [naturalWidth, naturalHeight], density: naturalWidth / inner };
    })""")
    for image in images:
        assert image["said"] == [size // SHARP for size in image["real"]], image
        assert image["density"] >= SHARP, image


@pytest.mark.parametrize("page", PAGES)
def test_letters_of_formulas_are_those_of_the_font(hand, soup, page):
    """A letter that the subset lacks would come from a font of the machine, or not at all."""
    if not soup(page).find("math"):
        return
    tab = hand(page)
    tab.evaluate(OPEN)
    tab.evaluate(SETTLED)
    keys = tab.context.new_cdp_session(tab)
    keys.send("DOM.enable")
    keys.send("CSS.enable")
    root = keys.send("DOM.getDocument")["root"]["nodeId"]
    seen, strange = set(), []
    for node in keys.send("DOM.querySelectorAll", {"nodeId": root, "selector": "article :is(mi, mn, mo)"})["nodeIds"]:
        html = keys.send("DOM.getOuterHTML", {"nodeId": node})["outerHTML"]
        if html not in seen:
            seen.add(html)
            fonts = keys.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]
            strange += [(html, font["familyName"]) for font in fonts if not font["isCustomFont"]]
    assert seen
    assert strange == []
