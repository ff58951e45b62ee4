"""ページを読むたびに、かかった秒と、セルを動かしたかどうかを1行で知らせ、最後に合計を知らせる。"""

import logging as python_logging
from time import perf_counter, time

from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.util import logging

log = logging.getLogger(__name__)
began = {}  # docname, or None for the whole build


def build_begins(app):
    began[None] = perf_counter()


def page_begins(app, docname, source):
    python_logging.getLogger(f"sphinx.mystnb-{docname}").setLevel(python_logging.WARNING)  # three lines for our one
    began[docname] = perf_counter(), time()


def page_ends(app, tree):
    docname = app.env.current_document.docname
    counted, clock = began.pop(docname)
    ran = NbMetadataCollector.get_exec_data(app.env, docname)
    how = "セルなし" if ran is None else "実行しました" if ran["mtime"] >= clock else "前の出力を使いました"
    log.info("docs/%s.md：%.1f秒（%s）", docname, perf_counter() - counted, how)


def build_ends(app, error):
    log.info("合計：%.1f秒", perf_counter() - began[None])


def setup(app):
    app.connect("builder-inited", build_begins)
    app.connect("source-read", page_begins)
    app.connect("doctree-read", page_ends)
    app.connect("build-finished", build_ends)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
