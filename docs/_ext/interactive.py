"""動かせる図（attention_book.interactive）のあるページにだけ、その図のスクリプトとスタイルを付ける。

図の名前が by-hand なら、docs/_static/figures/by-hand.js が図を動かします。
"""

import re
from pathlib import Path

from docutils import nodes
from sphinx.util import logging

log = logging.getLogger(__name__)
NAME = re.compile(r'data-figure="([\w-]+)"')


def add_scripts(app, page, template, context, tree):
    html = [node.astext() for node in tree.findall(nodes.raw)] if tree else []
    names = sorted({name for text in html for name in NAME.findall(text)})
    for name in names:
        file = f"figures/{name}.js"
        if not Path(app.confdir, "docs", "_static", file).exists():
            log.warning(
                "動かせる図 %s のスクリプト docs/_static/%s がありません。図の名前を直すか、スクリプトを加えてください。",
                *(name, file),
                location=page,
            )
        else:
            app.add_js_file(file, type="module")
    if names:
        app.add_css_file("figures/figures.css")


def setup(app):
    app.connect("html-page-context", add_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
