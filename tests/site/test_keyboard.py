"""The site without a mouse: where Tab stops and what one sees there, the skip link, the drawers, boxes that scroll."""

import itertools
import re
import unicodedata
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

# A page of each kind. What is added to a page (buttons, sliders, …) is toured, too.
PAGES = ["index", "masks", "capstone", "glossary", "genindex", "search"]
OPEN = "document.querySelectorAll('details').forEach((details) => (details.open = true))"
every_page = pytest.mark.parametrize("page", PAGES)
every_width = pytest.mark.parametrize("width", [1280, 375])

# What has the focus: where it is, whether it is seen there, and how it shows that it has the focus.
STOP = r"""
() => {
  const REGIONS = {
    skip: ".skip-to-content", header: ".mobile-header", site: ".sidebar-drawer", buttons: ".content-icon-container",
    top: ".back-to-top", text: "article", footer: "footer", toc: ".toc-drawer",
  };
  const parts = (color) => color.match(/[\d.]+/g).map(Number);
  const luminance = (color) => {
    const [r, g, b] = parts(color).map((x) => x / 255).map((x) => (x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    const color = getComputedStyle(element).backgroundColor;
    return (parts(color)[3] ?? 1) === 1 || !element.parentElement ? color : behind(element.parentElement);
  };
  const above = (element) => (element ? [element, ...above(element.parentElement)] : []);
  const contrast = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };

  const stop = document.activeElement;
  if (stop === document.body) return null;
  const box = [...stop.getClientRects()].find((rect) => rect.width) ?? stop.getBoundingClientRect();
  const [x, y] = [box.x + box.width / 2, Math.min(box.y + box.height / 2, innerHeight - 1)];
  const there = document.elementFromPoint(x, y);
  const { outlineStyle, outlineWidth, outlineColor, outlineOffset } = getComputedStyle(stop);
  const reach = parseFloat(outlineOffset) + parseFloat(outlineWidth);
  const cuts = (around) => {
    const inner = around.getBoundingClientRect();
    const cut = box.left - reach < inner.left - 1 || box.right + reach > inner.right + 1;
    return cut && getComputedStyle(around).overflowX !== "visible";
  };
  stop.dataset.stop ||= document.querySelectorAll("[data-stop]").length + 1;
  return {
    number: Number(stop.dataset.stop),
    html: stop.outerHTML.slice(0, 100),
    region: Object.keys(REGIONS).find((name) => stop.closest(REGIONS[name])),
    seen: stop.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && (stop.contains(there) || there.contains(stop)),
    width: outlineStyle === "none" ? 0 : parseFloat(outlineWidth),
    contrast: contrast(outlineColor, behind(stop.parentElement)),
    cut: above(stop.parentElement).some(cuts),
    scrolls: stop.scrollWidth > stop.clientWidth,
  };
}
"""
# Every element that can be operated and is shown, but for the options of one radio group.
OPERABLE = """
() => [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")]
  .filter((e) => e.checkVisibility({ visibilityProperty: true }) && e.type !== "hidden" && !e.disabled && e.tabIndex >= 0)
  .filter((e) => e.type !== "radio" || e.checked) // the others of its group are reached by the arrow keys
  .filter((e) => !e.dataset.stop).map((e) => e.outerHTML.slice(0, 100))
"""


def tour(tab, key="Tab"):
    """Press the key until the focus leaves the page, and return the stops."""
    stops = []
    while len(stops) < 1000:
        tab.keyboard.press(key)
        stop = tab.evaluate(STOP)
        if stop is None or (stops and stop["number"] == 1):
            return stops
        stops.append(stop)
    pytest.fail("Tabが、いつまでもページを出ません。")


