"""The pages that a reader comes back to: the sheet on paper, the table of symptoms, the exercises, the first questions."""

import re
from urllib.parse import urldefrag

import pytest

from attention_book import exercises


def print_of(browser, address, theme):
    """The sheet as Chromium prints it, and what its print layout hides and cuts off."""
    context = browser.new_context(
        color_scheme=theme, viewport={"width": 718, "height": 1047}, locale="ja"
    )  # A4 - 10 mm
    tab = context.new_page()
    tab.goto(address)
    tab.evaluate("document.fonts.ready")
    pdf = tab.pdf(format="A4")
    tab.emulate_media(media="print")
    facts = tab.evaluate(
        """() => {
          const shown = (e) => e.checkVisibility() && e.getBoundingClientRect().right > 0;
          const paper = document.documentElement;
          const size = (e) => parseFloat(getComputedStyle(e).fontSize) * 0.75;
          return {
            chrome: [...document.querySelectorAll("header, footer, aside, .skip-to-content")].filter(shown).length,
            wide: paper.scrollWidth > 718,
            cut: [...document.querySelectorAll("#sheet .table-wrapper, #sheet pre")]
              .filter((e) => e.scrollWidth > e.clientWidth).length,
            small: [...document.querySelectorAll("#sheet :is(p, li, td, pre)")].filter((e) => size(e) < 6.9).length,
            headings: [...document.querySelectorAll("#sheet h2")].filter((e) => e.checkVisibility()).length,
            background: getComputedStyle(document.body).backgroundColor,
          };
        }"""
    )
    context.close()
    return pdf, facts


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_sheet_is_one_side_of_a4(browser, base_url, theme):
    """One page, with nothing but the sheet on it, nothing cut off, and letters of at least 7 points."""
    pdf, facts = print_of(browser, f"{base_url}sheet.html", theme)
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == 1
    width, height = map(float, re.search(rb"/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)\]", pdf).groups())
    assert (round(width / 72 * 25.4), round(height / 72 * 25.4)) == (210, 297)
    assert facts == {
        "chrome": 0,
        "wide": False,
        "cut": 0,
        "small": 0,
        "headings": 5,
        "background": "rgb(255, 255, 255)",
    }


def test_other_pages_print_on_more_sides(browser, base_url):
    """So the counting of pages can fail."""
    pdf, _ = print_of(browser, f"{base_url}masks.html", "light")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) > 3


def rows(section):
    return [tr.find_all("td") for tr in section.select("table tr") if tr.td]


def test_symptoms_lead_to_a_place(soup):
    """Each row has a symptom, a cause and a link to a heading or a function of another page; no symptom twice."""
    section = soup("summary").find(id="summary-symptoms")
    found = rows(section)
    assert len(found) > 30
    assert len({row[0].get_text() for row in found}) == len(found)
    lost = []
    for symptom, cause, mend in found:
        targets = [urldefrag(link["href"]) for link in mend.find_all("a", class_="internal")]
        anchored = [page for page, anchor in targets if page and anchor not in ("", page.removesuffix(".html"))]
        if len(anchored) != 1 or not cause.get_text():
            lost.append(symptom.get_text())
    assert lost == []


def test_every_check_is_in_the_list_of_exercises(soup):
    listed = {code.get_text() for code in soup("summary").select("td:last-child code")}
    assert {name for name in exercises.__all__ if name.startswith("check_")} <= listed


def test_the_list_leads_to_every_exercise(soup):
    """Each row links the heading of its exercise, and no heading that says 練習 is left out."""
    table = next(t for t in soup("summary").select("table") if "調べる関数" in t.thead.get_text())
    listed = set()
    for page, exercise, _ in rows(table.parent):
        (home,), (link,) = page.find_all("a"), exercise.find_all("a")
        target, anchor = urldefrag(link["href"])
        assert target == urldefrag(home["href"])[0]
        listed.add((target, soup(target.removesuffix(".html")).find(id=anchor).find(["h2", "h3"]).get_text()))
    pages = {target for target, _ in listed}
    headings = {(page, h.get_text()) for page in pages for h in soup(page.removesuffix(".html")).article.find_all("h2")}
    assert listed == {(page, text) for page, text in headings if text.startswith("練習")}


def test_six_questions_before_reading(soup):
    """Folded, and each leads to another page of the map."""
    tree = soup("index")
    (section,) = [h.parent for h in tree.find_all("h2") if h.get_text().startswith("読む前の確認")]
    questions = section.find_all("details")
    assert len(questions) == 6
    assert not any(question.has_attr("open") for question in questions)
    pages = [[urldefrag(a["href"])[0] for a in question.find_all("a", class_="internal")] for question in questions]
    assert all(len(links) == 1 for links in pages)
    assert len({links[0] for links in pages}) == 6
    (table,) = tree.select("table")
    assert {links[0] for links in pages} <= {urldefrag(a["href"])[0] for a in table.find_all("a")}


def test_changes_are_dated_newest_first(soup):
    dates = [tuple(map(int, re.findall(r"\d+", h.get_text()))) for h in soup("changes").article.find_all("h2")]
    assert dates == sorted(set(dates), reverse=True)
    assert all(len(date) == 3 for date in dates)
