"""What search engines, shared links and lost readers get: descriptions, addresses, the map of the site, the 404 page."""

import re
from xml.etree import ElementTree

import pytest
from test_html import JA, PAGES, WRITTEN

ADDRESS = "https://example.org/book/"
every_written_page = pytest.mark.parametrize("page", WRITTEN)


def metas(tree, attribute):
    return {tag[attribute]: tag["content"] for tag in tree.head.find_all("meta", attrs={attribute: True})}


@every_written_page
def test_description(soup, page):
    """One or more whole sentences in Japanese, of a length that is shown."""
    about = metas(soup(page), "name")["description"]
    assert 15 <= len(about) <= 120
    assert re.search(JA, about)
    assert about.endswith("。")
    assert "\\" not in about


def test_descriptions_differ(soup):
    about = [metas(soup(page), "name")["description"] for page in WRITTEN]
    assert len({*about}) == len(WRITTEN)


@every_written_page
def test_what_a_shared_link_shows(soup, page):
    tree = soup(page)
    shown = metas(tree, "property")
    assert shown["og:description"] == metas(tree, "name")["description"]
    assert shown["og:title"] == "".join(tree.h1.find_all(string=True, recursive=True)).removesuffix("¶") or tree.h1.math
    assert shown["og:url"] == f"{ADDRESS}{page}.html"
    assert not any(name.startswith("og:image") for name in shown)
    assert (shown["og:type"], shown["og:locale"]) == ("article", "ja_JP")
    assert shown["og:site_name"] == soup("index").h1.get_text().removesuffix("¶")


@pytest.mark.parametrize("page", [page for page in PAGES if page != "404"])
def test_canonical_address(soup, page):
    (link,) = soup(page).head.select('link[rel="canonical"]')
    assert link["href"] == f"{ADDRESS}{page}.html"


def test_map_of_the_site(site):
    tree = ElementTree.parse(site / "sitemap.xml").getroot()
    assert [entry.text for entry in tree.findall("{*}url/{*}loc")] == [f"{ADDRESS}{page}.html" for page in WRITTEN]


@pytest.mark.parametrize("address", ["lost.html", "deep/er/lost", "masks.html/"])
def test_lost_page_at_any_depth(hand, base_url, address):
    """It looks like the others, it works, and its links lead to the book."""
    tab, failed = hand("about"), []
    tab.on("response", lambda response: failed.append(response.url) if response.status >= 400 else None)
    answer = tab.goto(f"{base_url}{address}")
    assert answer.status == 404
    assert failed == [answer.url]
    assert tab.locator("h1").inner_text() == "ページが見つかりません"
    assert tab.evaluate("getComputedStyle(document.body).lineBreak") == "strict"
    tab.locator(".theme-toggle-content .theme-toggle").click()
    assert tab.evaluate("document.body.dataset.theme") == "dark"
    links = tab.locator("a:not([href^='#'])").evaluate_all("(links) => links.map((link) => link.href)")
    assert {link for link in links if not link.startswith(base_url)} == {"https://github.com/pradyunsg/furo"}

    tab.get_by_role("link", name="最初のページ").click()
    assert tab.url == f"{base_url}index.html"


def test_search_from_a_lost_page(hand, base_url):
    tab = hand("about")
    tab.goto(f"{base_url}deep/er/lost")
    box = tab.get_by_role("search").get_by_label("検索")
    box.fill("RoPE")
    box.press("Enter")
    tab.wait_for_url(f"{base_url}search.html?q=RoPE")


@pytest.mark.parametrize("page", PAGES)
def test_icon_of_the_tab(soup, page):
    (icon,) = soup(page).head.select('link[rel~="icon"]')
    assert icon["href"].partition("?")[0].endswith("_static/favicon.svg")


@pytest.mark.parametrize("page", ["404", "search"])
def test_pages_without_text_are_not_found_by_search_engines(soup, page):
    assert metas(soup(page), "name")["robots"] == "noindex"


def test_lost_page_has_no_address_of_its_own(soup):
    assert not soup("404").select('link[rel="canonical"]')
