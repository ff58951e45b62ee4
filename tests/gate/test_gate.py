"""Every change that must be caught is, with page and line and twice; what must not alarm does not.

Each mutation is a page of its own in one book, so that one build judges them all.
"""

import re

import gate
import pytest
import yaml


def cell(code, *options):
    return "\n".join(["```{code-cell} ipython3", *options, code, "```"])


def swap(old, new):
    def edit(text):
        assert text.count(old) == 1, f"{text.count(old)} times {old!r}"
        return text.replace(old, new)

    return edit


def end(*blocks):
    return lambda text: "\n\n".join([text.rstrip("\n"), *blocks]) + "\n"


# What no page may hold, whatever was accepted: (block of the page, message). They stand on one page.
FAULTS = {
    "stderr": (cell('import sys\nprint("警告", file=sys.stderr)'), "警告を出しました.*\n警告"),
    "address": (cell("object()"), "番地があります: '0x"),
    "path": (cell('print("read /home/me/book")'), "パスがあります: '/home/me"),
    "path of Windows": (cell(r'print(r"C:\Users\me")'), r"パスがあります: 'C:\\\\U"),
    "carriage return": (cell(r'print("10%\r\n20%")'), "復帰文字があります"),
    "elided": (cell("print(np.arange(2000))"), r"省略された配列（\.\.\.）があります"),
    "hidden": (cell("object()", ":tags: [hide-output]"), "番地があります"),
    "skipped": (cell("x = 1", ":tags: [skip-execution]"), "最後まで実行されていません"),
    "plain figure": (
        cell(
            "import matplotlib.pyplot as plt\nplt.plot([1, 2]);",
            "---\nmystnb: {image: {alt: 右へ上がる折れ線です。}}\n---",
        ),
        "数の要約がありません",
    ),
    "no alt": (
        cell('from attention_book.figures import line_plot\nline_plot([1], {"a": [1]}, xlabel="x", ylabel="y")'),
        "図の代替テキスト.*: ''",
    ),
    "caption": (
        cell(
            'from attention_book.figures import line_plot\nline_plot([1], {"a": [1]}, xlabel="x", ylabel="y")',
            "---\nmystnb: {image: {alt: 1つだけの点の図です。}, figure: {caption: 値は0.776です。}}\n---",
        ),
        "本文の数 0.776 は",
    ),
    "alt in English": ("![a curve that falls](curve.png)", "図の代替テキスト.*: 'a curve that falls'"),
    "short alt": ("![折れ線](curve.png)", "図の代替テキスト.*: '折れ線'"),
    "number in alt": ("![値は0.777まで下がる折れ線です。](curve.png)", "数 0.777 は"),
    "paragraph": ("ここは段落です。\n値は0.777です。", "本文の数 0.777 は"),
    "heading": ("### 見出し0.778", "本文の数 0.778 は"),
    "table": ("| a | b |\n|---|---|\n| 1 | 0.779 |", "本文の数 0.779 は"),
    "list": ("- 値\n- 値は0.780", "本文の数 0.780 は"),
    "full width": ("値は０．７８１です。", "本文の数 0.781 は"),
    "minus sign": ("値は\u22120.917です。", "本文の数 -0.917 は"),
    "emphasis and link": ("**太字0.782**", "本文の数 0.782 は"),
    "inline maths": ("値は$x = 0.783$です。", "本文の数 0.783 は"),
    "display maths": ("$$\ny = 0.784\n$$", "本文の数 0.784 は"),
    "SVG": ("```{raw} html\n<svg><text>0.785</text></svg>\n```", "本文の数 0.785 は"),
    "admonition": (":::{admonition} 題0.786\n中です。\n:::", "本文の数 0.786 は"),
    "definition": ("用語\n: 値は0.787", "本文の数 0.787 は"),
    "one digit off": ("平均は0.918です。", "本文の数 0.918 は"),
    "pasted line": ("```text\n個数 6\n```", "コードブロックに出力を貼らず.*: '個数 6'"),
    "pasted number": ("```\n0.917\n```", "コードブロックに出力を貼らず.*: '0.917'"),
    "undefined label": ("{ref}`nowhere`を見てください。", "undefined label: 'nowhere'"),
}
LOUD = {"undefined label"}  # Sphinx says it while it writes, and a second build has nothing to write

