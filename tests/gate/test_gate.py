"""Every change that must be caught is, with page and line and twice; what must not alarm does not.

Each mutation is a page of its own in one book, so that one build judges them all.
"""

import json
import re

import gate
import pytest
import yaml
from machines import OTHER_MACHINE


def cell(code, *options):
    return "\n".join(["```{code-cell} ipython3", *options, code, "```"])


def swap(old, new):
    def edit(text):
        assert text.count(old) == 1, f"{text.count(old)} times {old!r}"
        return text.replace(old, new)

    return edit


def end(*blocks):
    return lambda text: "\n\n".join([text.rstrip("\n"), *blocks]) + "\n"


def picture(code='line_plot([1], {"a": [1]}, xlabel="x", ylabel="y")', options=""):
    return cell(
        f"from attention_book.figures import line_plot\n{code}", *([f"---\nmystnb: {options}\n---"] * bool(options))
    )


# A number before a name is the one in the list of the design: 43 changes that must be caught, 20 that must not alarm.

# What no page may hold, whatever was accepted: (block of the page, message). They stand on one page.
FAULTS = {
    "19 stderr": (cell('import sys\nprint("警告", file=sys.stderr)'), "警告を出しました.*\n警告"),
    "warning": (cell("import warnings\nwarnings.warn('古い')"), "警告を出しました.*\n.*UserWarning: 古い"),
    "20 division by zero": (cell("print(np.array([1.0]) / 0)"), "警告を出しました.*\n(.*\n)*.*divide by zero"),
    "warning before an exception": (
        cell("import warnings\nwarnings.warn('古い形')\nraise ValueError(1)", ":tags: [raises-exception]"),
        "警告を出しました.*\n.*UserWarning: 古い形",
    ),
    "hidden warning": (cell("import sys\nsys.stderr.write('x');", ":tags: [remove-stderr]"), "警告を隠さないで"),
    "21 address": (cell("object()"), "番地があります: '0x"),
    "path": (cell('print("read /home/me/book")'), "パスがあります: '/home/me"),
    "path of a URL": (cell('print("file:///home")'), "パスがあります: 'file:///h"),
    "path of Windows": (cell(r'print(r"C:\Users\me")'), r"パスがあります: 'C:\\\\U"),
    "other path of Windows": (cell('print("C:/Users/me")'), "パスがあります: 'C:/U"),
    "carriage return": (cell(r'print("10%\r\n20%")'), "復帰文字があります"),
    "elided array": (cell("print(np.arange(2000))"), r"省略された配列（\.\.\.）があります"),
    "hidden cell": (cell("object()", ":tags: [hide-output]"), "番地があります"),
    "22 skip-execution": (cell("x = 1", ":tags: [skip-execution]"), "最後まで実行されていません"),
    "figure without numbers": (
        cell(
            "import matplotlib.pyplot as plt\nplt.plot([1, 2]);",
            "---\nmystnb: {image: {alt: 右へ上がる折れ線です。}}\n---",
        ),
        "数の要約がありません",
    ),
    "SVG output": (
        cell("from IPython.display import SVG\nSVG('<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>')"),
        "数の要約がありません",
    ),
    "figure without alt": (picture(), "図の代替テキスト.*: ''"),
    "caption": (
        picture(options="{image: {alt: 1つだけの点の図です。}, figure: {caption: 値は0.776です。}}"),
        "本文の数 0.776 は",
    ),
    "alt in English": ("![a curve that falls](curve.png)", "図の代替テキスト.*: 'a curve that falls'"),
    "short alt": ("![折れ線](curve.png)", "図の代替テキスト.*: '折れ線'"),
    "number in alt": ("![値は0.777まで下がる折れ線です。](curve.png)", "数 0.777 は"),
    "35 number in the text": ("ここは段落です。\n値は 0.777 です。", "本文の数 0.777 は"),
    "42 text that is out of date": ("平均は0.918でした。", "本文の数 0.918 は"),  # it is 0.917
    "number of a figure only": (
        cell("from IPython.display import HTML\nHTML('<figure data-figure=\"f\"><td>0.7771</td></figure>')")
        + "\n\n値は0.7771です。",
        "本文の数 0.7771 は",
    ),
    "glued to Japanese": ("値は0.7771です。", "本文の数 0.7771 は"),
    "full width": ("値は０．７８１です。", "本文の数 0.781 は"),
    "circled": ("値は⓪.⑦⑧①です。", "本文の数 0.781 は"),
    "minus sign": ("値は\u22120.917です。", "本文の数 -0.917 は"),
    "minus": ("値は-0.917です。", "本文の数 -0.917 は"),
    "plus": ("値は+0.7772です。", "本文の数 0.7772 は"),
    "thousands": ("値は1,234.6です。", "本文の数 1234.6 は"),
    "exponent": ("値は1.6e-3です。", "本文の数 1.6e-3 は"),
    "exponent alone": ("値は2e-3です。", "本文の数 2e-3 は"),
    "power of ten": ("値は1.6×10⁻³です。", "本文の数 1.6×10.-3 は"),
    "power of ten in maths": (r"値は$1.6 \times 10^{-3}$です。", r"本文の数 1.6 .times 10.\{-3\} は"),
    "unit": ("大きさは0.7773GBです。", "本文の数 0.7773 は"),
    "symbol in maths": ("値は$0.7774x$です。", "本文の数 0.7774 は"),
    "without a zero": ("値は.7775です。", "本文の数 .7775 は"),
    "heading": ("### 見出し0.778", "本文の数 0.778 は"),
    "table": ("| a | b |\n|---|---|\n| 1 | 0.779 |", "本文の数 0.779 は"),
    "header of a table": ("| a | 0.7791 |\n|---|---|\n| 1 | 2 |", "本文の数 0.7791 は"),
    "title of a table": (":::{table} 題0.7792\n| a |\n|---|\n| 1 |\n:::", "本文の数 0.7792 は"),
    "list": ("- 値\n- 値は0.780", "本文の数 0.780 は"),
    "quotation": ("> 値は0.7801", "本文の数 0.7801 は"),
    "footnote": ("脚注です[^1]。\n\n[^1]: 値は0.7802です。", "本文の数 0.7802 は"),
    "emphasis and link": ("**太字0.782**", "本文の数 0.782 は"),
    "inline maths": ("値は$x = 0.783$です。", "本文の数 0.783 は"),
    "display maths": ("$$\ny = 0.784\n$$", "本文の数 0.784 は"),
    "SVG": ("```{raw} html\n<svg><text>0.785</text></svg>\n```", "本文の数 0.785 は"),
    "SVG that is read out": (
        '```{raw} html\n<svg role="img" aria-label="値は0.7851">\n</svg>\n```',
        "本文の数 0.7851 は",
    ),
    "admonition": (":::{admonition} 題\n中は0.786です。\n:::", "本文の数 0.786 は"),
    "title of an admonition": (":::{admonition} 題0.7861\n中です。\n:::", "本文の数 0.7861 は"),
    "definition": ("用語\n: 値は0.787", "本文の数 0.787 は"),
    "comment in a cell": (cell("x = 1.5  # 前は1.75でした"), "コメントの数 1.75 は"),
    "pasted line": ("```text\n個数 6\n```", "コードブロックに出力を貼らず.*: '個数 6'"),
    "pasted number": ("```\n0.917\n```", "コードブロックに出力を貼らず.*: '0.917'"),
    "listing that no cell runs": ("```python\nx = 1\n```", "Pythonのコードは、code-cell で"),
    "listing of another file": (
        "```{literalinclude} listing.py\n:pyobject: scaled\n```",  # a copy of lines of the package, outside of it
        "listing.py から見せたコードが、.*違います",
    ),
    "listing with a line of its own": (
        "```{literalinclude} ../attention_book/toy.py\n:pyobject: scaled\n:append: '    return 2 * x'\n```",
        "toy.py から見せたコードが、.*違います",
    ),
    "listing with lines left out": (
        "```{literalinclude} ../attention_book/toy.py\n:lines: 1, 5\n```",
        "toy.py から見せたコードが、.*違います",
    ),
    "glue of another page": ("{glue}`formats.md::far`です。", "ほかのページの値 far は"),
    "undefined label": ("{ref}`nowhere`を見てください。", "undefined label: 'nowhere'"),
}
LOUD = {"undefined label"}  # Sphinx says it while it writes, and a second build has nothing to write

