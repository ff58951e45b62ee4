"""検索や共有で見つけられるように説明と地図を書き、アドレスを間違えた読者に404のページを見せる。

404のページは、どの深さのアドレスでも表示されるので、リンクを相対ではなく、公開先のアドレスから書きます。
公開先が分からなければ（手元で作ったときは）、地図は書かず、404のページのリンクは相対のままです。
"""

import html
import re
from itertools import accumulate
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from docutils import nodes

GOALS = "このページの目標"
LENGTH = 120  # letters of a description: what search engines show
LOST = "404"
LOST_BODY = """
<section>
<h1>ページが見つかりません</h1>
<p>アドレスが変わったか、打ち間違いかもしれません。</p>
<p>目次か検索で探すか、<a class="reference internal" href="index.html">最初のページ</a>へ戻ってください。</p>
</section>
"""
RELATIVE = re.compile(r'\b(href|src|action)="(?![a-z]+:|[/#])([^"]*)"')


def describe(tree):
    """Return the goals of the page, or else its first sentences: nothing, if it has none yet."""
    box = next(tree.findall(nodes.admonition), None)
    if box and box.astext().startswith(GOALS):
        texts = [item.astext() for item in box.findall(nodes.list_item)]
    else:
        texts = [p.astext() for p in tree.findall(nodes.paragraph) if isinstance(p.parent, nodes.section)]
    sentences = re.findall(r"[^。]+。?", "".join(texts))
    lengths = accumulate(map(len, sentences))
    short = [s for s, length in zip(sentences, lengths, strict=True) if length <= LENGTH]
    return "".join(short or sentences[:1])


def head(app, page, template, context, tree):
    if app.builder.name != "html":
        return
    if tree is None:  # genindex, search, 404
        if page == LOST:
            context["metatags"] = context.get("metatags", "") + '<meta name="robots" content="noindex">'
            context["pageurl"] = None
        return
    names = {
        "title": re.sub("<.*?>", "", context["title"]),
        "site_name": app.config.project,
        "type": "article",
        "locale": "ja_JP",
    }
    if about := html.escape(describe(tree)):
        names["description"] = about
        context["metatags"] += f'<meta name="description" content="{about}">'
    if context["pageurl"]:
        names["url"] = context["pageurl"]
    for name, value in names.items():
        context["metatags"] += f'<meta property="og:{name}" content="{value}">'


def lost(app):
    """Sphinx makes a page of this, with the theme around it."""
    if app.builder.name == "html":
        yield LOST, {"title": "ページが見つかりません", "body": LOST_BODY}, "page.html"


def finish(app, error):
    base = app.config.html_baseurl
    if error or app.builder.name != "html" or not base:
        return
    page = Path(app.outdir, f"{LOST}.html")
    root = urlsplit(base).path or "/"
    absolute = RELATIVE.sub(lambda m: f'{m[1]}="{urljoin(root, m[2])}"', page.read_text(encoding="utf-8"))
    page.write_text(absolute, encoding="utf-8")

    addresses = (urljoin(base, app.builder.get_target_uri(page)) for page in sorted(app.env.found_docs))
    entries = "\n".join(f"<url><loc>{html.escape(address)}</loc></url>" for address in addresses)
    Path(app.outdir, "sitemap.xml").write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{entries}\n</urlset>\n',
        encoding="utf-8",
    )


def setup(app):
    app.connect("html-page-context", head)
    app.connect("html-collect-pages", lost)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
