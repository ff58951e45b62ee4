"""本の図。描いた数をそのまま要約として持つので、画素ではなく数で検査できます。"""

import io

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from attention_book._inputs import as_floating

STYLE = {
    "font.family": ["DejaVu Sans", "IPAexGothic"],  # Latin letters first, Japanese by fallback
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "savefig.dpi": 200,  # twice the size on the page, for sharp screens
}


class Plot:
    """ページに出す図1枚。PNGとその表示の大きさ、描いた数の要約（検査に使う文字）を返します。

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        描き終えた図。

    Examples
    --------
    >>> bundle, metadata = heatmap([[1.0, 0.0], [0.5, 0.5]])._repr_mimebundle_()
    >>> sorted(bundle)
    ['image/png', 'text/plain']
    >>> sorted(metadata["image/png"])
    ['height', 'width']
    """

    def __init__(self, figure):
        self.figure = figure

    def _repr_mimebundle_(self, include=None, exclude=None):
        with mpl.rc_context(STYLE):
            drawn = io.BytesIO()
            self.figure.savefig(drawn, format="png", bbox_inches="tight")
        png = io.BytesIO()
        with Image.open(drawn) as image:  # 256 colours are a third of the bytes, and only some pixels of edges change
            image.convert("RGB").quantize(dither=Image.Dither.NONE).save(png, "PNG", optimize=True)
            size = {"width": image.width // 2, "height": image.height // 2}  # the page keeps the room until it is there
        return {"image/png": png.getvalue(), "text/plain": summary(self.figure)}, {"image/png": size}


def heatmap(weights, *, queries=None, keys=None, numbers=True):
    """重みの行列を、行がクエリ、列がキーの図にします。色の範囲はいつも0から1です。

    Parameters
    ----------
    weights : array_like
        形 ``(L, S)`` の重み。0から1の間です。
    queries, keys : sequence of str, optional
        行と列の見出し。省くと1からの番号です。
    numbers : bool, default True
        マス目に数を書くか。Falseにすると、マス目が多くても読める小さな図になります。

    Returns
    -------
    Plot
        セルの最後に置くと、ページに図が出ます。

    Raises
    ------
    ValueError
        `weights` が2次元でないとき、0から1の外の値があるとき、見出しの数が合わないとき。

    Examples
    --------
    >>> print(summary(heatmap([[1.0, 0.0], [0.5, 0.5]]).figure))
    図：軸が1つ
    軸1「」：横「キー」linear、縦「クエリ」linear
      横の目盛り：1 2
      縦の目盛り：1 2
      面 (2, 2) Blues 0から1：1.00000 0.00000 0.500000 0.500000
      文字：1.00 0.00 0.50 0.50
    """
    weights = as_floating("weights", weights)
    if weights.ndim != 2:
        raise ValueError(
            f"weights は2次元 (クエリ, キー) にしてください: 形 {weights.shape}。ヘッドを1つ選んで渡します。"
        )
    if not ((weights >= 0) & (weights <= 1 + 1e-9)).all():
        raise ValueError("weights は0から1の間にしてください。softmaxの前のスコアを渡していませんか。")
    queries = _labels("queries", queries, weights.shape[0])
    keys = _labels("keys", keys, weights.shape[1])
    return _cells(weights, queries, keys, xlabel="キー", ylabel="クエリ", cmap="Blues", low=0, numbers=numbers)


def value_map(values, *, rows, columns, xlabel, ylabel):
    """-1から1の数の表を、0が白、負が赤、正が青の図にします。正弦波の位置を描くのに使います。

    Parameters
    ----------
    values : array_like
        形 ``(m, n)`` の数。-1から1の間です。
    rows, columns : sequence of str
        行と列の見出し。
    xlabel, ylabel : str
        列の方向と、行の方向の名前。

    Returns
    -------
    Plot
        セルの最後に置くと、ページに図が出ます。

    Raises
    ------
    ValueError
        `values` が2次元でないとき、-1から1の外の値があるとき、見出しの数が合わないとき。

    Examples
    --------
    >>> print(summary(value_map([[0.0, -1.0]], rows=["0"], columns=["正弦", "余弦"], xlabel="成分", ylabel="位置").figure))
    図：軸が1つ
    軸1「」：横「成分」linear、縦「位置」linear
      横の目盛り：正弦 余弦
      縦の目盛り：0
      面 (1, 2) RdBu -1から1：0.00000 -1.00000
      文字：0.00 -1.00
    """
    values = as_floating("values", values)
    if values.ndim != 2:
        raise ValueError(f"values は2次元にしてください: 形 {values.shape}。")
    if not (abs(values) <= 1 + 1e-9).all():
        raise ValueError("values は-1から1の間にしてください。")
    rows = _labels("rows", rows, values.shape[0])
    columns = _labels("columns", columns, values.shape[1])
    return _cells(values, rows, columns, xlabel=xlabel, ylabel=ylabel, cmap="RdBu", low=-1, numbers=True)


def line_plot(x, series, *, xlabel, ylabel, xscale="linear"):
    """名前を付けた数の列を、印も線種も違う折れ線にします。

    Parameters
    ----------
    x : array_like
        横軸の値。形 ``(n,)``。
    series : mapping of str to array_like
        凡例の名前から、形 ``(n,)`` の値への対応。
    xlabel, ylabel : str
        軸の名前。単位があれば、ここに書きます。
    xscale : {"linear", "log"}, default "linear"
        横軸の目盛り。"log" は2の累乗で刻みます。

    Returns
    -------
    Plot
        セルの最後に置くと、ページに図が出ます。

    Raises
    ------
    ValueError
        `x` や値が有限でないとき、`x` が1次元でないとき（logでは正でないときも）、`xscale` がほかの値のとき、
        `series` が空のとき、値の数が `x` と合わないとき、名前が凡例に出ない ``_`` で始まるとき。

    Examples
    --------
    >>> print(summary(line_plot([1, 2], {"重み": [0.5, 0.9]}, xlabel="位置", ylabel="値").figure))
    図：軸が1つ
    軸1「」：横「位置」linear、縦「値」linear
      線「重み」横：1.00000 2.00000、縦：0.500000 0.900000
    """
    x = as_floating("x", x)
    if xscale not in ("linear", "log"):
        raise ValueError(f'xscale は "linear" か "log" にしてください: {xscale!r}。')
    if x.ndim != 1 or not np.isfinite(x).all() or (xscale == "log" and (x <= 0).any()):
        raise ValueError(f"x は1次元の有限の数にしてください（logなら正の数）: {x}。")
    if not series or any(name.startswith("_") for name in series):
        raise ValueError(f"series には、_ で始まらない名前を1つ以上付けてください: {list(series)}。")
    markers, lines = "os^Dv", ("-", "--", "-.", ":")
    with _style():
        figure = Figure(figsize=(4.4, 3.2))
        axes = figure.add_subplot()
        for n, (name, y) in enumerate(series.items()):
            y = as_floating(f"「{name}」の値", y)
            if y.shape != x.shape:
                raise ValueError(f"「{name}」の値の形 {y.shape} が、横軸の形 {x.shape} と合いません。")
            if not np.isfinite(y).all():
                raise ValueError(f"「{name}」の値は有限の数にしてください: {y}。描けない点ができます。")
            axes.plot(x, y, marker=markers[n % len(markers)], linestyle=lines[n % len(lines)], label=name)
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        if xscale == "log":
            axes.set_xscale("log", base=2)
        axes.legend(frameon=False)
    return Plot(figure)


def summary(figure):
    """図に描かれた数と文字を、検査と差分のために書き出します。

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        描き終えた図。

    Returns
    -------
    str
        軸の名前、線、面、文字。画素、大きさ、線の太さは含みません。
    """
    lines = [f"図：軸が{len(figure.axes)}つ"]
    for n, axes in enumerate(figure.axes, 1):
        lines.append(
            f"軸{n}「{axes.get_title()}」：横「{axes.get_xlabel()}」{axes.get_xscale()}、縦「{axes.get_ylabel()}」{axes.get_yscale()}"
        )
        if axes.images:
            lines.append("  横の目盛り：" + " ".join(t.get_text() for t in axes.get_xticklabels()))
            lines.append("  縦の目盛り：" + " ".join(t.get_text() for t in axes.get_yticklabels()))
        for image in axes.images:
            low, high = image.get_clim()
            array = image.get_array()
            lines.append(f"  面 {array.shape} {image.get_cmap().name} {low:g}から{high:g}：{_numbers(array)}")
        for line in axes.lines:
            lines.append(
                f"  線「{line.get_label()}」横：{_numbers(line.get_xdata())}、縦：{_numbers(line.get_ydata())}"
            )
        if axes.texts:
            lines.append("  文字：" + " ".join(t.get_text() for t in axes.texts))
    return "\n".join(lines)


def _cells(values, rows, columns, *, xlabel, ylabel, cmap, low, numbers):
    """A matrix from `low` to 1, one coloured cell for each entry, with its number or without."""
    with _style():
        cell = (0.8, 0.6) if numbers else (0.36, 0.33)
        figure = Figure(figsize=(0.9 + cell[0] * len(columns), 0.7 + cell[1] * len(rows)))
        axes = figure.add_subplot()
        axes.imshow(values, vmin=low, vmax=1, cmap=cmap, aspect="auto")
        axes.set_xticks(range(len(columns)), columns)
        axes.set_yticks(range(len(rows)), rows)
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        axes.spines[:].set_visible(False)
        for (i, j), value in np.ndenumerate(values) if numbers else ():
            axes.text(
                j,
                i,
                f"{value:z.2f}",
                ha="center",
                va="center",
                color="white" if abs(value) > 0.7 else "black",
            )
    return Plot(figure)


def _numbers(array):
    """Every number when there are few, otherwise figures that change when any number or their order does."""
    flat = np.asarray(array, dtype=float).ravel()
    if flat.size > 64:
        order = np.cos(np.outer((1, 1.7, 2.9), np.arange(flat.size))) @ flat  # they see two values that swap places
        return f"{flat.size}個、平均・最小・最大・並び {_numbers([flat.mean(), flat.min(), flat.max(), *order])}"
    return " ".join(f"{x:#.6g}" for x in flat)  # always a decimal, which the gate compares as one


def _labels(name, labels, size):
    labels = [str(n) for n in range(1, size + 1)] if labels is None else [str(label) for label in labels]
    if len(labels) != size:
        raise ValueError(f"{name} は {size} 個にしてください: {len(labels)} 個が来ました。")
    return labels


def _style():
    """The style of the book, for one figure only: the reader's own settings stay as they are."""
    with mpl.rc_context():
        import matplotlib_fontja  # noqa: F401  the import registers the font, and would set it globally
    return mpl.rc_context(STYLE)
