"""The figures: what they draw, a summary that follows the data only, and what they leave alone."""

import io
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from PIL import Image

import attention_book
from attention_book.figures import STYLE, heatmap, line_plot, summary, value_map

WEIGHTS = [[0.25, 0.75, 0.0], [0.5, 0.125, 0.375]]
SERIES = {"自分": [0.5, 0.9, 0.1], "未来": [0.0, -1.0, 2.0]}


def heat(weights=WEIGHTS, queries=("私", "は"), keys=("猫", "が", "好き")):
    return heatmap(weights, queries=queries, keys=keys).figure


def signed(values=((-1.0, -0.001, 1.0), (0.5, 0.0, -0.25)), rows=("0", "1"), columns="abc"):
    return value_map(values, rows=rows, columns=columns, xlabel="成分", ylabel="位置").figure


def lines(x=(1, 2, 4), series=SERIES, xlabel="位置", ylabel="重み", xscale="linear"):
    return line_plot(x, series, xlabel=xlabel, ylabel=ylabel, xscale=xscale).figure


def after(figure, change):
    change(figure.axes[0])
    return figure


def test_heatmap_draws_the_weights():
    (axes,) = heat().axes
    (image,) = axes.images
    np.testing.assert_array_equal(image.get_array(), WEIGHTS)
    assert (image.get_clim(), image.origin) == ((0, 1), "upper")
    assert [t.get_text() for t in axes.get_xticklabels()] == ["猫", "が", "好き"]
    assert [t.get_text() for t in axes.get_yticklabels()] == ["私", "は"]
    written = {t.get_position(): t.get_text() for t in axes.texts}
    assert written == {(j, i): f"{WEIGHTS[i][j]:.2f}" for i in range(2) for j in range(3)}
    assert "横の目盛り：1 2 3\n  縦の目盛り：1 2\n" in summary(heat(queries=None, keys=None))


def test_value_map_draws_both_signs_around_zero():
    (axes,) = signed().axes
    (image,) = axes.images
    np.testing.assert_array_equal(image.get_array(), [[-1.0, -0.001, 1.0], [0.5, 0.0, -0.25]])
    assert (image.get_clim(), image.origin) == ((-1, 1), "upper")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("成分", "位置")
    assert [t.get_text() for t in axes.get_xticklabels()] == ["a", "b", "c"]
    assert [t.get_text() for t in axes.get_yticklabels()] == ["0", "1"]
    written = [t.get_text() for t in axes.texts]
    assert written == ["-1.00", "0.00", "1.00", "0.50", "0.00", "-0.25"]  # no minus zero
    assert [t.get_color() for t in axes.texts] == ["white", "black", "white", "black", "black", "black"]


def test_heatmap_without_numbers_draws_the_same_weights():
    (axes,) = heatmap(WEIGHTS, numbers=False).figure.axes
    np.testing.assert_array_equal(axes.images[0].get_array(), WEIGHTS)
    assert not axes.texts
    assert heatmap(WEIGHTS, numbers=False).figure.get_figwidth() < heat().get_figwidth()


def test_line_plot_draws_the_series_in_different_ways():
    (axes,) = lines(xscale="log").axes
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_xscale()) == ("位置", "重み", "log")
    assert {line.get_label(): line.get_ydata().tolist() for line in axes.lines} == SERIES
    assert len({line.get_marker() for line in axes.lines}) == 2
    assert len({line.get_linestyle() for line in axes.lines}) == 2
    assert [t.get_text() for t in axes.get_legend().get_texts()] == list(SERIES)


