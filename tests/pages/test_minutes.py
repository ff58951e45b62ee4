"""The minutes that a page promises: the same on the page and in the map, and what its length asks for."""

import re
from pathlib import Path

import pytest
import rules

DOCS = Path(__file__).resolve().parents[2] / "docs"
LETTERS_A_MINUTE, CELLS_A_MINUTE, MARGIN = 400, 3, 3
MAP = dict(re.findall(r"^\| \{ref\}`([\w-]+)` \| .* \| (\d+) \|$", (DOCS / "index.md").read_text("utf-8"), re.M))


def minutes(text):
    """What a page takes: its letters at a reader's pace, and a look at each cell; exercises are not solved meanwhile."""
    letters = sum(len(re.sub(r"\s", "", item.text)) for item in rules.prose(text))
    return letters / LETTERS_A_MINUTE + len(rules.cells(text)) / CELLS_A_MINUTE


def test_the_map_holds_every_lesson():
    lessons = re.search(r":caption: 本編\n.*?\n\n(.*?)```", (DOCS / "index.md").read_text("utf-8"), re.S)[1].split()
    assert list(MAP) == lessons


@pytest.mark.parametrize("page", MAP)
def test_page_and_map_agree(page):
    """The page says it once, in its first paragraphs."""
    said = re.findall(r"^.*?(\d+)分ほどかかります。$", (DOCS / f"{page}.md").read_text("utf-8"), re.M)
    assert said == [MAP[page]]


@pytest.mark.parametrize("page", MAP)
def test_minutes_follow_from_the_length(page):
    text = (DOCS / f"{page}.md").read_text("utf-8")
    assert abs(minutes(text) - int(MAP[page])) <= MARGIN, f"{page}: {minutes(text):.0f}"


def test_minutes_of_a_sample():
    """800 letters and six cells: two minutes for each."""
    cell = "```{code-cell} ipython3\nx = 1\n```\n\n"
    assert minutes("あ い\n" * 400 + "\n" + cell * 6) == 4
