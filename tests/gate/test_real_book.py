"""On the real book, a changed computation of the package is named on the pages that show it."""

SCALE = {"by-hand", "torch-mha"}
MASK = {"masks", "multi-head"}


def test_changed_computation(real_book):
    real_book.edit("attention_book/_inputs.py", "query.shape[-1] ** -0.5 if", "query.shape[-1] ** -0.6 if")
    real_book.edit("attention_book/masks.py", "k=offset, ", "k=offset + 1, ")
    run = real_book.build("-E", "-a", "-W", "-j", "2")
    named = {page for page, line, said in run.warnings if line and "[gate]" in said}
    assert run.code != 0
    assert named >= SCALE | MASK, run.text
