"""A checklist: every element of the source lesson is found in the built site, on the page that issue 2 assigns.

Expected texts are the book's own wording. White space does not count, except in the three printed blocks.
"""

import re

import pytest

BLOCKS = {
    "by-hand": """\
attention_lab
scores
[[1. 0. 1.]
 [0. 1. 1.]
 [1. 1. 2.]]
weights
[[0.401 0.198 0.401]
 [0.198 0.401 0.401]
 [0.248 0.248 0.503]]
output
[[0.802 0.599]
 [0.599 0.802]
 [0.752 0.752]]""",
    "masks": """\
mask_lab
[[1.    0.    0.   ]
 [0.289 0.711 0.   ]
 [0.149 0.246 0.605]]""",
    "torch-mha": """\
mha_lab
tokens: (1, 4, 8)
output: (1, 4, 8)
weights: (1, 4, 4)
row0_sum: 1.0""",
}

CODE = {
    "by-hand": [
        "X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0],])",
        "Q = K = V = X",
        "scores = Q @ K.T",
        "scaled_scores = scores / np.sqrt(K.shape[1])",
        "e = np.exp(row - row.max())",
        "return e / e.sum()",
        "weights = np.apply_along_axis(softmax, 1, scaled_scores)",
        "output = weights @ V",
        'print("attention_lab")',
    ],
    "masks": [
        "scores = np.array([[2.0, 1.0, 0.5], [1.2, 2.1, 0.7], [0.8, 1.3, 2.2],])",
        "mask = np.tril(np.ones_like(scores, dtype=bool))",
        "masked_scores = np.where(mask, scores, -np.inf)",
        "weights = np.apply_along_axis(softmax, 1, masked_scores)",
        'print("mask_lab")',
    ],
    "torch-mha": [
        "torch.manual_seed(42)",
        "nn.MultiheadAttention(embed_dim=8, num_heads=2, batch_first=True)",
        "tokens = torch.randn(1, 4, 8)",
        "output, weights = attention(tokens, tokens, tokens)",
        'print("mha_lab")',
        'print("row0_sum:", round(float(weights[0, 0].sum().detach()), 4))',
    ],
}

ROWS = {
    "weighted-lookup": [
        ("役割", "直感", "Attentionでの意味"),
        ("クエリQ", "何を探しているか", "現在のトークンの質問"),
        ("キーK", "各項目が何に合うか", "スコアの計算に使う索引"),
        ("バリューV", "返すべき内容", "実際に混ぜられる情報"),
    ],
    "by-hand": [
        ("手順", "コード", "意味"),
        ("スコア", "Q @ K.T", "各トークンが各トークンと、どれくらい合うか"),
        ("正規化", "softmax(...)", "スコアを、行ごとに合計1の重みに変える"),
        ("混合", "weights @ V", "重みに従って、トークンの内容を足し合わせる"),
    ],
    "torch-mha": [
        ("テンソル", "形", "意味"),
        ("tokens", "[1, 4, 8]", "バッチ1、4トークン、埋め込みの次元8"),
        ("output", "[1, 4, 8]", "各トークンが、文脈を含んだ新しい表現になる"),
        (
            "weights",
            "[1, 4, 4]",
            "各クエリのトークンが、4個のキーのトークンに重みを配る（2つのヘッドの平均）",
        ),
    ],
    "summary": [
        ("間違い", "直し方"),
        ("クエリ、キー、バリューを謎の変数として覚える", "質問、索引、内容として読む"),
        (
            "形の意味を追わない",
            "[batch, seq_len, embed_dim]と、重みの[batch, head, query, key]（平均なら[batch, query, key]）を追う",
        ),
        ("生成でマスクを使わない", "causal maskで未来のトークンを隠す"),
        (
            "softmaxを間違った次元に掛ける",
            "キーの位置の方向（axis=-1）で正規化し、行の合計を確かめる",
        ),
        ("Attentionを推論の魔法だと思う", "スコア → softmax → 重み付き和として読む"),
    ],
}