OUTPUT = "の出力が変わりました"
LAST = cell('print([3, 1, 2])\nprint("終わり")')
SWAP = "W[1, 5], W[1, 6] = W[1, 6], W[1, 5]"
# Changes of one page, each on a copy of it: (page, edits of its files, text in the block whose line is named or None,
# message). None as an edit deletes the file; "py" and "csv" are the module of the package and its data.
DRIFTS = {
    "01 constant of the package": (
        "attention",
        {"py": swap("= 0.5", "= 0.5005")},
        "尺度",
        r"-.*0\.5000\n(.*\n)*\+.*0\.5005",
    ),
    "02 scale left out": ("attention", {"py": swap(" / np.sqrt(q.shape[-1])", "")}, "W.round", OUTPUT),
    "03 axis of softmax": ("attention", {"py": swap("shifted.sum(axis=-1", "shifted.sum(axis=-2")}, "W.round", OUTPUT),
    "04 exception": (
        "attention",
        {"py": swap("k.T", "k")},
        "W.round",
        "セル1は最後まで実行されていません(.*\n)+ValueError: matmul",
    ),
    "05 seed": ("attention", {"md": swap("default_rng(7)", "default_rng(8)")}, "W.round", OUTPUT),
    "06 print format": ("numbers", {"md": swap(".4f", ".3f")}, "個数", OUTPUT),
    "more decimals": ("numbers", {"md": swap(".4f", ".6f")}, "個数", OUTPUT),
    "07 deleted cell": (
        "errors",
        {"md": swap(LAST, "")},
        None,
        "コードセルの数が 2 から 1 に",
    ),
    "removed cell": ("numbers", {"md": swap("hide-cell", "remove-cell")}, None, "コードセルの数が 6 から 5 に"),
    "08 added cell": ("errors", {"md": end(cell("x = 1"))}, None, "コードセルの数が 2 から 3 に"),
    "09 lost print": ("numbers", {"md": swap('print(f"個数 {Q.size}")', "Q.size;")}, "Q.size;", OUTPUT),
    "10 lost semicolon": (
        "numbers",
        {"md": swap("Q.size, display=False)", "Q.size, display=False);\nQ.size")},
        "glue(",
        OUTPUT,
    ),
    "11 series of a figure": (
        "figure",
        {"md": swap("0.25]}", '0.25], "別": [1, 2, 3]}')},
        "line_plot(",
        OUTPUT + r"(.*\n)+\+ .*線「別」",
    ),
    "figure datum": ("figure", {"md": swap("0.25", "0.26")}, "line_plot(", OUTPUT),
    "figure order": ("figure", {"md": swap("0.9, 0.5", "0.5, 0.9")}, "line_plot(", OUTPUT),
    "12 axis label": ("figure", {"md": swap("歩数", "回数")}, "line_plot(", OUTPUT),
    "13 range of colours": (
        "figure",
        {"md": swap("\nheat\n", "\nheat.figure.axes[0].images[0].set_clim(0, 2)\nheat\n")},
        "heatmap(W)",
        OUTPUT,
    ),
    "14 lost figure": ("figure", {"md": swap("\nplot\n", "\nplot;\n")}, "line_plot(", OUTPUT),
    "15 transposed": ("attention", {"md": swap("W.round(3)", "W.T.round(3)")}, "W.T", OUTPUT),
    "16 colours": (
        "figure",
        {"md": swap("\nheat\n", '\nheat.figure.axes[0].images[0].set_cmap("Reds")\nheat\n')},
        "heatmap(W)",
        OUTPUT,
    ),
    "17 figure datum by 0.1 percent": ("figure", {"md": swap("0.25", "0.25025")}, "line_plot(", OUTPUT),
    "annotation": ("figure", {"md": swap("min", "max")}, "line_plot(", OUTPUT),
    "18 HTML table": ("formats", {"md": swap("<td>0.25", "<td>0.26")}, "<td>", OUTPUT),
    "header of the HTML table": ("formats", {"md": swap("<th>値", "<th>量")}, "<td>", OUTPUT),
    "HTML beside a figure": ("formats", {"md": swap("<b>0.25", "<b>0.26")}, "<b>", OUTPUT),
    "23 removed output": ("numbers", {"md": swap("hide-cell", "remove-output")}, "remove-output", OUTPUT),
    "24 edited expectation": ("numbers", {"yml": swap("0.9167", "0.9169")}, "個数", OUTPUT),
    "cut expectation": ("numbers", {"yml": swap("      個数 6\n", "")}, "個数", OUTPUT),
    "25 deleted expectation": ("errors", {"yml": None}, None, "コードセルの数が 0 から 2 に"),
    "damaged expectation": ("errors", {"yml": lambda _: "- - stream: 0.5\n"}, None, "ファイルが壊れています"),
    "26 deleted page": ("errors", {"md": None}, None, "対応するページのない期待出力です: 26-deleted-page.yml"),
    "27 learning rate": ("torch", {"md": swap("0.05 *", "0.051 *")}, "randn(40", OUTPUT),
    "28 seed of torch": ("torch", {"md": swap("manual_seed(3)", "manual_seed(4)")}, "randn(40", OUTPUT),
    "29 steps": ("torch", {"md": swap("range(20)", "range(21)")}, "randn(40", OUTPUT),
    "30 float32": (
        "attention",
        {"md": swap("weights(Q, K)\n", "weights(Q, K).astype(np.float32)\n")},
        "W.round",
        OUTPUT,
    ),
    "31 print options": (
        "numbers",
        {"md": swap("\nQ =", "\nnp.set_printoptions(linewidth=10)\nQ =")},
        "print(scaled",
        OUTPUT,
    ),
    "32 repr": ("numbers", {"md": swap("\nmean\n", "\nfloat(mean)\n")}, "\nfloat", OUTPUT),  # in a cell that is folded
    "33 sign": ("numbers", {"md": swap("{mean:.4f}", "{-mean:.4f}")}, "個数", OUTPUT),
    "34 time-out": (
        "errors",
        {
            "md": lambda t: swap("print([3", "import time; time.sleep(60); print([3")(
                swap("---\n\n#", "mystnb: {execution_timeout: 2}\n---\n\n#")(t)
            )
        },
        "time.sleep",
        "最後まで実行されていません",
    ),
    "36 new page": (
        "errors",
        {"md": swap("# 例外のページ", "# 新しいページ"), "yml": None},
        None,
        "コードセルの数が 0 から 2 に",
    ),
    "37 order of cells": (
        "errors",
        {"md": lambda t: swap("# 例外のページ\n", f"# 例外のページ\n\n{LAST}\n")(swap(LAST, "")(t))},
        "終わり",
        OUTPUT,
    ),
    "order of printed numbers": ("errors", {"md": swap("[3, 1, 2]", "[1, 3, 2]")}, "終わり", OUTPUT),
    "38 Markdown output": ("formats", {"md": swap("**0.75**", "**0.76**")}, 'Markdown("', OUTPUT),
    "link in Markdown output": ("formats", {"md": swap("example.org/a", "example.org/b")}, 'Markdown("', OUTPUT),
    "LaTeX output": ("formats", {"md": swap("0.375", "0.376")}, 'Latex("', OUTPUT),
    "39 print options of torch": (
        "torch",
        {"md": swap("import torch\n", "import torch\ntorch.set_printoptions(precision=2)\n")},
        "randn(40",
        OUTPUT,
    ),
    "40 two values of a figure swapped": (
        "figure",
        {"md": swap("\nheat =", f"\n{SWAP}\nheat =")},
        "heatmap(W)",
        OUTPUT,
    ),
    "41 surplus raises-exception": (
        "errors",
        {"md": swap("print([", ":tags: [raises-exception]\nprint([")},
        "print([",
        "raises-exception",
    ),
    "43 glue": ("numbers", {"md": swap("{mean:.2f}", "{mean:.1f}")}, None, r"セル6の出力が(.*\n)+\+- glue: '0.9'"),
    "glued object": ("numbers", {"md": swap("Q.size, d", "7, d")}, None, OUTPUT),
    "glued maths": ("formats", {"md": swap("x + 1", "x + 2")}, None, OUTPUT),
    "number of the page": (
        "numbers",
        {"md": swap("4.0]", "4.1]")},
        "print(scaled",
        r"セル1の出力が(.*\n)+-.*2\. (.*\n)+\+.*2\.05",
    ),
    "data file": ("attention", {"csv": swap("0,3,1", "0,4,1")}, "尺度", r"\[1 3 3\](.*\n)*\+.*\[1 4 3\]"),
    "integer": ("numbers", {"md": swap("{Q.size}", "{Q.size + 1}")}, "個数", OUTPUT),
    "0.1 percent": ("numbers", {"md": swap("{mean:.4f}", "{mean * 1.001:.4f}")}, "個数", OUTPUT),
    "word": ("numbers", {"md": swap("個数", "総数")}, "総数", OUTPUT),
    "outside the tolerance": ("numbers", {"md": swap("0.305", "0.316")}, "測定", OUTPUT),
    "exception in the page": (
        "numbers",
        {"md": swap("Q @ Q.T", "Q @ Q")},
        "print(scaled",
        "実行されていません(.*\n)+ValueError",
    ),
    "exception without output": (
        "numbers",
        {
            "md": lambda t: swap('print(f"測定 {0.305}")', "1 / 0")(
                swap(":tolerance: 0.01", ":tags: [remove-output]")(t)
            )
        },
        None,
        "出力を消したセルが、最後まで実行されていません",
    ),
    "another exception": ("errors", {"md": swap("(2, 3)", "(3, 2)")}, "raise Val", OUTPUT),
    "another kind of exception": ("errors", {"md": swap("raise ValueError", "raise TypeError")}, "raise Type", OUTPUT),
    "exception of NumPy": ("attention", {"md": swap("Q @ K\n", "K @ Q\n")}, "K @ Q", OUTPUT),
    "exception that is gone": ("errors", {"md": swap("raise ValueError", "ValueError")}, "ValueError", OUTPUT),
    "file_format": ("errors", {"md": swap("file_format: mystnb\n", "")}, None, "コードセルの数が 2 から 0 に"),
    "nested cell": (
        "errors",
        {"md": swap("```{code-cell} ipython3\nprint", ":::{note}\n```{code-cell} ipython3\nprint")},
        None,
        "コードセルの数が 2 から 1 に",
    ),
}

