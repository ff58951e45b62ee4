"""The loader of the committed data. Where the numbers come from is tested in tests/data."""

import numpy as np
import pytest

from attention_book import MultiHeadAttention
from attention_book.data import load


def test_the_layer_of_torch():
    """The NumPy layer gives what torch gave: the output, and the weights of each head."""
    saved = load("torch-mha")
    layer = MultiHeadAttention.from_torch(saved["state_dict"], num_heads=2)
    output, weights = layer(saved["tokens"], return_weights=True)

    np.testing.assert_allclose(output, saved["output"], rtol=0, atol=1e-6)
    np.testing.assert_allclose(weights, saved["per_head"], rtol=0, atol=1e-6)


@pytest.mark.parametrize(("name", "layers"), [("he-one-layer", 1), ("he-two-layers", 2), ("he-two-heads", 1)])
def test_the_models_of_he(name, layers):
    """Lists are arrays, matrices are float64, words are text, and the layers fit the package's own."""
    model = load(name)
    assert model["words"].shape == (len(model["token"]),) == (26,)
    assert set(model["names"]) | set(model["verbs"]) < set(model["words"])
    assert [key for key in model if key.startswith("layer")] == [f"layer{n + 1}" for n in range(layers)]
    for n in range(layers):
        layer = MultiHeadAttention.from_torch(model[f"layer{n + 1}"], model["num_heads"])
        output = layer(model["place"])
        assert output.shape == (9, 32)
        assert output.dtype == np.float64


@pytest.mark.parametrize("name", ["torch_mha", "__init__", "__init__.py", "torch-mha.json", "", None, []])
def test_no_such_data(refuses, name):
    refuses(
        ValueError, f"{name!r}|he-one-layer、he-two-heads、he-two-layers、torch-mha|にしてください", lambda: load(name)
    )