OUTPUT = "の出力が変わりました"
# Changes of one page, each on a copy of it: (page, edits of its files, text in the block whose line is named or None,
# message). None as an edit deletes the file.
DRIFTS = {
    "constant": (
        "numbers",
        {"md": swap("4.0]", "4.1]")},
        "print(scaled",
        r"セル1の出力が(.*\n)+-.*2\. (.*\n)+\+.*2\.05",
    ),
    "integer": ("numbers", {"md": swap("{Q.size}", "{Q.size + 1}")}, "個数", OUTPUT),
    "sign": ("numbers", {"md": swap("{mean:.4f}", "{-mean:.4f}")}, "個数", OUTPUT),
    "0.1 percent": ("numbers", {"md": swap("{mean:.4f}", "{mean * 1.001:.4f}")}, "個数", OUTPUT),
    "print format": ("numbers", {"md": swap(".4f", ".2f")}, "個数", OUTPUT),
    "print options": (
        "numbers",
        {"md": swap("\nQ =", "\nnp.set_printoptions(linewidth=10)\nQ =")},
        "print(scaled",
        OUTPUT,
    ),
    "word": ("numbers", {"md": swap("個数", "総数")}, "総数", OUTPUT),
    "lost print": ("numbers", {"md": swap('print(f"個数 {Q.size}")', "Q.size;")}, "Q.size;", OUTPUT),
    "lost semicolon": (
        "numbers",
        {"md": swap("Q.size, display=False)", "Q.size, display=False);\nQ.size")},
        "glue(",
        OUTPUT,
    ),
    "repr": ("numbers", {"md": swap("\nmean\n", "\nfloat(mean)\n")}, "\nfloat", OUTPUT),  # in a cell that is folded
    "removed output": ("numbers", {"md": swap("hide-cell", "remove-output")}, "remove-output", OUTPUT),
    "removed cell": ("numbers", {"md": swap("hide-cell", "remove-cell")}, None, "コードセルの数が 6 から 5 に"),
    "added cell": ("errors", {"md": end(cell("x = 1"))}, None, "コードセルの数が 2 から 3 に"),
    "deleted cell": (
        "errors",
        {"md": swap(cell('print([3, 1, 2])\nprint("終わり")'), "")},
        None,
        "コードセルの数が 2 から 1 に",
    ),
    "order": ("errors", {"md": swap("[3, 1, 2]", "[1, 3, 2]")}, "終わり", OUTPUT),
    "glue": ("numbers", {"md": swap("{mean:.2f}", "{mean:.1f}")}, None, r"セル6の出力が(.*\n)+\+- glue: '0.9'"),
    "glued object": ("numbers", {"md": swap("Q.size, d", "7, d")}, None, OUTPUT),
    "outside the tolerance": ("numbers", {"md": swap("0.305", "0.316")}, "測定", OUTPUT),
    "exception": ("numbers", {"md": swap("Q @ Q.T", "Q @ Q")}, "print(scaled", "実行されていません(.*\n)+ValueError"),
    "another exception": ("errors", {"md": swap("(2, 3)", "(3, 2)")}, "raise Val", OUTPUT),
    "exception that is gone": ("errors", {"md": swap("raise ValueError", "ValueError")}, "ValueError", OUTPUT),
    "time-out": (
        "errors",
        {
            "md": lambda t: swap("print([3", "import time; time.sleep(60); print([3")(
                swap("---\n\n#", "mystnb: {execution_timeout: 2}\n---\n\n#")(t)
            )
        },
        "time.sleep",
        "最後まで実行されていません",
    ),
    "figure datum": ("figure", {"md": swap("0.25", "0.26")}, "line_plot(", OUTPUT),
    "figure order": ("figure", {"md": swap("0.9, 0.5", "0.5, 0.9")}, "line_plot(", OUTPUT),
    "axis label": ("figure", {"md": swap("歩数", "回数")}, "line_plot(", OUTPUT),
    "annotation": ("figure", {"md": swap("min", "max")}, "line_plot(", OUTPUT),
    "expectation edited": ("numbers", {"yml": swap("0.9167", "0.9169")}, "個数", OUTPUT),
    "expectation cut": ("numbers", {"yml": swap("      個数 6\n", "")}, "個数", OUTPUT),
    "expectation deleted": ("errors", {"yml": None}, None, "コードセルの数が 0 から 2 に"),
    "expectation damaged": ("errors", {"yml": lambda _: "- - stream: 0.5\n"}, None, "ファイルが壊れています"),
    "page deleted": ("errors", {"md": None}, None, "対応するページのない期待出力です: page-deleted.yml"),
    "file_format": ("errors", {"md": swap("file_format: mystnb\n", "")}, None, "コードセルの数が 2 から 0 に"),
    "nested cell": (
        "errors",
        {"md": swap("```{code-cell} ipython3\nprint", ":::{note}\n```{code-cell} ipython3\nprint")},
        None,
        "コードセルの数が 2 から 1 に",
    ),
    "surplus tag": (
        "errors",
        {"md": swap("print([", ":tags: [raises-exception]\nprint([")},
        "print([",
        "raises-exception",
    ),
}

