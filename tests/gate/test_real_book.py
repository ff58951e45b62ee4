"""The real book is green on another machine, and one mutation of each kind is caught on its pages.

A mutation finds its place by a pattern, in the first page that has one: no page has to keep its words for the tests.
"""

import re

import pytest
from machines import OTHER_MACHINE
from test_gate import FAULTS, OUTPUT, cell, end, lines_of

CELL = r"(^```\{code-cell\}.*\n(?:---\n(?:.*\n)*?---\n|(?::.*\n)*))"  # and its options
SHOWN = r"(\)(?:.*\n(?!```))*?.*(?:round\(|:\.[2-9]))"  # a number of some digits later in the cell
SEEN = f"{OUTPUT}|最後まで実行"  # an assert of the page may be first


def put(pattern, replacement):
    """Replace the first place; None where the page has none."""

    def edit(text):
        new, count = re.subn(pattern, replacement, text, count=1, flags=re.M)
        return new if count else None

    return edit


# One of each kind: (file, edit of the first page where it finds its place, what the gate says of it).
KINDS = {
    "printed decimal": ("md", put(r"(np\.round\(.*), 3\)", r"\1, 1)"), OUTPUT),
    "printed word": ("md", put(r'(print\(f?")([ぁ-んァ-ヶ一-龠])', r"\1ず\2"), OUTPUT),
    "lost print": ("md", put(r"^print\((.*)\)$", r"\1;"), OUTPUT),
    "seed": ("md", put(rf"default_rng\((\d+){SHOWN}", r"default_rng(1\1\2"), SEEN),
    "seed of torch": ("md", put(rf"^torch\.manual_seed\((\d+){SHOWN}", r"torch.manual_seed(1\1\2"), SEEN),
    "axis of a figure": ("md", put('xlabel="', 'xlabel="別の'), rf"{OUTPUT}(.*\n)+\+.*「別の"),
    "figure without alt": ("md", put(r"^ +alt: .*\n", ""), "図の代替テキスト"),
    "exception": ("md", put(CELL, r'\1raise KeyError("別")\n'), "最後まで実行されていません"),
    "another exception": ("md", put(r"(^:tags: \[raises-exception\]\n)", r'\1raise KeyError("別")\n'), OUTPUT),
    "hidden cell": ("md", put(r"(^tags: \[hide-cell\]\n(?:.*\n)*?---\n)", r"\1print(1)\n"), OUTPUT),
    "added cell": ("md", end(cell("1;")), "コードセルの数が"),
    "listing": (
        "md",
        put(r"(^```\{literalinclude\} .*\.py\n)", r"\1:append: '# 1'\n"),
        "から見せたコードが、ページで動いたパッケージのコードと違います",
    ),
    "edited expectation": ("yml", put(r"(?<![\d.])(\d\.\d+)(?![\d.])", r"9\1"), OUTPUT),
    "damaged expectation": ("yml", lambda text: text[: len(text) // 2] + "\n: [", "壊れています"),
}
# Of the faults that need nothing of their page, one of each message; they stand at the end of one page.
NEEDS = re.compile(r"np\.|curve\.png|\{literalinclude\}|glue|個数|0\.917|raises-exception|nowhere")
ENDS = {message: name for name, (block, message) in FAULTS.items() if not NEEDS.search(block)}.values()
SCALE, MASK = {"by-hand", "torch-mha"}, {"masks", "multi-head"}


def copies(book):
    """Write each mutation as a copy of the first page where it finds its place."""
    pages = sorted(path.stem for path in book.expected.glob("*.yml"))
    for n, (suffix, edit, _) in enumerate(KINDS.values()):
        for page in pages:
            texts = {
                "md": (book.docs / f"{page}.md").read_text(encoding="utf-8"),
                "yml": (book.expected / f"{page}.yml").read_text(encoding="utf-8"),
            }
            if new := edit(texts[suffix]):
                break
        else:
            raise AssertionError(f"no page has a place for {list(KINDS)[n]!r}")
        for kind, text in (texts | {suffix: new}).items():
            folder = book.docs if kind == "md" else book.expected
            (folder / f"kind-{n}.{kind}").write_text(text, encoding="utf-8")
    text = (book.docs / f"{pages[0]}.md").read_text(encoding="utf-8")
    (book.docs / "ends.md").write_text(end(*(FAULTS[name][0] for name in ENDS))(text), encoding="utf-8")
    (book.expected / "kind-gone.yml").write_text("[]\n", encoding="utf-8")


@pytest.fixture(scope="session")
def green(real_book):
    """The book, and its build on another machine; the next builds read only what they change."""
    return real_book, real_book.build("-E", "-a", "-W", "-j", "2", **OTHER_MACHINE)


@pytest.fixture(scope="session")
def mutated(green):
    book = green[0]
    copies(book)
    return book, book.build("-j", "2"), book.build()


def test_another_machine(green):
    run = green[1]
    assert (run.code, run.warnings) == (0, []), run.text


@pytest.mark.parametrize("name", KINDS)
def test_kind(mutated, name):
    _, *runs = mutated
    for run in runs:
        said = [message for _, message in run.of(f"kind-{list(KINDS).index(name)}") if "[gate]" in message]
        assert run.code != 0
        assert any(re.search(KINDS[name][2], message) for message in said), said


@pytest.mark.parametrize("name", ENDS)
def test_end(mutated, name):
    book, *runs = mutated
    block, message = FAULTS[name]
    lines = lines_of((book.docs / "ends.md").read_text(encoding="utf-8"), block)
    for run in runs:
        found = run.of("ends")
        assert any(line in lines and re.search(message, said) for line, said in found), found


def test_deleted_page(mutated):
    for run in mutated[1:]:
        assert any("対応するページのない期待出力です: kind-gone.yml" in said for _, said in run.of(None))


def test_only_mutations_are_named(mutated):
    named = {page for run in mutated[1:] for page, _, said in run.warnings if "[gate]" in said}
    assert named == {f"kind-{n}" for n in range(len(KINDS))} | {"ends", None}


def test_changed_computation(mutated):
    """A changed computation of the package is named on the pages that show it."""
    book = mutated[0]
    for path in (*book.docs.glob("*.md"), *book.expected.glob("*.yml")):
        if path.stem not in SCALE | MASK | {"index"}:
            path.unlink()
    book.edit("attention_book/_arguments.py", "query.shape[-1] ** -0.5 if", "query.shape[-1] ** -0.6 if")
    book.edit("attention_book/masks.py", "k=offset, ", "k=offset + 1, ")
    run = book.build("-j", "2")
    named = {page for page, line, said in run.warnings if line and "[gate]" in said}
    assert run.code != 0
    assert named >= SCALE | MASK, run.text
