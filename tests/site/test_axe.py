"""axe-core on every page, folds opened, in two themes and two widths: every rule, also those that are off by default."""

import functools
from itertools import product
from pathlib import Path

import axe_playwright_python
import pytest
from test_html import PAGES

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
START = """
() => {
  const rules = Object.fromEntries(axe.getRules().map(({ ruleId }) => [ruleId, { enabled: true }]));
  window.found = axe.run(document, { rules, resultTypes: ["violations"] });
}
"""
COLLECT = """
async () => (await window.found).violations.flatMap(({ id, nodes }) =>
  nodes.map(({ html, failureSummary }) => [id, html, failureSummary]))
"""
OPEN = "document.querySelectorAll('details').forEach((details) => (details.open = true))"
STATES = list(product(["light", "dark"], [1280, 375]))

every_state = pytest.mark.parametrize(("theme", "width"), STATES)


@pytest.fixture(scope="module")
def tabs(browser):
    """One tab for each theme and width, where nothing fades: axe sees final colours."""
    return {
        (theme, width): browser.new_page(
            color_scheme=theme, viewport={"width": width, "height": 800}, locale="ja", reduced_motion="reduce"
        )
        for theme, width in STATES
    }


def start(tab):
    tab.evaluate(AXE)
    tab.evaluate(START)


@pytest.fixture(scope="module")
def faults(tabs, base_url):
    """faults("masks"): what axe finds in each state of the page. The tabs work at the same time."""

    @functools.cache
    def of(page):
        for tab in tabs.values():
            tab.goto(f"{base_url}{page}.html")
            tab.evaluate(OPEN)
            start(tab)
        return {state: tab.evaluate(COLLECT) for state, tab in tabs.items()}

    return of


@every_state
@pytest.mark.parametrize("page", PAGES)
def test_page(faults, page, theme, width):
    assert faults(page)[theme, width] == []


@pytest.mark.parametrize("button", [".nav-overlay-icon", ".toc-header-icon"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_open_drawer(tabs, base_url, theme, button):
    tab = tabs[theme, 375]
    tab.goto(f"{base_url}masks.html")
    tab.locator(button).click()
    start(tab)
    assert tab.evaluate(COLLECT) == []


def test_axe_finds_faults(tabs, base_url):
    """Rules of each kind: on by default, best practice, experimental, and AAA, which is off by default."""
    tab = tabs["light", 1280]
    tab.goto(f"{base_url}about.html")
    tab.locator("article").evaluate("""(article) => article.insertAdjacentHTML("beforeend", `
      <img src="_static/favicon.svg"> <h6>見出し</h6> <p style="color: #707070">薄い文字</p>
      <p tabindex="0">ボタンではない文</p>`)
    """)
    start(tab)
    found = {rule for rule, *_ in tab.evaluate(COLLECT)}
    assert found == {"image-alt", "heading-order", "color-contrast-enhanced", "focus-order-semantics"}