QUIET = {
    "prose": ("numbers", {"md": swap("半分にします。", "全部を半分にします。")}),
    "comment": ("numbers", {"md": swap("mean = ", "# 平均\nmean = ")}),
    "name": ("numbers", {"md": lambda text: text.replace("Q", "X")}),
    "noise": ("numbers", {"md": swap("mean = scaled(Q).mean()", "mean = scaled(Q).mean() * (1 + 1e-9)")}),
    "last unit": ("numbers", {"yml": swap("0.9167", "0.9168")}),
    "inside the tolerance": ("numbers", {"md": swap("0.305", "0.314")}),
    "paragraph": ("numbers", {"md": swap("半分にします。", "半分にします。\n\n段落が増えて、行がずれます。")}),
    "CRLF": ("numbers", {"md": lambda text: text.replace("\n", "\r\n")}),
    "YAML": ("numbers", {"yml": lambda text: yaml.safe_dump(yaml.safe_load(text), default_flow_style=True)}),
    "zeros": ("numbers", {"yml": swap("測定 0.305", "測定  0.3050")}),
    "look of the figure": (
        "figure",
        {
            "md": swap(
                "\nplot\n", "\nplot.figure.set_size_inches(3, 2)\nplot.figure.axes[0].lines[0].set_linewidth(4)\nplot\n"
            )
        },
    ),
    "prose that agrees": (
        "numbers",
        {
            "md": end(
                "値は0.9、0.92、0.917、０．９１６７、$0.917$、端の0.31です。",
                "Python 3.12、NumPy 2.4.6、furo 2025.12.19、PyTorch 2.13、CC BY 4.0、{cite:t}`toy2017`の3.2節と3.2.1節、`0.111`、3点、12%。",
                "```bash\npip install nox\n```",
                "```{literalinclude} ../attention_book/toy.py\n```",
            )
        },
    ),
}

SLOW_LINE = 'import time\nprint("終", end="")\ntime.sleep(0.5)\nprint("わり")'


def slug(name):
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def mutate(book, mutations):
    for name, (page, edits, *_) in mutations.items():
        for suffix, folder in (("md", book.docs), ("yml", book.expected)):
            text = (folder / f"{page}.{suffix}").read_text(encoding="utf-8")
            edit = edits.get(suffix, str)
            if edit:
                (folder / f"{slug(name)}.{suffix}").write_bytes(edit(text).encode())


@pytest.fixture(scope="session")
def caught(accepted, tmp_path_factory):
    """The book of faults and drifts, its first build, and a second one after which nothing has changed."""
    book = accepted.copy(tmp_path_factory.mktemp("caught") / "book")
    (book.docs / "curve.png").write_bytes(b"")
    mutate(book, {"slow line": ("errors", {"md": swap('print("終わり")', SLOW_LINE)})})
    mutate(book, DRIFTS | {"faults": ("numbers", {"md": end(*(block for block, _ in FAULTS.values()))})})
    # the second without -W: the gate is red by itself
    return book, book.build("-E", "-a", "-W", "-j", "2"), book.build("-j", "2")


@pytest.fixture(scope="session")
def quiet(accepted, tmp_path_factory):
    book = accepted.copy(tmp_path_factory.mktemp("quiet") / "book")
    mutate(book, QUIET)
    return book.build("-E", "-a", "-W", "-j", "2"), book.build("-W", "-j", "2")


def lines_of(text, block):
    """The lines of a block of a page."""
    first = text[: text.index(block)].count("\n") + 1
    return range(first, first + block.count("\n") + 1)


def cell_around(text, marker):
    start = text.rindex("```{code-cell}", 0, text.index(marker))
    return text[start : text.index("\n```", text.index(marker)) + 4]


def test_control(accepted, tmp_path):
    book = accepted.copy(tmp_path / "book")
    for options in (["-E", "-a", "-W"], ["-W"]):
        run = book.build(*options)
        assert (run.code, run.warnings) == (0, []), run.text


@pytest.mark.parametrize("name", FAULTS)
def test_fault(caught, name):
    book, *runs = caught
    block, message = FAULTS[name]
    lines = lines_of((book.docs / "faults.md").read_text(encoding="utf-8"), block)
    for run in runs[: 1 if name in LOUD else 2]:
        found = run.of("faults")
        assert run.code != 0
        assert any(line in lines and re.search(message, said) for line, said in found), (lines, found)


