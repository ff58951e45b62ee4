"""The figures that answer to the hand: their arithmetic against the package, and what a reader does with them."""

import gzip
import re
from pathlib import Path

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe

import attention_book as ab
from attention_book.online import attend, merge

ROOT = Path(__file__).resolve().parents[2]
FIGURES = {  # {figure: page}
    name: path.stem
    for path in sorted((ROOT / "docs" / "_expected").glob("*.yml"))
    for name in re.findall(r'<figure class="interactive" data-figure="([\w-]+)"', path.read_text("utf-8"))
}
every_figure = pytest.mark.parametrize("name", FIGURES)
every_theme = pytest.mark.parametrize("theme", ["light", "dark"])

# {table: [[number as written, …], …]} and what moves in a diagram, as a reader sees them now
STATE = """
(name) => {
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const written = (cell) => {
    const input = cell.querySelector("input");
    return input?.type === "checkbox" ? String(Number(input.checked)) : (input?.value ?? cell.textContent);
  };
  const rows = (table) => [...table.tBodies[0].rows].map((row) => [...row.cells].slice(1).map(written));
  const moving = "[transform], [points], [d], [stroke-width]";
  return {
    tables: Object.fromEntries(all(`figure[data-figure="${name}"] table`).map((t) => [t.dataset.table, rows(t)])),
    svg: all(moving, document.querySelector(`svg[data-figure="${name}"]`) ?? new DocumentFragment()).map((e) =>
      ["transform", "points", "d", "stroke-width"].map((a) => e.getAttribute(a) ?? "").join(" ")),
  };
}
"""


@pytest.fixture
def figure(hand):
    """figure("by-hand"): the figure once its script has drawn it, and its state."""

    def opened(name, **options):
        tab = hand(FIGURES[name], **options)
        box = tab.locator(f'figure[data-figure="{name}"]')
        box.locator('[role="status"]:not(:empty)').wait_for()
        box.scroll_into_view_if_needed()
        box.state = lambda: tab.evaluate(STATE, name)
        box.says = lambda words: box.locator('[role="status"]').filter(has_text=words).wait_for()
        return box

    return opened


def lengths(box, selector):
    """How long the browser draws the bars."""
    return np.array(box.locator(f"svg {selector}").evaluate_all("(bars) => bars.map((bar) => bar.getTotalLength())"))


def table_of(box, name):
    return np.array(box.state()["tables"][name], dtype=float)


# Arithmetic


def test_arithmetic_is_that_of_the_package(hand, base_url):
    tab = hand("by-hand")

    def here(expression, **inputs):
        inputs = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in inputs.items()}
        code = (
            f"async (x) => {{ const base = await import('{base_url}_static/figures/base.js'); return {expression}; }}"
        )
        return np.array(tab.evaluate(code, inputs), dtype=float)

    def close(got, want):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)

    rng = np.random.default_rng(0)
    for size in (1e-200, 1e-3, 1, 30, 1e4, 1e100):
        q, k, v = rng.normal(size=(4, 3)) * size, rng.normal(size=(5, 3)), rng.normal(size=(5, 2))
        mask = rng.random((4, 5)) < 0.5
        mask[2] = False
        masks = {"mask": mask, "scale": 0.7}
        for options in ({}, {"scale": 1.0}, masks):
            output, weights = ab.scaled_dot_product_attention(q, k, v, **options, return_weights=True)
            js = {name: x.tolist() if isinstance(x, np.ndarray) else x for name, x in options.items()}
            close(here("base.attention(x.q, x.k, x.v, x.js).weights", q=q, k=k, v=v, js=js), weights)
            close(here("base.attention(x.q, x.k, x.v, x.js).output", q=q, k=k, v=v, js=js), output)
        close(here("base.attention(x.q, x.k, x.v).scores", q=q, k=k, v=v) / size, q @ k.T / size)
        close(here("base.entropy(x.w)", w=weights[0]), ab.entropy(weights[0]))
        close(here("base.jacobian(x.w)", w=weights[0]), ab.softmax_jacobian(weights[0]))
        close(here("base.norm(base.jacobian(x.w))", w=weights[0]), np.linalg.norm(ab.softmax_jacobian(weights[0])))
    for row in ([0.0, -np.inf, 3.0], [-np.inf, -np.inf], [1e308, -1e308], [-745.0, 745.0, 0.0], [5e-324, 0.0]):
        close(here("base.softmax(x.row)", row=row), ab.softmax(row))
    for row in ([0.0, 1.0], [1 / 3] * 3, [1e-320, 1.0]):
        close(here("base.entropy(x.row)", row=row), ab.entropy(row))
    a, b = rng.normal(size=(3, 4)), rng.normal(size=(4, 2))
    close(here("base.matmul(x.a, x.b)", a=a, b=b), a @ b)
    close(here("base.transpose(x.a)", a=a), a.T)


