"""The check passes a right mask for torch, and tells each wrong one what is wrong with it."""

import numpy as np
import pytest

from attention_book.exercises import NotYet, check_mha_mask


def right(keep, num_heads):
    return ~np.repeat(keep[:, 0], num_heads, axis=0)


def test_mask_passes(capsys):
    check_mha_mask(right)
    assert capsys.readouterr().out.startswith("合格です")


def test_the_layer_of_torch_reads_the_mask_so():
    torch = pytest.importorskip("torch")
    keep = np.tri(4, dtype=bool) & (np.arange(4) < np.array([[4], [2]]))[:, None, None, :]  # (2, 1, 4, 4)
    layer = torch.nn.MultiheadAttention(6, 3, batch_first=True)
    tokens = torch.randn(2, 4, 6, generator=torch.Generator().manual_seed(0))
    mask = torch.from_numpy(right(keep, 3))
    _, weights = layer(tokens, tokens, tokens, attn_mask=mask, average_attn_weights=False)
    assert np.array_equal(weights.detach().numpy() > 0, np.broadcast_to(keep, (2, 3, 4, 4)))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda keep, h: np.where(right(keep, h), -np.inf, 0), "dtype=float64.*足されます"),
        (lambda keep, h: ~keep, r"形が \(2, 1, 4, 5\) です.*\(6, 4, 5\)"),
        (lambda keep, h: right(keep, h).swapaxes(1, 2), r"形が \(6, 5, 4\)"),
        (lambda keep, h: ~right(keep, h), "向きが逆"),
        (lambda keep, h: np.tile(keep[:, 0], (h, 1, 1)), "向きが逆で、並びも"),
        (lambda keep, h: ~np.tile(keep[:, 0], (h, 1, 1)), "np.repeat"),
        (
            lambda keep, h: np.zeros((6, 4, 5), dtype=bool),
            r"マスク\[0, 0, 2\] が False です。True のはずです。行がクエリ",
        ),
    ],
)
def test_mask_names_the_fault(answer, message):
    with pytest.raises(NotYet, match=message):
        check_mha_mask(answer)
