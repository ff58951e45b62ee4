"""The tables that a figure starts from."""

import numpy as np
import pytest
from bs4 import BeautifulSoup

from attention_book.interactive import Interactive, table

VALUES = [[0.25, -0.0001, -np.inf], [0.75, 1.0, 2.5]]


def made(values=VALUES, *, rows="クエリ", columns=("猫", "a<b", "犬"), **options):
    return table("重みw<1", values, rows=rows, columns=columns, **options)


def test_table_writes_every_number_below_its_headings():
    rows = BeautifulSoup(made(), "html.parser").find_all("tr")
    assert [[cell.text for cell in row] for row in rows] == [
        ["", "猫", "a<b", "犬"],
        ["クエリ1", "0.250", "0.000", "-inf"],
        ["クエリ2", "0.750", "1.000", "2.500"],
    ]
    scopes = [[cell.get("scope") for cell in row] for row in rows]
    assert scopes == [[None, "col", "col", "col"], ["row", None, None, None], ["row", None, None, None]]
    assert BeautifulSoup(made(), "html.parser").caption.text == "重みw<1"


def test_table_shades_what_is_asked_and_writes_the_digits_that_are_asked():
    cells = BeautifulSoup(made([[0.125, 1]], columns="k", digits=1, heat=True), "html.parser").tbody.find_all("td")
    assert [cell.text for cell in cells] == ["0.1", "1.0"]
    assert [cell["style"] for cell in cells] == ["--shade:0.125", "--shade:1.000"]
    assert "style" not in made()


def test_figure_names_its_tables():
    figure = Interactive("by-hand", scores=made(), weights=made())
    soup = BeautifulSoup(figure._repr_html_(), "html.parser").figure
    assert soup["data-figure"] == "by-hand"
    assert [t["data-table"] for t in soup.find_all("table")] == ["scores", "weights"]
    assert repr(figure) == "動かせる図 by-hand：scores、weights"


@pytest.mark.parametrize(
    ("error", "fragments", "call"),
    [
        (ValueError, "values|(2,)", lambda: made([0.5, 0.5])),
        (ValueError, "rows|2 個|1 個", lambda: made(rows=["a"])),
        (ValueError, "columns|3 個|2 個", lambda: made(columns=["a", "b"])),
        (TypeError, "values", lambda: made([["a"]])),
    ],
)
def test_refuses(refuses, error, fragments, call):
    refuses(error, fragments, call)