def test_numbers_are_written_as_the_build_writes_them(hand, base_url):
    code = f"async (x) => (await import('{base_url}_static/figures/base.js')).text(...x)"
    tab = hand("by-hand")  # an exact tie goes away from zero here, and to an even digit in Python
    for x, digits in [
        (0.5, 3),
        (-0.0001, 3),
        (-0.0, 1),
        (-1.26, 1),
        (1.005, 2),
        (1e4, 2),
        (np.inf, 3),
        (-np.inf, 3),
        (np.nan, 3),
    ]:
        assert tab.evaluate(code, [float(x), digits]) == f"{x:z.{digits}f}"


# What a page promises


@every_figure
def test_starts_with_the_numbers_of_the_page(hand, figure, name):
    """What the script computes from the inputs of the page is what the page's cells computed, and its diagram shows."""
    static = hand(FIGURES[name], java_script_enabled=False).evaluate(STATE, name)
    box = figure(name)
    live = box.state()
    assert live["tables"] == static["tables"]
    assert all(np.array(rows, dtype=float).size for rows in static["tables"].values())
    for drawn, moved in zip(static["svg"], live["svg"], strict=True):
        numbers = [np.array(re.findall(r"-?[\d.]+", text), dtype=float) for text in (drawn, moved)]
        np.testing.assert_allclose(*numbers, atol=0.6, err_msg=drawn)  # an SVG by hand: to the pixel
    assert box.locator("figcaption").count() == 0  # it says where the figure moves


@every_figure
def test_without_javascript_the_tables_stand(hand, name):
    tab = hand(FIGURES[name], java_script_enabled=False)
    box = tab.locator(f'figure[data-figure="{name}"]')
    assert box.locator("table").count()
    assert all(table.is_visible() and table.locator("caption").inner_text() for table in box.locator("table").all())
    assert not box.locator("input, button, [role=status], [tabindex]").count()
    assert "JavaScriptの動くブラウザーで開くと動かせます" in box.locator("figcaption").inner_text()
    for diagram in tab.locator(f'svg[data-figure="{name}"]').all():
        assert diagram.is_visible()
        assert diagram.get_attribute("role") == "img"


def test_only_pages_with_a_figure_load_scripts_and_styles_for_it(site, soup):
    for page in sorted(path.stem for path in site.glob("*.html")):
        names = {figure["data-figure"] for figure in soup(page).select("figure[data-figure]")}
        loaded = re.findall(
            r"_static/figures/([\w.-]+)", str(soup(page).head) + str(soup(page).select("body > script"))
        )
        assert sorted(loaded) == sorted([f"{name}.js" for name in names] + (["figures.css"] if names else [])), page
    scripts = (site / "_static" / "figures").glob("*.js")
    assert {path.name for path in scripts} == set().union(*(needed(site, f"{name}.js") for name in FIGURES))


def needed(site, file):
    """The scripts that one loads, itself included."""
    text = (site / "_static" / "figures" / file).read_text(encoding="utf-8")
    return {file}.union(*(needed(site, other) for other in re.findall(r'from "\./([\w.-]+)"', text)))


@every_figure
def test_scripts_are_light(site, name):
    files = [site / "_static" / "figures" / file for file in needed(site, f"{name}.js")]
    assert len(files) > 1
    assert sum(len(gzip.compress(file.read_bytes())) for file in files) <= 10_000