LOOK = "plot.figure.set_size_inches(3, 2)\nplot.figure.axes[0].lines[0].set_linewidth(4)"
QUIET = {
    "01 text": ("numbers", {"md": swap("半分にします。", "全部を半分にします。")}),
    "02 comment": ("numbers", {"md": swap("mean = ", "# 平均\nmean = ")}),
    "03 name": ("numbers", {"md": lambda text: text.replace("Q", "X")}),
    "04 softmax without the shift": ("attention", {"py": swap("x - x.max(axis=-1, keepdims=True)", "x")}),
    "05 einsum": (
        "attention",
        {"py": swap("q @ k.T / np.sqrt(q.shape[-1])", 'np.einsum("ld,sd->ls", q, k) / np.sqrt(q.shape[-1])')},
    ),
    "06 docstring": ("attention", {"py": swap("Shift by the largest score first.", "The largest score goes first.")}),
    "07 size and width of lines": ("figure", {"md": swap("\nplot\n", f"\n{LOOK}\nplot\n")}),
    "08 font": (
        "figure",
        {"md": swap("\nplot =", '\nimport matplotlib\nmatplotlib.rcParams["font.family"] = "serif"\nplot =')},
    ),
    "09 style of YAML": (
        "numbers",
        {"yml": lambda text: yaml.safe_dump(yaml.safe_load(text), default_flow_style=True)},
    ),
    "13 CRLF": ("numbers", {"md": lambda text: text.replace("\n", "\r\n")}),
    "14 page without code": ("plain", {"md": lambda t: swap("(plain)=\n", "")(swap("```{bibliography}\n```", "")(t))}),
    "15 paragraph": ("numbers", {"md": swap("半分にします。", "半分にします。\n\n段落が増えて、行がずれます。")}),
    "16 zeros": ("numbers", {"yml": swap("測定 0.305", "測定  0.3050")}),
    "noise": ("numbers", {"md": swap("mean = scaled(Q).mean()", "mean = scaled(Q).mean() * (1 + 1e-9)")}),
    "last unit": ("numbers", {"yml": swap("0.9167", "0.9168")}),
    "inside the tolerance": ("numbers", {"md": swap("0.305", "0.314")}),
    "tolerance with an exponent": ("numbers", {"md": swap(":tolerance: 0.01", "---\ntolerance: 1e-2\n---")}),
    "text that agrees": (
        "numbers",
        {
            "md": end(
                "値は0.9、0.92、0.917、０．９１６７、$0.917$、$0.917x$、+0.917、端の0.31です。",
                cell('print(f"{1234.5:,} {-0.0015:.1e} 2048.5")'),
                "桁が多ければ1,234.5か1234.5、2048.5 GB、2,048.5GBです。",
                r"小さければ-1.5e-3、-0.0015、−1.5×10⁻³、$-1.5\times 10^{-3}$、$-1.5 \times 10^{-3}$です。",
                "Python 3.12、NumPy 2.4.6、furo 2025.12.19、PyTorch 2.13、CC BY 4.0、{cite:t}`toy2017`の3.2節と3.2.1節、`0.111`、3点、12%。",
                cell("x = 0.123  # 0.123は、コードの数。0.92は、出力の数"),
                "```bash\npip install nox\n```",
                "```{literalinclude} ../attention_book/toy.py\n```",
                "```{literalinclude} ../attention_book/toy.py\n:pyobject: softmax\n:start-at: shifted =\n:dedent: 4\n```",
            ),
            "yml": swap("- - glue", "- - stream: 1,234.5 -1.5e-03 2048.5\n- []\n- - glue"),
        },
    ),
}