HEADINGS = {
    "index": ["動かして確かめるAttention", "この節の位置づけ", "学習目標"],
    "why-attention": ["なぜAttentionが必要だったのか", "3つの利点", "練習4"],
    "weighted-lookup": ["まずクエリ、キー、バリューを見ます", "図書館のたとえ", "一文でいうと"],
    "by-hand": ["Attentionを手で計算する", "実験1：スコア、重み、出力", "練習1"],
    "scaling": ["なぜ√d_kで割るのか", "式"],
    "self-attention": ["Self-Attention：系列が自分自身を見る"],
    "masks": ["実験2：causal mask", "練習2"],
    "multi-head": ["Multi-Head Attention：複数の見方を並べる"],
    "torch-mha": ["PyTorchのMultiheadAttentionを読む", "実験3：PyTorchの層", "練習3"],
    "explanation": [
        "Attentionの重みは完全な説明ではない",
        "重みから分かること",
        "自動的には証明できないこと",
        "練習5",
    ],
    "summary": ["よくある間違い", "まとめ", "練習と解答"],
}

TEXT = {
    "index": [
        # この節の位置づけ
        "RNN（再帰型ニューラルネットワーク）は、情報を1ステップずつ隣へ渡します。",
        "1つのトークンがほかのトークンを直接見て、どれをどれだけ使うかを決める仕組みです。",
        "2017年のTransformerは、再帰をなくし、系列の中の情報のやりとりをAttentionに任せました",
    ],
    "why-attention": [
        "遠く離れたトークンどうしが関わることを長距離依存と呼びます。",
        "100個前のトークンの情報は、100回の書き換えをくぐり抜けなければ届きません。",
        "同じ長さのベクトルに押し込まれます。",
        # the pipeline line
        "現在のトークン→すべてのトークンに直接スコアを付ける→役立つ文脈を重みで選ぶ",
        # the three benefits
        "長距離のトークンどうしを直接つなげます。",
        "学習を並列にできます。",
        "どのトークンをどれだけ混ぜたかを、重みの行列として観察できます。",
    ],
    "weighted-lookup": [
        "Attentionは、重み付きの検索として読むと分かりやすくなります。",
        "クエリが質問する→キーと照合する→softmaxが重みにする→バリューが内容を返す→重み付きで足し合わせる",
        # the one-sentence summary
        "クエリとキーがスコアを作り、softmaxがスコアを重みに変え、その重みでバリューを混ぜます。",
    ],
    "by-hand": [
        "ここではクエリもキーもバリューも、このXをそのまま使います。",
        "3つの手順で読みます。",
    ],
    "scaling": [
        "scaled dot-product attention",
        "標準偏差がに増えます。",  # the formula between stands as MathML
        "割らないと、次元が大きいほど1つのキーが重みを独占し",
        "割れば、次元4から先は、どちらもほぼ一定です。",
        "softmaxが勾配のとても小さい所へ追いやられるからだろうと推測しています",  # the lesson states it as a fact
    ],
    "self-attention": [
        "クエリもキーもバリューも、すべて同じ系列から来ます。",
        "どのトークンも、自分自身を含む系列内のすべてのトークンを見ます。",
        "Alex gave Sam the notebook because he trusted him.",
        "「he」と「him」が誰を指すかを知るには、「he」という語だけでなく、ほかの語が必要です。",
        "直接つながる経路を作ります。",
    ],
    "masks": [
        "Causal maskは、行列の下三角だけを「見てよい」にして、未来を隠します。",
        # how to read the printed block
        "1番目のトークンは、自分だけを見ます。",
        "2番目のトークンは、1番目と2番目を見ます。",
        "3番目のトークンは、1番目、2番目、3番目を見ます。",
        "未来の答えは見えません。",
    ],
    "multi-head": [
        "違う部分空間で関係を見られます。",
        # what heads may notice
        "近い位置のパターン。",
        "主語と目的語の関係。",
        "繰り返し出てくる語",
        "長距離の参照。",
        # joined and projected
        "ヘッドの結果を1本のベクトルにつなぎます。",
        "もう一度1つの表現へ射影します。",
    ],
    "torch-mha": ["average_attn_weights=False"],
    "explanation": [
        "この層のこのヘッドでは、このクエリの出力に、それらのキーの位置のバリューが、この割合で混ぜられた。",
        "モデルの最終的な判断は、そのトークンが原因だった。",
        "Attentionの重みは、調査とデバッグの道具として使います。完全な因果の説明としては扱いません。",
    ],
    "summary": [],
}

