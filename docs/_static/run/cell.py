"""Run one cell as its notebook would, and say what went wrong where: the Python side of worker.mjs."""

import ast
import linecache
import re
import traceback
import unicodedata

# what NFKC leaves as it is: quotes, dashes that look like a minus, the marks of a Japanese or a mathematical keyboard
ASCII = str.maketrans("“”‘’–−—ー、。×÷", "\"\"''----,.*/")


def run_cell(source, namespace, name):
    """Return what the last expression shows, the error, and the reader's own lines that led there (or None)."""
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name  # tracebacks quote the cell
    try:
        shown = evaluate(source, namespace, name)
    except BaseException as error:
        return {"shown": None, "error": said(error), "where": where(error), "hint": hint(error, source)}
    return {"shown": shown, "error": None, "where": None, "hint": None}


def evaluate(source, namespace, name):
    tree = ast.parse(source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), namespace)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), name, "eval"), namespace)
        return None if value is None else repr(value)


def said(error):
    """As the page shows errors: their name and text, without a path."""
    return f"{type(error).__name__}: {error.msg if isinstance(error, SyntaxError) else error}"


def where(error):
    """Return 「セル3の2行目：…」 for each line of the reader's cells on the way to the error."""
    if isinstance(error, SyntaxError):
        steps = [(error.filename, error.lineno, error.text or "")]
    else:
        stack = traceback.extract_tb(error.__traceback__)
        steps = [(step.filename, step.lineno, step.line) for step in stack]
    return "\n".join(
        f"{cell[1:-1]}の{number}行目：{line.strip()}" for cell, number, line in steps if cell.startswith("<セル")
    )


def hint(error, source):
    """Name the sign that a phone or an input method wrote instead of Python's own."""
    if isinstance(error, SyntaxError) and error.text and error.offset:
        number, rest = error.lineno, error.text[error.offset - 1 :]
        # a string that does not end may hold any letter: only its quotes are suspects
        suspects = re.findall("[“”‘’＂＇]", rest) if "unterminated" in error.msg else re.findall(r"^\w+|^.", rest)
    elif isinstance(error, NameError) and error.name and ascii_for(error.name).isascii():
        number = next(n for n, line in enumerate([*source.splitlines(), error.name], 1) if error.name in line)
        suspects = error.name
    else:
        return None
    sign = next((sign for sign in "".join(suspects) if not sign.isascii() and ascii_for(sign).isascii()), None)
    if sign is None:
        return None
    if sign == "\u3000":
        return f"{number}行目に、全角の空白があります。半角の空白に直してください。"
    return f"{number}行目に「{sign}」とありますが、Pythonが読めるのは半角の「{ascii_for(sign)}」です。"


def ascii_for(text):
    return unicodedata.normalize("NFKC", text).translate(ASCII)
