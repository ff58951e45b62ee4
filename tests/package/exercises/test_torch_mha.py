"""The check passes the shapes of the layer, and tells each wrong one which axis is wrong."""

import pytest

from attention_book.exercises import NotYet, check_mha_shapes

ONE_HEAD = {"output": (1, 4, 8), "weights": (1, 4, 4), "per_head": (1, 1, 4, 4), "in_proj_weight": (24, 8)}
SIZES = {"embed_dim": 12, "num_heads": 3, "batch": 2, "query_len": 5, "key_len": 7}
CROSS = {"output": [2, 5, 12], "weights": [2, 5, 7], "per_head": [2, 3, 5, 7], "in_proj_weight": [36, 12]}


@pytest.mark.parametrize(("answers", "sizes"), [(ONE_HEAD, {}), (CROSS, SIZES)])
def test_shapes_pass(capsys, answers, sizes):
    check_mha_shapes(answers, **sizes)
    assert capsys.readouterr().out.startswith("合格です")


def test_the_layer_of_torch_has_these_shapes():
    torch = pytest.importorskip("torch")
    layer = torch.nn.MultiheadAttention(12, 3, batch_first=True)
    query, key = torch.zeros(2, 5, 12), torch.zeros(2, 7, 12)
    output, weights = layer(query, key, key)
    _, per_head = layer(query, key, key, average_attn_weights=False)
    shapes = {
        "output": output.shape,
        "weights": weights.shape,
        "per_head": per_head.shape,
        "in_proj_weight": layer.in_proj_weight.shape,
    }
    assert {name: list(shape) for name, shape in shapes.items()} == CROSS


@pytest.mark.parametrize(
    ("name", "shape", "message"),
    [
        ("output", ..., "output の形を書きましょう"),
        ("output", (5, 2, 12), "最初の軸がバッチ"),
        ("output", (2, 7, 12), "クエリ1つにつき1本"),
        ("output", (2, 5, 4), r"output の形 \(2, 5, 4\) が違います。違う軸を"),
        ("weights", 35, "かっこの中に数を並べて"),
        ("weights", "(2, 5, 7)", "かっこの中に数を並べて"),
        ("weights", (2, 3, 5, 7), "平均した重み"),
        ("weights", (2, 7, 5), "行がクエリ"),
        ("per_head", (2, 5, 7), "ヘッドの軸は残ります"),
        ("per_head", (3, 2, 5, 7), "最初の軸はバッチ"),
        ("per_head", (2, 3, 7, 5), "行がクエリ"),
        ("in_proj_weight", (12, 36), "縦に積まれて"),
        ("in_proj_weight", (12, 12), "3つ分"),
        ("in_proj_weight", (36,), "軸の数は 2"),
    ],
)
def test_shapes_name_the_axis(name, shape, message):
    with pytest.raises(NotYet, match=message):
        check_mha_shapes(CROSS | {name: shape}, **SIZES)


def test_a_missing_shape_is_asked_for():
    with pytest.raises(NotYet, match="in_proj_weight の形を書きましょう"):
        check_mha_shapes({name: shape for name, shape in ONE_HEAD.items() if name != "in_proj_weight"})


@pytest.mark.parametrize("answers", [..., [(1, 4, 8)]])
def test_only_a_dictionary_can_be_right(answers):
    with pytest.raises(NotYet, match="名前から形への辞書"):
        check_mha_shapes(answers)