GOALS = [
    "Attentionが長距離依存に役立つ理由を、経路の長さで説明できます。",
    "クエリ、キー、バリューの役割を、検索のたとえと、そのたとえの限界まで含めて説明できます。",
    "Scaled dot-product attentionを、紙とNumPyの両方で計算できます。",
    "未来を見せないためのcausal maskを作り、漏れがないことを確かめられます。",
    "PyTorchのnn.MultiheadAttentionの形（shape）を読み、返ってくる重みの意味を言えます。",
]
POINTS = [
    "Attentionは、トークンが関連する文脈を直接選べるようにします。",
    "クエリ、キー、バリューは、スコア付けと内容の取得を分けます。",
    "Scaled dot-product attentionは、スコア、softmax、重み付き和でできています。",
    "Causal maskは、生成のときに未来をのぞき見ることを防ぎます。",
    "Multi-head attentionは、複数の部分空間から関係を見ます。",
]
EXERCISES = [  # (page, what it asks there, words of the solution)
    ("by-hand", "実験1の3番目のトークンを[2.0, 0.0]に変えてください。重みはどう変わるでしょうか。", "[2.0, 0.0]"),
    ("masks", "実験2を、4×4のスコアに広げてください。", "causal_mask(4)"),
    ("torch-mha", "実験3のnum_headsを、2から1に変えてください。どの形が同じままでしょうか。", "num_heads=1"),
    (
        "why-attention",
        "普通のRNNよりAttentionのほうが、長距離のトークンの相互作用を扱いやすい理由を説明してください。",
        "どの2つのトークンの間の経路も1ステップ",
    ),
    (
        "explanation",
        "Attentionの重みが役に立つが、完全な説明にはならない場面を1つ挙げてください。",
        "確かめる実験",
    ),
]
DIAGRAMS = [  # (page, title, the numbers of the experiments that it shows)
    ("weighted-lookup", "クエリ、キー、バリューの計算の流れ", ["0.248", "0.503", "0.752"]),
    ("weighted-lookup", "図書館のたとえ", ["0.248", "0.503", "0.752"]),
    ("projections", "4つの行列と、計算の流れ", ["(3, 2)", "(2, 1)", "(3, 1)", "(2, 4)", "(3, 3)", "(4, 2)"]),
    ("masks", "Causal maskが未来を隠す様子", ["0.289", "0.711", "0.149", "0.246", "0.605"]),
]


def bare(text):
    return re.sub(r"\s+", "", text)


def words(node):
    """The text of a node without white space, formulas, readings and the marks of links to headings."""
    skipped = {"math", "script", "style", "rt"}
    texts = (t for t in node.find_all(string=True) if not any(p.name in skipped for p in t.parents))
    return bare("".join(texts)).replace("¶", "")


def pairs(table):
    return [(page, item) for page, items in table.items() for item in items]


def items_after(tree, title):
    """The items of the first list below a heading."""
    heading = next(h for h in tree.article.find_all("h2") if words(h) == bare(title))
    return [words(li) for li in heading.find_next_sibling(["ol", "ul"]).find_all("li", recursive=False)]


@pytest.mark.parametrize("page", BLOCKS)
def test_printed_block(soup, page):
    """The block of the lesson is the whole output of a cell, letter by letter."""
    outputs = [
        "\n".join(line.rstrip() for line in pre.get_text().rstrip("\n").split("\n"))
        for pre in soup(page).select(".cell_output pre")
    ]
    assert outputs.count(BLOCKS[page]) == 1


