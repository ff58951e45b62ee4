"""Titles that stand in sentences: the reader sees where they begin and end."""

import pytest

PAGES = ["index", "why-attention", "cost", "capstone", "summary"]


def title(tree):
    return tree.h1.get_text().removesuffix("¶").split(". ", 1)[-1]


@pytest.mark.parametrize("page", PAGES)
def test_a_title_in_a_sentence_is_quoted(soup, page):
    """Between 「」 or（）, unless nothing stands beside it."""
    bare, seen = [], 0
    for words in soup(page).article.select(":is(p, li, td) > a.internal > .std-ref"):
        link = words.parent
        target = soup(link["href"].partition("#")[0].removesuffix(".html") or page)
        if words.get_text() == title(target.article):
            seen += 1
            before, after = (str(s or "") for s in (link.previous_sibling, link.next_sibling))
            if before[-1:] + after[:1] not in ("", "「」", "（）"):
                bare.append(link.parent.get_text())
    assert bare == []
    assert seen
