"""What `nox -s newest` reads and concludes; the builds between are those of `nox -s docs`."""

from pathlib import Path

import newest
import pytest

ROOT = Path(__file__).resolve().parents[2]
DRIFT = "セル3の出力が変わりました。"


def test_requirements_lose_comments_and_markers():
    text = "# head\nmyst_nb  # pages\ntorch==2.13.0   # the rival\nappnope==1.0.0 ; sys_platform == 'darwin'\nx[y]>=2,<3\n\n"
    assert newest.requirements(text) == {
        "myst-nb": "myst_nb",
        "torch": "torch==2.13.0",
        "appnope": "appnope==1.0.0",
        "x": "x[y]>=2,<3",
    }


def test_every_direct_dependency_is_pinned():
    direct, pinned = (ROOT / f"requirements.{end}" for end in ("in", "txt"))
    pins = newest.pins(pinned.read_text(encoding="utf-8"))
    assert len(pins) > 50
    assert all(pins.values())
    assert newest.requirements(direct.read_text(encoding="utf-8")).keys() <= pins.keys()


def test_changes_are_other_versions_of_what_was_pinned():
    old = {"numpy": "2.4.6", "torch": "2.13.0", "furo": "2025.12.19", "appnope": "1.0.0"}
    new = {"numpy": "2.5.0", "torch": "2.13.0+cpu", "furo": "2024.8.6", "added": "1"}
    assert newest.changes(old, new) == {"numpy": "2.5.0", "furo": "2024.8.6"}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (f"/home/me/book/docs/masks.md:12: WARNING: {DRIFT}\n--- 期待\n+++ 今回", ("docs/masks.md", DRIFT)),
        (rf"D:\a\book\docs\masks.md:12: WARNING: {DRIFT}", ("docs/masks.md", DRIFT)),
        ("/home/me/book/docs/masks.md: ERROR: 別の問題 [mystnb.exec] [mystnb.exec]", ("docs/masks.md", "別の問題")),
        ("WARNING: 余った期待出力です。 [gate]", ("", "余った期待出力です。")),
        ("/x/a.py:docstring of a.f:3: WARNING: 見出し [docutils]", ("/x/a.py:docstring of a.f:3", "見出し")),
    ],
)
def test_problems_are_read_from_what_sphinx_says(line, expected):
    assert newest.problems(1, f"読んでいます\n{line}\n合計\n") == {expected}


def test_a_build_that_stops_is_a_problem():
    assert newest.problems(0, "良い") == set()
    assert newest.problems(2, "Extension error!") == {("", newest.STOPPED)}
    assert newest.problems(1, "何も言わずに失敗") == {("", newest.STOPPED)}
    assert ("", newest.STOPPED) in newest.problems(2, f"/b/docs/a.md:1: WARNING: {DRIFT}")
    assert newest.problems(-9, "") == {("", newest.STOPPED)}


def test_each_problem_has_its_packages():
    masks, scaling, about = (f"docs/{page}.md" for page in ("masks", "scaling", "about"))
    alone = {"numpy": {(masks, DRIFT), (about, DRIFT)}, "torch": {(about, DRIFT)}, "furo": set()}
    blamed = newest.blame({(masks, DRIFT), (about, DRIFT), (scaling, DRIFT)}, alone)
    assert blamed == {(about, DRIFT): ["numpy", "torch"], (masks, DRIFT): ["numpy"], (scaling, DRIFT): []}
    lines = list(newest.report(blamed, {"numpy": "2.5.0", "torch": "2.14.1"}, ["docutils 0.22.4 → 0.23"]))
    assert lines[0] == f"- {about}：{DRIFT} ← numpy 2.5.0、torch 2.14.1"
    assert lines[1] == f"- {masks}：{DRIFT} ← numpy 2.5.0"
    assert "1つずつでは起きません" in lines[2]
    assert "docutils 0.22.4 → 0.23" in lines[2]