@pytest.mark.parametrize(
    ("draw", "other"),
    [
        (heat, lambda: heat([[0.25, 0.75, 0.0], [0.5, 0.126, 0.374]])),
        (heat, lambda: heat([WEIGHTS[1], WEIGHTS[0]])),
        (heat, lambda: heat(queries=("私", "が"))),
        (heat, lambda: heat(keys=("猫", "好き", "が"))),
        (heat, lambda: after(heat(), lambda axes: axes.images[0].set_clim(0, 0.75))),
        (heat, lambda: after(heat(), lambda axes: axes.images[0].set_cmap("Reds"))),
        (heat, lambda: after(heat(), lambda axes: axes.set_xlabel("クエリ"))),
        (heat, lambda: after(heat(), lambda axes: axes.texts[0].set_text("0.24"))),
        (heat, lambda: after(heat(), lambda axes: axes.figure.add_subplot())),
        (lines, lambda: lines(series=SERIES | {"未来": [0.0, -1.0, 2.001]})),
        (lines, lambda: lines(series=SERIES | {"未来": [-1.0, 0.0, 2.0]})),
        (lines, lambda: lines(series=dict(reversed(SERIES.items())))),
        (lines, lambda: lines(series={"自分": SERIES["自分"], "過去": SERIES["未来"]})),
        (lines, lambda: lines(x=(1, 2, 5))),
        (lines, lambda: lines(xlabel="長さ")),
        (lines, lambda: lines(xscale="log")),
        (lines, lambda: after(lines(), lambda axes: axes.set_yscale("symlog"))),
    ],
)
def test_summary_changes_with_what_is_drawn(draw, other):
    assert summary(draw()) == summary(draw()) != summary(other())


@pytest.mark.parametrize(
    ("draw", "change"),
    [
        (heat, lambda axes: axes.figure.set_size_inches(9, 9)),
        (heat, lambda axes: axes.texts[0].set_fontsize(30)),
        (lines, lambda axes: axes.figure.set_dpi(300)),
        (lines, lambda axes: axes.lines[0].set_linewidth(7)),
        (lines, lambda axes: axes.lines[0].set_markersize(20)),
    ],
)
def test_summary_does_not_change_with_the_look(draw, change):
    assert summary(after(draw(), change)) == summary(draw())


UNSEEN = pytest.param(65, 0, 44)  # cos(0) and cos(44) differ by 0.0002
PAIRS = [(n, *pair) for n in (64, 65, 400) for pair in ((0, 1), (3, 50), (20, 63))]


@pytest.mark.parametrize(("n", "i", "j"), [*PAIRS, UNSEEN])
def test_summary_of_many_numbers_notices_two_that_swap(n, i, j):
    values = np.linspace(0, 1, n)
    swapped = values.copy()
    swapped[[i, j]] = values[[j, i]]
    assert summary(lines(values, {"値": values})) != summary(lines(values, {"値": swapped}))
    assert summary(lines(values, {"値": values})) != summary(lines(swapped, {"値": values}))


def test_summary_of_many_numbers_notices_one_that_changes_and_stays_short():
    values = np.linspace(0, 1, 400).reshape(20, 20)
    other = values.copy()
    other[7, 7] = 1
    image, other_image = (summary(heatmap(v).figure).splitlines()[4] for v in (values, other))
    assert image != other_image
    assert len(image) < 120


TEXTS = {"queries": ["私−1", "αβ√d×"], "keys": ["猫「」", "…、。", "①"]}
SCALES = {"xlabel": "長さ $n$", "ylabel": "時間（秒）", "xscale": "log"}
PLOTS = [lambda: heatmap(WEIGHTS, **TEXTS), lambda: line_plot([0.25, 1, 1024], SERIES, **SCALES)]


@pytest.mark.filterwarnings("error")  # "Glyph ... missing from font(s)" is a UserWarning
@pytest.mark.parametrize("plot", PLOTS, ids=["heatmap", "line_plot"])
def test_plot_gives_a_png_and_its_summary_and_has_every_glyph(plot):
    bundle, _ = plot()._repr_mimebundle_()
    assert set(bundle) == {"image/png", "text/plain"}
    assert bundle["image/png"].startswith(b"\x89PNG\r\n\x1a\n")
    assert bundle["text/plain"] == summary(plot().figure)
    assert bundle == plot()._repr_mimebundle_()[0]  # the same data, the same bytes


