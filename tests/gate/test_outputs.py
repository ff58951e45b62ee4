"""What counts as the same output, and what as a drift."""

import gate
import pytest
import yaml
from outputs import clean, same, same_text

EQUAL = [
    ("", ""),
    ("平均 0.5", "平均 0.5"),
    ("0.05", "0.050"),
    ("1.", "1.0"),
    ("-0.", "0."),
    ("[-0.  1.]", "[0. 1.]"),
    ("[1, 2]", "[ 1,  2 ]"),  # spaces of a column
    ("[ 0.5 10. ]", "[0.5 10.]"),
    ("0.5\t1.5", "0.5 1.5"),
    ("1000.0", "1000.009"),  # relative 1e-5
    ("1234567.0", "1234568.0"),
    ("0.1234", "0.1235"),  # one of the last unit
    ("0.9999", "1.0000"),
    ("0.1231", "0.123"),  # round(x, 4) on another CPU
    ("9.9999e-05", "1.0000e-04"),
    ("-0.78069961", "-0.78069943"),  # another CPU
    ("1.2345e-09", "1.2346e-09"),
    ("1.2345e+05", "1.2346e+05"),
    ("1.5e3", "1.5E+03"),
    ("1e-09", "1.000001e-09"),
    ("値は0.25000です", "値は0.25001です"),
    ("np.float64(0.25)", "np.float64(0.250)"),
    ("nan inf -inf", "nan inf  -inf"),
    ("tensor([0.3245])", "tensor([0.3244])"),
]
DIFFERENT = [
    ("1", "2"),
    ("123456789", "123456788"),  # an integer, however large
    ("1", "1.0"),
    ("100000", "1e5"),
    ("1", "-1"),
    ("0.5", "-0.5"),
    ("0.1", "0.2"),
    ("0.123", "0.124"),  # fewer than four decimals
    ("0.1234", "0.1236"),
    ("0.1234", "0.123"),
    ("0.1235", "0.123456"),  # two decimals more
    ("1.2345e-09", "1.23454e-09"),
    ("1000.0", "1000.011"),
    ("1.2e-09", "9.9e-09"),  # no absolute tolerance
    ("1e-09", "2e-09"),
    ("1.2345e-03", "1.2365e-03"),
    ("1.5e3", "1.5e4"),
    ("0.0", "0.001"),
    ("0.5 0.6", "0.6 0.5"),
    ("0.5", "0.5 0.6"),
    ("0.5\n0.6", "0.5 0.6"),  # lines
    ("a\n", "a\n\n"),
    ("a\nb", "b\na"),
    ("0.5", "nan"),
    ("inf", "-inf"),
    ("nan", "inf"),
    ("0.5", "np.float64(0.5)"),
    ("np.float64(0.5)", "np.float32(0.5)"),
    ("True", "False"),
    ("2.4.6", "2.4.7"),
    ("2.13.0", "2.13.0+cpu"),
    ("個数3個", "個数4個"),
    ("値は0.25です", "値は0.26です"),
    ("値は0.25です", "値が0.25です"),
    ("1 2.5", "12.5"),
    ("1. 2", "1.2"),
    ("", "0.5"),
    ("1 23", "12 3"),
    ("[1 2]", "[12]"),
    ("2025.12.19", "2025.11.19"),  # a version with a year
]


@pytest.mark.parametrize(("want", "got"), EQUAL)
def test_equal(want, got):
    assert same_text(want, got)
    assert same_text(got, want)


@pytest.mark.parametrize(("want", "got"), DIFFERENT)
def test_different(want, got):
    assert not same_text(want, got)
    assert not same_text(got, want)


@pytest.mark.parametrize(
    ("want", "got", "tolerance", "equal"),
    [
        ("測定 0.30", "測定 0.309", 0.01, True),
        ("測定 0.30", "測定 0.311", 0.01, False),
        ("-1.5e-3", "2.5e-3", 0.005, True),
        ("-1.5e-3", "4.5e-3", 0.005, False),
        ("1000.0", "1000.009", 1e-9, True),  # it widens the usual bound, and does not narrow it
        ("3回 0.5", "4回 0.5", 10, False),  # never an integer,
        ("0.5 a", "0.5 b", 10, False),  # a word,
        ("0.5", "0.5\n0.5", 10, False),  # a line,
        ("0.5", "nan", 10, False),  # or a value that is none
    ],
)
def test_tolerance(want, got, tolerance, equal):
    assert same_text(want, got, tolerance) is equal
    assert same([{"stream": want}], [{"stream": got}], tolerance) is equal


@pytest.mark.parametrize(
    ("want", "got", "equal"),
    [
        ([], [], True),
        ([{"stream": "1"}], [{"stream": "1"}], True),
        ([{"stream": "0.50"}, {"text/plain": "1"}], [{"stream": "0.5"}, {"text/plain": "1"}], True),
        ([{"stream": "1"}], [], False),
        ([], [{"stream": "1"}], False),
        ([{"stream": "1"}], [{"stderr": "1"}], False),
        ([{"stream": "1"}], [{"stream": "1"}, {"stream": "1"}], False),
        ([{"stream": "1"}, {"text/plain": "2"}], [{"text/plain": "2"}, {"stream": "1"}], False),
        ([{"text/html": "a", "text/plain": "b"}], [{"text/html": "a", "text/plain": "c"}], False),
        ([{"text/html": "a", "text/plain": "b"}], [{"text/plain": "b"}], False),
    ],
)
def test_same(want, got, equal):
    assert same(want, got) is equal


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("a  \nb\t\n\n", "a\nb"),
        ("  a", "  a"),
        ("\x1b[31mred\x1b[0m 0.5", "red 0.5"),
        ("10%\r20%\n", "10%\r20%"),
        ("\n\n", ""),
        ("a\n\nb", "a\n\nb"),
    ],
)
def test_clean(text, cleaned):
    assert clean(text) == cleaned


def test_the_file_gives_back_what_was_written():
    texts = [
        "",
        " a\n b",
        "\na",
        "0.5",
        "1e-5",
        "true",
        "null",
        "- a: b",
        "#",
        "a\n\n  b",
        "日本語\t表",
        "~\n",
        "'\"",
    ]
    data = [[{"stream": text} for text in texts], []]
    assert yaml.safe_load(gate.to_yaml(data)) == data
    assert "stream: |-\n" in gate.to_yaml([[{"stream": "a\nb"}]])  # a difference of lines can be read
