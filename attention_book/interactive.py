"""読者が動かせる図の、動かす前の姿：ページで計算した数の表です。"""

from html import escape

from attention_book._inputs import as_floating

STILL = "<figcaption>この図は、サイトのページを、JavaScriptの動くブラウザーで開くと動かせます。</figcaption>"


class Interactive:
    """ページで計算した数の表を並べた図。サイトでは、同じ名前のスクリプトが、この表を読んで動かします。

    スクリプトが動かない場所（印刷、ノートブック）では、表のまま読めます。動かせる場所を、表の下に書きます。

    Parameters
    ----------
    name : str
        図の名前。``docs/_static/figures/<name>.js`` が動かします。
    **tables : str
        :func:`table` の結果。スクリプトは、引数の名前で表を探します。

    Examples
    --------
    >>> Interactive("by-hand", weights=table("重み", [[1.0]], rows="クエリ", columns="キー"))
    動かせる図 by-hand：weights
    """

    def __init__(self, name, **tables):
        self.name, self.tables = name, tables

    def __repr__(self):
        return f"動かせる図 {self.name}：{'、'.join(self.tables)}"

    def _repr_html_(self):
        tables = [html.replace("<table", f'<table data-table="{name}"', 1) for name, html in self.tables.items()]
        return "\n".join([f'<figure class="interactive" data-figure="{self.name}">', *tables, STILL, "</figure>"])


def table(caption, values, *, rows, columns, digits=3, heat=False):
    """数の行列を、見出しの付いたHTMLの表にします。

    Parameters
    ----------
    caption : str
        表の題。
    values : array_like
        形 ``(m, n)`` の数。
    rows, columns : str or sequence of str
        行と列の見出し。文字列を1つ渡すと、後ろに1からの番号を付けます。
    digits : int, default 3
        小数点より下の桁数。図が計算に使う数は、この桁で書き切れるものにします。
    heat : bool, default False
        Trueなら、0から1の数だけ、ます目を塗ります。

    Returns
    -------
    str
        HTML。:class:`Interactive` に渡します。

    Raises
    ------
    ValueError
        `values` が2次元でないとき、見出しの数が合わないとき。

    Examples
    --------
    >>> print(table("重み", [[0.25, 0.75]], rows="クエリ", columns=["猫", "犬"], digits=2))
    <table><caption>重み</caption>
    <thead><tr><td></td><th scope="col">猫</th><th scope="col">犬</th></tr></thead>
    <tbody>
    <tr><th scope="row">クエリ1</th><td>0.25</td><td>0.75</td></tr>
    </tbody></table>
    """
    values = as_floating("values", values)
    if values.ndim != 2:
        raise ValueError(f"values は2次元にしてください: 形 {values.shape}。")
    rows, columns = (_names(*pair) for pair in (("rows", rows, values.shape[0]), ("columns", columns, values.shape[1])))
    head = "".join(f'<th scope="col">{name}</th>' for name in columns)
    lines = [f"<table><caption>{escape(caption)}</caption>", f"<thead><tr><td></td>{head}</tr></thead>", "<tbody>"]
    for name, row in zip(rows, values, strict=True):
        cells = (f"<td{_shade(x) if heat else ''}>{x:z.{digits}f}</td>" for x in row)
        lines.append(f'<tr><th scope="row">{name}</th>{"".join(cells)}</tr>')
    return "\n".join([*lines, "</tbody></table>"])


def _shade(x):
    return f' style="--shade:{x:.3f}"'


def _names(name, names, size):
    names = [f"{names}{n}" for n in range(1, size + 1)] if isinstance(names, str) else [str(x) for x in names]
    if len(names) != size:
        raise ValueError(f"{name} は {size} 個にしてください: {len(names)} 個が来ました。")
    return [escape(x) for x in names]
