"""The page of questions: each is answered, briefly, and leads to the place in the book that shows it."""

import re
from urllib.parse import urldefrag


def questions(soup):
    """The section of each question."""
    return [heading.parent for heading in soup("faq").article.find_all("h3")]


def test_questions_are_questions_or_symptoms(soup):
    """One sentence each, and no two alike."""
    asked = [section.h3.get_text().removesuffix("¶") for section in questions(soup)]
    assert len(asked) > 30
    assert len(set(asked)) == len(asked)
    assert [text for text in asked if "。" in text] == []


def test_answers_are_short(soup):
    """One paragraph of one to three sentences."""
    answers = {s.h3.get_text(): [p.get_text() for p in s.find_all("p")] for s in questions(soup)}
    assert {
        question: answer
        for question, answer in answers.items()
        if len(answer) != 1 or not 1 <= len(re.findall("。", answer[0])) <= 3 or not answer[0].endswith("。")
    } == {}


def test_answers_lead_to_the_place(soup):
    """Each answer links a heading, a paragraph or a function of another page, not only the page as a whole."""
    lost = []
    for section in questions(soup):
        targets = [urldefrag(link["href"]) for link in section.p.find_all("a", class_="internal")]
        if not any(page and anchor not in ("", page.removesuffix(".html")) for page, anchor in targets):
            lost.append(section.h3.get_text())
    assert lost == []