@every_theme
@every_figure
def test_no_fault_that_axe_finds(figure, name, theme):
    box = figure(name, color_scheme=theme)
    found = Axe().run(box.page, context=f'figure[data-figure="{name}"]')
    assert found.response["passes"]
    assert found.violations_count == 0, found.generate_report()


@pytest.mark.parametrize("width", [375, 1280])
@every_figure
def test_stays_inside_of_its_frame(figure, name, width):
    box = figure(name, viewport={"width": width, "height": 800})
    edge = box.bounding_box()
    parts = [part.bounding_box() for part in box.locator("table, input, button, svg, p").all()]
    assert len(parts) > 3
    assert [p for p in parts if p["x"] < edge["x"] or p["x"] + p["width"] > edge["x"] + edge["width"]] == []
    assert edge["x"] >= 0
    assert edge["x"] + edge["width"] <= width


@every_figure
def test_inputs_are_large_enough_for_fingers_and_do_not_zoom(figure, name):
    box = figure(name, viewport={"width": 375, "height": 800}, has_touch=True)
    for control in box.locator("input:not(.choice *), button, .choice label").all():
        assert control.bounding_box()["height"] >= 32
    for number in box.locator("input[type=number]").all():
        assert number.evaluate("(e) => parseFloat(getComputedStyle(e).fontSize)") >= 16


@every_figure
def test_is_never_sent(figure, name):
    """A form with one number in it is sent by Enter, which would load the page again."""
    box = figure(name)
    box.page.evaluate("window.here = true")
    box.locator("form").evaluate("(form) => form.requestSubmit()")
    box.page.wait_for_timeout(300)
    assert box.page.evaluate("window.here") is True


@every_figure
def test_on_paper_the_tables_stand_without_controls(figure, name):
    box = figure(name)
    box.page.emulate_media(media="print")
    assert all(table.is_visible() for table in box.locator(".results table").all())
    assert not box.locator("button").is_visible()


# What a reader does


def test_by_hand_from_the_keyboard_only(figure):
    """Token 3 to [-1, -1], as the page asks; then the temperature, another query, a typed number, and back."""
    box = figure("by-hand")
    start, press = box.state(), box.page.keyboard.press
    handles = box.get_by_role("slider", name="トークン3の点")
    handles.focus()
    for _ in range(4):
        press("Shift+ArrowLeft")
        press("Shift+ArrowDown")
    assert handles.get_attribute("aria-valuetext") == "成分1は-1、成分2は-1"
    X = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    output, weights = ab.scaled_dot_product_attention(X, X, X, return_weights=True)
    np.testing.assert_allclose(table_of(box, "weights"), weights, atol=6e-4)
    np.testing.assert_allclose(table_of(box, "output"), output, atol=6e-4)
    box.says("いちばん多く受け取る相手はトークン3")

    press("Tab")  # to the queries
    press("ArrowLeft")
    box.says("トークン2がいちばん多く")
    press("Tab")  # to the temperature
    for _ in range(3):
        press("ArrowLeft")
    cold = ab.scaled_dot_product_attention(X, X, X, scale=10 / np.sqrt(2), return_weights=True)[1]
    np.testing.assert_allclose(table_of(box, "weights"), cold, atol=6e-4)
    press("Tab")  # to the button
    press("Tab")  # to the first number
    box.page.keyboard.type("9")
    press("Enter")
    press("Tab")
    assert table_of(box, "tokens")[0, 0] == 2.5  # as far as the plane goes
    press("Shift+Tab")
    press("Shift+Tab")
    press("Enter")
    box.says("トークン3がいちばん多く受け取る相手はトークン3（重み0.503）")
    assert box.state() == start