SLOW_LINE = 'import time\nprint("終", end="")\ntime.sleep(0.5)\nprint("わり")'


def slug(name):
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def mutate(book, mutations):
    """Write each mutation as a page of its own, with a module of its own where it changes the package."""
    package = book.root / "attention_book"
    for name, (page, edits, *_) in mutations.items():
        module = f"toy_{slug(name).replace('-', '_')}" if edits.keys() & {"py", "csv"} else "toy"
        files = {"md": (book.docs, page, slug(name)), "yml": (book.expected, page, slug(name))}
        if module != "toy":
            files |= {"py": (package, "toy", module), "csv": (package, "toy", module)}
        for suffix, (folder, old, new) in files.items():
            if not (folder / f"{old}.{suffix}").exists():
                continue  # a page without cells has no expectation
            text = (folder / f"{old}.{suffix}").read_text(encoding="utf-8")
            if edit := edits.get(suffix, str):
                text = edit(text).replace("attention_book.toy ", f"attention_book.{module} ")
                (folder / f"{new}.{suffix}").write_bytes(text.replace("/toy.py", f"/{module}.py").encode())


@pytest.fixture(scope="session")
def caught(accepted, tmp_path_factory):
    """The book of faults and drifts, its first build, and a second one after which nothing has changed."""
    book = accepted.copy(tmp_path_factory.mktemp("caught") / "book")
    mutate(book, {"slow line": ("errors", {"md": swap('print("終わり")', SLOW_LINE)})})
    mutate(book, DRIFTS | {"faults": ("numbers", {"md": end(*(block for block, _ in FAULTS.values()))})})
    # the second without -W: the gate is red by itself
    return book, book.build("-E", "-a", "-W", "-j", "2"), book.build("-j", "2")