@pytest.mark.parametrize("plot", PLOTS, ids=["heatmap", "line_plot"])
def test_plot_is_shown_at_half_its_size(plot):
    """That is two pixels for each of the page: sharp on a phone."""
    bundle, metadata = plot()._repr_mimebundle_()
    width, height = Image.open(io.BytesIO(bundle["image/png"])).size
    assert metadata == {"image/png": {"width": width // 2, "height": height // 2}}
    assert 100 < width // 2 < 700


def test_png_has_256_colours_and_every_area_its_own():
    plot = heatmap(np.linspace(0, 1, 144).reshape(12, 12), numbers=False)
    drawn = io.BytesIO()
    with mpl.rc_context(STYLE):
        plot.figure.savefig(drawn, bbox_inches="tight")
    written = Image.open(io.BytesIO(plot._repr_mimebundle_()[0]["image/png"]))
    before, after = (np.asarray(image.convert("RGB")) for image in (Image.open(drawn), written))
    colours, kinds, counts = np.unique(before.reshape(-1, 3), axis=0, return_inverse=True, return_counts=True)
    areas = counts[kinds].reshape(before.shape[:2]) > 400

    assert written.mode == "P"
    assert len(colours) > 256
    assert areas.mean() > 0.9
    assert (before == after)[areas].all()


@pytest.mark.parametrize(
    ("error", "fragments", "call"),
    [
        (ValueError, "weights|(2,)", lambda: heatmap([0.5, 0.5])),
        (ValueError, "weights|0から1", lambda: heatmap([[1.5, 0.0]])),
        (ValueError, "weights|0から1", lambda: heatmap([[-0.1, 0.0]])),
        (ValueError, "weights|0から1", lambda: heatmap([[np.nan, 0.0]])),
        (ValueError, "queries|2 個|1 個", lambda: heatmap(WEIGHTS, queries=["a"])),
        (ValueError, "keys|3 個|4 個", lambda: heatmap(WEIGHTS, keys="abcd")),
        (ValueError, "values|(2,)", lambda: signed([0.5, 0.5])),
        (ValueError, "values|-1から1", lambda: signed([[-1.5, 0.0]])),
        (ValueError, "values|-1から1", lambda: signed([[np.nan, 0.0]])),
        (ValueError, "rows|2 個|1 個", lambda: signed(rows="0")),
        (ValueError, "columns|3 個|4 個", lambda: signed(columns="abcd")),
        (ValueError, "series|[]", lambda: lines(series={})),
        (ValueError, "series|_隠れる", lambda: lines(series={"_隠れる": [1.0, 2.0, 3.0]})),
        (ValueError, "短い|(2,)|(3,)", lambda: lines(series={"短い": [1.0, 2.0]})),
        (ValueError, "縦|(3, 1)|(3,)", lambda: lines(series={"縦": [[1.0], [2.0], [3.0]]})),
        (ValueError, "weights", lambda: heatmap([[1.0], [0.5, 0.5]])),
        (ValueError, "値", lambda: lines(series={"値": [1.0, [2.0], 3.0]})),
        (ValueError, "値|有限|nan", lambda: lines(series={"値": [1.0, np.nan, 3.0]})),
        (ValueError, "x |1次元|正", lambda: lines(x=[0, 1, 2], xscale="log")),
        (ValueError, "x |有限|inf", lambda: lines(x=[0, 1, np.inf])),
        (ValueError, "x |1次元", lambda: lines(x=1.0, series={"値": 1.0})),
        (ValueError, "xscale|symlog", lambda: lines(xscale="symlog")),
    ],
)
def test_refuses(refuses, error, fragments, call):
    refuses(error, fragments, call)


def run(code):
    root = Path(attention_book.__file__).parents[1]
    subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=root, check=True, timeout=60)


def test_the_package_imports_neither_torch_nor_matplotlib():
    run("import sys, attention_book; assert not {'torch', 'matplotlib'} & set(sys.modules)")


def test_plotting_leaves_the_settings_of_the_reader_alone():
    run(
        "import matplotlib as mpl\n"
        "mpl.rcParams['font.family'] = ['serif']\n"
        "before = mpl.rcParams.copy()\n"
        "from attention_book.figures import heatmap\n"
        "assert mpl.rcParams['font.family'] == ['serif']\n"
        "heatmap([[1.0]])._repr_mimebundle_()\n"
        "assert mpl.rcParams['font.family'] == ['serif']\n"
        "assert [n for n in before if n != 'backend' and before[n] != mpl.rcParams[n]] == []\n"
    )