@pytest.mark.parametrize(("page", "code"), pairs(CODE))
def test_code_of_the_experiments(soup, page, code):
    cells = [bare(pre.get_text()) for pre in soup(page).select(".cell_input pre")]
    plain = [re.sub(r",([)\]])", r"\1", cell) for cell in cells]  # with or without a last comma
    assert any(bare(code) in cell for cell in cells) or any(bare(code) in cell for cell in plain)


@pytest.mark.parametrize(("page", "row"), pairs(ROWS))
def test_table_row(soup, page, row):
    """Formulas count here: a symbol may be one."""
    rows = [tuple(bare(cell.get_text()) for cell in tr.find_all(["th", "td"])) for tr in soup(page).select("table tr")]
    assert tuple(bare(cell) for cell in row) in rows


@pytest.mark.parametrize(("page", "heading"), pairs(HEADINGS))
def test_heading(soup, page, heading):
    found = [re.sub(r"^\d+\.", "", words(h)) for h in soup(page).article.find_all(["h1", "h2", "h3"])]
    assert bare(heading) in found


@pytest.mark.parametrize(("page", "text"), pairs(TEXT))
def test_text(soup, page, text):
    assert bare(text) in words(soup(page).article)


def test_learning_goals(soup):
    assert items_after(soup("index"), "学習目標") == [bare(goal) for goal in GOALS]


def test_summary_points(soup):
    assert items_after(soup("summary"), "まとめ") == [bare(point) for point in POINTS]


def test_three_benefits_and_four_interests(soup):
    """Lists of just that many items."""
    assert len(items_after(soup("why-attention"), "3つの利点")) == 3
    heads = next(ul for ul in soup("multi-head").article.find_all("ul") if "主語と目的語" in ul.get_text())
    assert len(heads.find_all("li")) == 4


def test_formula(soup):
    """The formula of the paper is MathML: softmax of a fraction over a root, times V."""
    formulas = [m for m in soup("scaling").find_all("math") if "Attention" in m.get_text()]
    assert [bare(re.sub("[\u2061-\u2064]", "", m.get_text())) for m in formulas] == ["Attention(Q,K,V)=softmax(QK⊤dk)V"]
    assert formulas[0].select("mfrac > msqrt > msub")


@pytest.mark.parametrize(("page", "title", "numbers"), DIAGRAMS)
def test_diagram(soup, page, title, numbers):
    """An SVG in the page with a name and a description, showing the real numbers."""
    assert len(soup(page).select("svg.diagram")) == sum(page == p for p, _, _ in DIAGRAMS)
    (svg,) = [s for s in soup(page).select("svg.diagram") if s.title.get_text() == title]
    assert svg["aria-labelledby"].split() == [svg.title["id"], svg.desc["id"]]
    assert len(svg.desc.get_text()) >= 40
    shown = " ".join(text.get_text() for text in svg.find_all("text"))
    assert [n for n in numbers if n not in shown] == []


@pytest.mark.parametrize("n", range(1, 6))
def test_exercise(soup, n):
    """Asked on its page, and solved there or in the summary, folded and executed; the other page links to it."""
    page, question, answer = EXERCISES[n - 1]
    asked = next(h.parent for h in soup(page).article.find_all("h2") if words(h) == f"練習{n}")
    assert bare(question) in words(asked)
    home, other = (page, "summary") if soup(page).find(id=f"solution-{n}") else ("summary", page)
    assert soup(other).article.find("a", href=f"{home}.html#solution-{n}")

    solved = soup(home).find(id=f"solution-{n}")
    folded = solved.find_all("details")
    assert words(solved.find(["h2", "h3"])).startswith(f"練習{n}")
    assert folded
    assert not any(details.has_attr("open") for details in folded)
    assert bare(answer) in "".join(bare(details.get_text()) for details in folded)
    assert any(pre.get_text().strip() for details in folded for pre in details.select(".cell_output pre"))
    assert any("assert" in pre.get_text() for details in folded for pre in details.select(".cell_input pre"))