@pytest.mark.parametrize("name", DRIFTS)
def test_drift(caught, name):
    book, *runs = caught
    _, edits, marker, message = DRIFTS[name]
    page = slug(name) if edits.get("md", str) else None
    lines = [0]  # the page has no such line any more
    if marker:
        text = (book.docs / f"{page}.md").read_text(encoding="utf-8")
        lines = lines_of(text, cell_around(text, marker))
    for run in runs:
        found = run.of(page)
        assert run.code != 0
        assert any(line in lines and re.search(message, said) for line, said in found), (lines, found)


def test_no_alarm_beside_the_mutations(caught):
    named = {page for page, _, _ in caught[1].warnings}
    assert named - {slug(name) for name in [*DRIFTS, "faults", "slow line"]} <= {None}


def test_a_line_that_took_long(caught):
    assert caught[1].of("slow-line") == []


@pytest.mark.parametrize("name", QUIET)
def test_quiet(quiet, name):
    for run in quiet:
        assert run.of(slug(name)) == []


def test_quiet_is_green(quiet):
    for run in quiet:
        assert (run.code, run.warnings) == (0, []), run.text


def test_package(accepted, tmp_path):
    book = accepted.copy(tmp_path / "book")
    book.drop("figure", "errors")
    assert book.build("-W", mode="live").code == 0
    book.edit("attention_book/toy.py", "SCALE = 0.5", "SCALE = 0.501")
    live = book.build(mode="live")  # from the cache, but never from a stale one
    assert live.code == 0
    for run in (live, book.build("-E", "-a", "-W"), book.build()):
        assert {line for line, said in run.of("numbers") if OUTPUT in said} >= {13, 24}, run.text
        assert run is live or run.code != 0


def test_accept(accepted, tmp_path):
    book = accepted.copy(tmp_path / "book")
    mutate(book, {"stderr": ("errors", {"md": end(cell("import sys\nsys.stderr.write('x');"))})})
    mutate(book, {"not run": ("errors", {"md": swap("file_format: mystnb\n", "")})})
    book.edit("docs/errors.md", "print([3", "print([3][5")
    book.edit("docs/numbers.md", "個数", "総数")
    book.edit("docs/figure.md", "0.25", "0.26")
    book.edit("docs/_expected/numbers.yml", "測定 0.305", "測定   0.3050")
    (book.expected / "gone.yml").write_text("[]\n", encoding="utf-8")
    old = {path.stem: path.read_bytes() for path in book.expected.iterdir()}

    def changed():
        now = {path.stem: path.read_bytes() for path in book.expected.iterdir()}
        return {page for page in old | now if old.get(page) != now.get(page)}

    unknown = book.build("-E", "-a", "-W", "-q", "-j", "2", mode="accept", pages="numbrs")
    assert unknown.code != 0
    assert "ページ numbrs はありません。あるのは errors、figure、index、not-run、numbers、" in unknown.text
    assert changed() == set()

    assert book.build("-W", "-q", mode="accept", pages="figure").code == 0
    assert changed() == {"figure"}

    run = book.build("-W", "-q", mode="accept")
    assert run.code != 0
    assert changed() == {"figure", "numbers", "gone"}
    assert not (book.expected / "gone.yml").exists()
    assert {page for page, _, said in run.warnings if "受け入れていません" in said} == {"errors", "stderr"}
    assert any("最後まで実行されていません" in said for line, said in run.of("errors") if line)
    want = old["numbers"].decode().replace("個数", "総数")
    assert (book.expected / "numbers.yml").read_text(encoding="utf-8") == want  # the other cells keep their text


@pytest.mark.parametrize("step", ["write_text", "replace"])
def test_killed_write_leaves_the_old_file(monkeypatch, tmp_path, step):
    path = tmp_path / "folder" / "page.yml"
    gate.write(path, [[{"stream": "0.5\n1"}]])
    old = path.read_bytes()

    def killed(target, *_, **__):
        if step == "write_text":
            with open(target, "wb") as file:
                file.write(b"- - st")
        raise KeyboardInterrupt

    monkeypatch.setattr(*((gate.Path, "write_text") if step == "write_text" else (gate.os, "replace")), killed)
    with pytest.raises(KeyboardInterrupt):
        gate.write(path, [[{"stream": "0.6\n2"}]])
    assert path.read_bytes() == old
    assert yaml.safe_load(old) == [[{"stream": "0.5\n1"}]]