def centre(locator):
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_by_hand_with_the_mouse(figure):
    box = figure("by-hand")
    mouse, unit = box.page.mouse, box.locator("svg").bounding_box()["width"] / 320 * 60
    x, y = centre(box.get_by_role("slider", name="トークン1の点"))
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + unit / 2, y + unit, steps=4)
    assert table_of(box, "tokens")[0].tolist() == [1.5, -1.0]
    mouse.move(x + 9 * unit, y)
    assert table_of(box, "tokens")[0].tolist() == [2.5, 0.0]
    mouse.up()
    mouse.move(x, y)
    assert table_of(box, "tokens")[0].tolist() == [2.5, 0.0]
    box.page.keyboard.press("ArrowLeft")  # the point that was dragged has the focus
    assert table_of(box, "tokens")[0].tolist() == [2.4, 0.0]


def test_by_hand_with_a_finger_that_scrolls_elsewhere(figure):
    box = figure("by-hand", viewport={"width": 375, "height": 800}, has_touch=True)
    session = box.page.context.new_cdp_session(box.page)

    def swipe(x, y, dx, dy):
        def touch(kind, points):
            session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

        before = box.page.evaluate("scrollY")
        touch("touchStart", [{"x": x, "y": y}])
        for part in range(1, 9):
            touch("touchMove", [{"x": x + dx * part / 8, "y": y + dy * part / 8}])
        touch("touchEnd", [])
        box.page.wait_for_timeout(300)
        return box.page.evaluate("scrollY") - before

    box.locator("svg").evaluate("(svg) => svg.scrollIntoView({ block: 'center', behavior: 'instant' })")
    unit = box.locator("svg").bounding_box()["width"] / 320 * 60
    handle = box.get_by_role("slider", name="トークン3の点")
    assert swipe(*centre(handle), 0, 3 * unit) == 0
    assert table_of(box, "tokens")[2].tolist() == [1.0, -2.0]
    x, y = centre(handle)
    assert swipe(x - 2.5 * unit, y, 0, -100) > 50  # the page moves, the points do not
    assert table_of(box, "tokens")[2].tolist() == [1.0, -2.0]


def test_projections_says_what_moved(figure):
    box = figure("projections")
    start = box.state()
    box.says("スコア：同じ、重み：同じ、出力：同じ")
    value = box.get_by_label("成分1、値1")
    value.fill("100")
    box.says("スコア：同じ、重み：同じ、出力：変わりました")
    assert box.state()["tables"]["weights"] == start["tables"]["weights"]

    value.fill("1")
    box.says("出力：同じ")
    number, slide = box.get_by_label("成分1、クエリ").all()
    slide.press("ArrowLeft")
    assert number.input_value() == "1.5"
    box.says("スコア：変わりました、重み：変わりました、出力：変わりました")
    number.fill("-2")
    assert slide.input_value() == "-2"
    X, W_v = table_of(box, "tokens"), table_of(box, "W_v")
    output, weights = ab.scaled_dot_product_attention(
        X @ [[-2.0], [0.0]], X @ [[0.0], [1.0]], X @ W_v, return_weights=True
    )
    np.testing.assert_allclose(table_of(box, "weights"), weights, atol=6e-4)
    np.testing.assert_allclose(table_of(box, "output"), output, atol=6e-4)
    box.get_by_role("button", name="元に戻す").press("Enter")
    box.says("スコア：同じ、重み：同じ、出力：同じ")
    assert box.state() == start


def test_scaling_follows_every_length(figure):
    box = figure("scaling")
    walk, slide = table_of(box, "scores"), box.get_by_label("d_k")
    slide.press("Home")
    for n, d in enumerate(2 ** np.arange(11)):
        assert slide.get_attribute("aria-valuetext") == str(d)
        weights = ab.softmax(np.stack([walk[n], walk[n] / np.sqrt(d)]))
        facts = [
            weights.max(axis=1),
            ab.entropy(weights) / np.log(6),
            np.linalg.norm(ab.softmax_jacobian(weights), axis=(1, 2)),
        ]
        np.testing.assert_allclose(table_of(box, "weights"), weights.T, atol=6e-4)
        np.testing.assert_allclose(table_of(box, "facts"), facts, atol=6e-3)
        np.testing.assert_allclose(lengths(box, ".bar") / 120, weights.ravel(), atol=1e-3)
        slide.press("ArrowRight")
    box.says("d_k=1024")
    slide.press("Home")
    box.says("d_k=1。")
    assert (table_of(box, "weights")[:, 0] == table_of(box, "weights")[:, 1]).all()