@pytest.fixture(scope="session")
def quiet(accepted, tmp_path_factory):
    book = accepted.copy(tmp_path_factory.mktemp("quiet") / "book")
    mutate(book, QUIET)
    return book.build("-E", "-a", "-W", "-j", "2"), book.build("-W", "-j", "2")


# What differs on another machine: (variables of the build, expression in a page, its value there).
MACHINES = {
    "12 threads": ("torch.get_num_threads()", 2),
    "17 TZ": ("time.tzname[0]", "JST"),
    "18 PYTHONHASHSEED": ("os.environ['PYTHONHASHSEED']", "1"),
    "19 CPU of torch": ("torch.backends.cpu.get_cpu_capability()", "DEFAULT"),
    "19 CPU of NumPy": ("[name for name in CPU.__cpu_dispatch__ if CPU.__cpu_features__[name]]", []),
    "locale": ("locale.setlocale(locale.LC_CTYPE)", "C.UTF-8"),
}
BUILDS = ["10 -j 2", "11 force and cache", "20 folder of the doctrees"]


@pytest.fixture(scope="session")
def elsewhere(accepted, tmp_path_factory):
    """The book on another machine, and what its kernels saw there."""
    book = accepted.copy(tmp_path_factory.mktemp("elsewhere") / "book")
    facts = ", ".join(f"{name!r}: {expression}" for name, (expression, _) in MACHINES.items())
    code = f"import json, locale, os, time\nfrom pathlib import Path\n\nimport torch\nfrom numpy._core import _multiarray_umath as CPU\n\nPath('facts.json').write_text(json.dumps({{{facts}}}));"
    mutate(book, {"facts": ("errors", {"md": end(cell(code)), "yml": end("- []")})})
    run = book.build("-E", "-a", "-W", "-j", "2", "-d", "_build/elsewhere", **OTHER_MACHINE)
    return book, run, json.loads((book.docs / "facts.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", MACHINES)
def test_another_machine(elsewhere, name):
    _, run, facts = elsewhere
    assert facts[name] == MACHINES[name][1]
    assert (run.code, run.warnings) == (0, []), run.text


def test_10_11_20_builds(elsewhere):
    book, run, _ = elsewhere
    assert run.executed >= 6
    assert (book.root / "_build" / "elsewhere" / "torch.doctree").exists()
    assert not (book.root / "_build" / "doctrees").exists()
    book.drop("facts")
    cold, warm = (book.build("-E", "-W", mode="live") for _ in range(2))
    assert (cold.executed, warm.executed) == (run.executed - 1, 0)
    assert (cold.code, cold.warnings, warm.code, warm.warnings) == (0, [], 0, []), cold.text + warm.text


def test_the_lists_are_whole():
    """Every change of the design's two lists is tried here, by its number."""

    def numbers(*tables):
        return {int(name[:2]) for table in tables for name in table if name[:2].isdigit()}

    assert numbers(FAULTS, DRIFTS) == set(range(1, 44))
    assert numbers(QUIET, MACHINES, BUILDS) == set(range(1, 21))


def lines_of(text, block):
    """The lines of a block of a page."""
    first = text[: text.index(block)].count("\n") + 1
    return range(first, first + block.count("\n") + 1)


def cell_around(text, marker):
    start = text.rindex("```{code-cell}", 0, text.index(marker))
    return text[start : text.index("\n```", text.index(marker)) + 4]


def test_control(accepted, tmp_path):
    book = accepted.copy(tmp_path / "book")
    for options in (["-E", "-a", "-W", "-j", "2"], ["-W"]):
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
    """What the outputs depend on has changed: `live` runs every page again, `check` is red."""
    book = accepted.copy(tmp_path / "book")
    book.drop("figure", "errors", "formats", "torch")
    assert book.build("-W", mode="live").executed == 2
    assert book.build("-E", "-W", mode="live").executed == 0

    # another distribution in the environment
    info = tmp_path / "site" / "toy_dependency-1.0.dist-info"
    info.mkdir(parents=True)
    for version in ("1.0", "1.1"):
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: toy-dependency\nVersion: {version}\n")
        run = book.build(mode="live", PYTHONPATH=str(info.parent))
        assert (run.code, run.executed, run.warnings) == (0, 2, []), run.text

    # the data of the package
    book.edit("attention_book/toy.csv", "0,3,1", "0,4,1")
    run = book.build(mode="live")
    assert (run.code, run.executed) == (0, 2)
    assert [line for line, said in run.of("attention") if OUTPUT in said] == [28], run.text

    # its code
    book.edit("attention_book/toy.py", "SCALE = 0.5", "SCALE = 0.501")
    live = book.build(mode="live")
    assert (live.code, live.executed) == (0, 2)
    for run in (live, book.build("-E", "-a", "-W"), book.build()):
        assert {line for line, said in run.of("numbers") if OUTPUT in said} >= {13, 24}, run.text
        assert run is live or run.code != 0


def test_accept(accepted, tmp_path):
    book = accepted.copy(tmp_path / "book")
    book.drop("attention", "formats", "torch")  # for time
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
    refused = [(page, said) for page, _, said in run.warnings if "受け入れていません" in said]
    assert {page for page, _ in refused} == {"errors", "stderr"}
    assert all(f"もう一度: nox -s accept -- {page}" in said for page, said in refused)
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