@every_width
@every_page
def test_tour(hand, page, width):
    """Tab goes through the page in its order, misses nothing, and one sees where it is: forth and back."""
    tab = hand(page, viewport={"width": width, "height": 800}, reduced_motion="reduce")
    stops = tour(tab)

    regions = [region for region, _ in itertools.groupby(stop["region"] for stop in stops)]
    wide, narrow = ["skip", "site", "buttons", "text", "footer"], ["skip", "header", "text", "footer"]
    expected = [region for region in (wide if width == 1280 else narrow) if region in {s["region"] for s in stops}]
    assert regions == expected
    assert {"skip", "footer"} <= {*regions}
    assert tab.evaluate(OPERABLE) == []
    for stop in [*stops, *tour(tab, "Shift+Tab")]:
        assert stop["seen"], stop
        assert stop["width"] >= 2, stop
        assert stop["contrast"] >= 3, stop
        assert not stop["cut"], stop  # by the box around it, at its sides
        # what is no control of its own is a stop only where it scrolls; one control of a grid stands for all
        assert stop["scrolls"] or 'tabindex="0"' not in stop["html"] or stop["html"].startswith("<input"), stop


def focused(tab):
    return tab.evaluate("document.activeElement.className || document.activeElement.localName")


def press(tab, *keys):
    for key in keys:
        tab.keyboard.press(key)


@every_width
def test_skip_link(hand, width):
    """It comes first, shows itself, and moves the focus: the next stop is in the text."""
    tab = hand("masks", viewport={"width": width, "height": 800})
    press(tab, "Tab")
    link = tab.get_by_role("link", name="本文へ移動")
    assert focused(tab).startswith("skip-to-content")
    expect(link).to_be_in_viewport()

    press(tab, "Enter")
    assert focused(tab) == "article"
    press(tab, "Tab")
    assert tab.evaluate("document.activeElement.closest('article') !== null")


DRAWERS = [("サイトの目次を開閉する", ".sidebar-drawer"), ("このページの目次を開閉する", ".toc-drawer")]


@pytest.fixture
def phone(hand):
    return lambda page, **options: hand(
        page, viewport={"width": 375, "height": 700}, reduced_motion="reduce", **options
    )


def drawer_of(tab, name, selector):
    button, drawer = tab.get_by_role("button", name=name), tab.locator(selector)
    assert button.get_attribute("aria-controls") == drawer.get_attribute("id")
    return button, drawer


def is_open(button, drawer):
    """Both must say the same."""
    box, expanded = drawer.bounding_box(), button.get_attribute("aria-expanded")
    shown = drawer.is_visible() and box["x"] < 375 and box["x"] + box["width"] > 0
    assert expanded == ("true" if shown else "false")
    return shown


@pytest.mark.parametrize(("name", "selector"), DRAWERS)
def test_drawer_by_keyboard(phone, name, selector):
    """Enter opens it and goes into it, Escape comes back, leaving it shuts it."""
    tab = phone("masks")
    button, drawer = drawer_of(tab, name, selector)
    assert not is_open(button, drawer)

    for _ in range(2):
        button.press("Enter")
        assert is_open(button, drawer)
        press(tab, "Tab")
        assert drawer.evaluate("(drawer) => drawer.contains(document.activeElement)")
        press(tab, "Escape")
        assert not is_open(button, drawer)
        assert button.evaluate("(button) => button === document.activeElement")

    button.press("Space")
    assert is_open(button, drawer)
    tab.locator("article").focus()
    assert not is_open(button, drawer)


def test_link_of_the_toc_goes_there(phone):
    tab = phone("masks")
    button, drawer = drawer_of(tab, *DRAWERS[1])
    button.press("Enter")
    press(tab, "Tab", "Tab", "Enter")

    assert not is_open(button, drawer)
    heading = tab.locator(f"[id='{urlsplit(tab.url).fragment}'] > h2")
    top = heading.bounding_box()["y"]
    header = tab.locator(".mobile-header").bounding_box()
    assert 0 <= top - header["y"] - header["height"] < 60
    press(tab, "Tab")
    assert tab.evaluate("document.activeElement.closest('article') !== null")


@pytest.mark.parametrize(("name", "selector"), DRAWERS)
def test_drawer_by_finger(phone, name, selector):
    tab = phone("masks", has_touch=True)
    button, drawer = drawer_of(tab, name, selector)
    button.tap()
    assert is_open(button, drawer)
    tab.touchscreen.tap(*((360, 600) if selector == ".sidebar-drawer" else (15, 600)))  # beside it
    assert not is_open(button, drawer)