def test_masks_finds_the_faults_that_the_page_finds(figure, soup):
    """Each sample by its name in the output of the leak test, with the numbers printed there."""
    box = figure("masks")
    printed = dict(re.findall(r"^(.+): (漏れ\d+、届かない過去\d+)$", soup("masks").text, re.M))
    assert len(printed) == 5
    menu = box.get_by_label("見本")
    for name, words in printed.items():
        menu.select_option("causal mask" if name == "正しい" else name)
        box.says(words)
        mask, scores = table_of(box, "mask"), table_of(box, "scores")
        weights = ab.softmax(np.where(mask, scores, -np.inf))
        np.testing.assert_allclose(table_of(box, "weights"), weights, atol=6e-4)
    menu.select_option("詰め物を行も隠す")
    box.says("クエリ4とクエリ5は何も見られず、重みがすべて0です。")
    assert (table_of(box, "weights")[3:] == 0).all()
    assert (table_of(box, "mask")[2] == [1, 1, 1, 0, 0]).all()


def test_masks_from_the_keyboard_only(figure):
    box = figure("masks")
    start, press = box.state(), box.page.keyboard.press
    box.get_by_label("見本").focus()
    press("Tab")
    for key in (
        "ArrowRight",
        "ArrowRight",
        "Space",
        "ArrowLeft",
        "ArrowDown",
        "ArrowLeft",
        "Space",
        "ArrowUp",
        "ArrowUp",
    ):
        press(key)
    assert box.get_by_label("見本").input_value() == "自分で描く"
    mask = np.tri(5)
    mask[0, 2], mask[1, 0] = 1, 0
    assert (table_of(box, "mask") == mask).all()
    box.says("漏れ1、届かない過去1")
    press("Tab")
    press("ArrowRight")  # to MHA: all is turned round
    weights = ab.softmax(np.where(mask, -np.inf, table_of(box, "scores")))
    weights[4] = np.nan
    np.testing.assert_allclose(table_of(box, "weights"), weights, atol=6e-4)
    box.says("クエリ5は何も見られず、重みがNaNです。")
    press("Tab")
    press("Enter")
    box.says("漏れ0、届かない過去0。")
    assert box.state() == start
    assert box.get_by_label("見本").input_value() == "causal mask"


@pytest.mark.parametrize("finger", [False, True])
def test_masks_are_painted_where_the_hand_passes(figure, finger):
    box = figure("masks", viewport={"width": 375, "height": 800}, has_touch=finger)
    box.locator("table").first.evaluate("(t) => t.scrollIntoView({ block: 'center', behavior: 'instant' })")
    places = [centre(box.get_by_label(f"クエリ1、キー{n}")) for n in (1, 2, 3, 4, 5)]
    scrolled = box.page.evaluate("scrollY")
    if finger:
        session = box.page.context.new_cdp_session(box.page)
        for kind, (x, y) in [("touchStart", places[1]), *(("touchMove", place) for place in places[2:])]:
            session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
        session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    else:
        box.page.mouse.move(*places[1])
        box.page.mouse.down()
        for place in places[2:]:
            box.page.mouse.move(*place)
        box.page.mouse.up()
    assert table_of(box, "mask")[0].tolist() == [1, 1, 1, 1, 1]
    assert box.page.evaluate("scrollY") == scrolled
    (box.page.touchscreen.tap if finger else box.page.mouse.click)(*places[0])
    assert table_of(box, "mask")[0].tolist() == [0, 1, 1, 1, 1]
    assert (table_of(box, "mask")[1:] == np.tri(5)[1:]).all()


