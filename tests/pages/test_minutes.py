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
    assert list(MAP) == lessons, "docs/index.md の章の地図に、目次（toctree）の本編と同じページを、同じ順に書きます。"


@pytest.mark.parametrize("page", MAP)
def test_page_and_map_agree(page):
    """The page says it once, in its first paragraphs."""
    said = re.findall(r"^.*?(\d+)分ほどかかります。$", (DOCS / f"{page}.md").read_text("utf-8"), re.M)
    assert said == [MAP[page]], (
        f"docs/{page}.md に「{MAP[page]}分ほどかかります。」と、docs/index.md の章の地図と同じ分を1度だけ書きます。"
    )


@pytest.mark.parametrize("page", MAP)
def test_minutes_follow_from_the_length(page):
    text = (DOCS / f"{page}.md").read_text("utf-8")
    assert abs(minutes(text) - int(MAP[page])) <= MARGIN, (
        f"docs/{page}.md は、読むのに{minutes(text):.0f}分です。ページと、docs/index.md の章の地図の分を直します。"
    )


def test_minutes_of_a_sample():
    """800 letters and six cells: two minutes for each."""
    cell = "```{code-cell} ipython3\nx = 1\n```\n\n"
    assert minutes("あ い\n" * 400 + "\n" + cell * 6) == 4