def test_drawers_without_java_script(phone):
    """The labels of furo still open them, and Tab brings them to where one sees them."""
    tab = phone("masks", java_script_enabled=False)
    link = tab.get_by_role("link", name="なぜAttentionが必要だったのか").first
    own = tab.locator(".toc-drawer a:visible").first
    assert own.bounding_box()["x"] >= 375
    own.focus()
    expect(own).to_be_in_viewport(ratio=1)
    assert link.bounding_box()["x"] < 0
    tab.locator("label.nav-overlay-icon").click()
    assert link.bounding_box()["x"] >= 0
    tab.locator(".sidebar-overlay").click(position={"x": 360, "y": 600})
    assert link.bounding_box()["x"] < 0
    link.focus()
    assert link.bounding_box()["x"] >= 0


def test_theme_by_keyboard(hand):
    tab = hand("masks", color_scheme="light")
    tab.get_by_role("button", name="明るい配色、暗い配色、自動を切り替える").press("Enter")
    assert tab.evaluate("document.body.dataset.theme") == "dark"


@pytest.mark.parametrize(
    ("page", "role", "name", "selector"),
    [
        ("capstone", "group", "コード", "pre"),
        ("capstone", "group", "コード", "details pre"),  # also what was folded away
        ("projections", "region", "数式", ".math-wrapper"),
        ("summary", "region", "表", ".table-wrapper"),
    ],
)
def test_boxes_scroll_by_keyboard(phone, page, role, name, selector):
    """What is wider than its box is a stop with a name, where the arrow keys scroll."""
    tab = phone(page)
    tab.set_viewport_size({"width": 280, "height": 700})  # as narrow as a watch, where all of them are wider
    tab.evaluate(OPEN)
    box = tab.get_by_role(role, name=re.compile(f"^{name}.*横に動かせます")).and_(tab.locator(selector)).first
    box.focus()
    press(tab, "ArrowRight")
    expect(box).not_to_have_js_property("scrollLeft", 0)


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_reduced_motion(browser, base_url, motion):
    """No transition, animation or smooth scrolling; without the wish there is one of each, so that it is seen here."""
    with browser.new_context(reduced_motion=motion, java_script_enabled=True) as context:
        tab, moving = context.new_page(), set()
        for page in ("capstone", "search"):
            tab.route("**/search.js*", lambda route: route.abort())  # it takes the animation away
            tab.goto(f"{base_url}{page}.html")
            moving |= {
                *tab.evaluate("""() => [...document.querySelectorAll("*")].flatMap((e) => {
              const { transitionDuration, animationName, scrollBehavior } = getComputedStyle(e);
              return [parseFloat(transitionDuration) > 0, animationName !== "none", scrollBehavior === "smooth"]
                .flatMap((moves, i) => (moves ? ["transition", "animation", "scroll"][i] : []));
            })""")
            }
    assert moving == (set() if motion == "reduce" else {"transition", "animation", "scroll"})


@pytest.mark.parametrize("page", ["scaling", "notation"])
def test_formulas_are_read(hand, page):
    """Every formula stands in the accessibility tree, with all of its letters."""
    tab = hand(page)
    tab.evaluate(OPEN)
    tree = tab.context.new_cdp_session(tab).send("Accessibility.getFullAXTree")["nodes"]
    nodes = {node["nodeId"]: node for node in tree}

    def below(node):
        for child in node["childIds"]:
            if child in nodes:
                yield nodes[child]
                yield from below(nodes[child])

    def letters(node):
        return "".join(part["name"]["value"] for part in below(node) if part["role"]["value"] == "StaticText")

    (article,) = [node for node in tree if node["role"]["value"] == "main"]
    read = [letters(node) for node in below(article) if node["role"]["value"] == "MathMLMath"]
    written = tab.locator("article math").all_text_contents()
    assert written
    assert [squeezed(text) for text in read] == [squeezed(text) for text in written]


def test_readings_are_read(hand):
    """A reading is in the accessibility tree, at its word."""
    tab = hand("masks")
    tree = tab.context.new_cdp_session(tab).send("Accessibility.getFullAXTree")["nodes"]
    read = [node["description"]["value"] for node in tree if node["role"]["value"] == "Ruby"]
    written = tab.locator("rt").all_text_contents()
    assert written
    assert read == written


def squeezed(text):
    """Italic letters have code points of their own in the tree."""
    return "".join(unicodedata.normalize("NFKC", text).split())