def test_cost_is_the_same_wherever_the_keys_are_cut(figure, soup):
    box = figure("cost")
    printed = re.findall(r"^(左|右|両方): 最大値 (.+)、合計 (.+)$", soup("cost").text, re.M)
    assert [list(p[1:]) for p in printed] == np.transpose(box.state()["tables"]["parts"])[
        :, :2
    ].tolist()  # those of the page

    keys, slide = table_of(box, "keys"), box.get_by_label("左に入れるキー")
    scores, values = keys[:, 0], keys[:, 1:]
    whole = ab.softmax(scores) @ values
    slide.press("Home")
    for n in range(9):
        assert slide.get_attribute("aria-valuetext") == f"{n}個"
        parts = [attend(scores[None, part].copy(), values[part]) for part in (slice(n), slice(n, None))]
        parts.append(merge(*parts))
        for column, part in zip(table_of(box, "parts").T, parts, strict=True):
            own = part.mixed[0] / part.total[0] if part.total else 0 * whole
            want = [part.top[0, 0], part.total[0, 0], np.exp(part.top - parts[2].top)[0, 0], *own]
            np.testing.assert_allclose(column, want, atol=6e-3)
        np.testing.assert_allclose(table_of(box, "parts")[3:, 2], whole, atol=6e-3)
        tops, totals, factors = table_of(box, "parts")[:3]
        np.testing.assert_allclose(lengths(box, ".total") / 120, [*totals, totals[0] * factors[0]], atol=0.02)
        np.testing.assert_allclose(lengths(box, ".top"), [34 * n, 34 * (8 - n)])
        heights = box.locator("svg .top").evaluate_all("(lines) => lines.map((e) => e.getBBox().y)")
        np.testing.assert_allclose(
            [(95 - heights[i]) / 18 for i in (0, 1) if totals[i]], tops[:2][totals[:2] > 0], atol=0.02
        )
        assert box.locator("svg .score.right").count() == 8 - n
        slide.press("ArrowRight")
    box.says("左は8個、右は0個。左に1.00、右に0.00を掛けて足すと、合計は1.26です。")


def test_cost_counts_the_parts_as_the_package_does(hand):
    tab = hand("cost")
    code = """async (x) => {
      const { attend, merge } = await import(document.querySelector('script[src*="figures/cost.js"]').src);
      const { whole, factors } = merge(attend(x.a, x.values), attend(x.b, x.values));
      return [whole.top, whole.total, ...whole.mixed, ...factors];
    }"""
    rng = np.random.default_rng(0)
    for size in (1e-3, 1, 300):
        a, b, values = rng.normal(size=5) * size, rng.normal(size=5) * size, rng.normal(size=(5, 2))
        a[1], b[2:] = -np.inf, -np.inf
        for one, other in ((a, b), (np.full(5, -np.inf), b)):
            parts = [attend(scores[None].copy(), values) for scores in (one, other)]
            want = merge(*parts)
            factors = [np.exp(part.top - want.top)[0, 0] for part in parts]
            got = tab.evaluate(code, {"a": one.tolist(), "b": other.tolist(), "values": values.tolist()})
            wanted = [want.top[0, 0], want.total[0, 0], *want.mixed[0], *factors]
            np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12)


def test_cache_grows_with_the_length_and_the_scores_with_its_square(figure, soup):
    box = figure("cache")
    start, slide = table_of(box, "memory").ravel(), box.get_by_role("slider", name="トークンの数")

    def bars_follow():
        sizes = table_of(box, "memory").ravel()
        np.testing.assert_allclose(lengths(box, ".bar") / 200, sizes / sizes[0], atol=1e-3)

    bars_follow()
    printed = re.findall(r"8192トークン +(\d+) MiB", soup("cost").text)
    assert [float(size) for size in printed] == start[:3].tolist()  # those of the page
    slide.press("End")
    assert table_of(box, "memory").ravel().tolist() == [*(start[:3] * 16), start[3] * 256]
    bars_follow()
    assert f"131072トークン: {start[3] * 256:6,.0f} MiB" in soup("cost").text  # the page says it too
    slide.press("Home")
    assert table_of(box, "memory").ravel().tolist() == [*(start[:3] / 8), start[3] / 64]
    bars_follow()
    box.says("1024トークン：8ヘッドのキャッシュは128 MiB、スコアの行列は1枚2 MiBです。")
