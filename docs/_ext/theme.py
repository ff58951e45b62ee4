"""furoとMyST-NBのテンプレートに英語で書かれた文字を日本語にし、見えない区画に名前と段を付け、同じ入力から同じHTMLを作る。

翻訳できる文字は docs/_locale/ja/LC_MESSAGES/sphinx.po にあります。ここで直すのは、テンプレートに直接書かれたものだけです。
どれも現れる回数を確かめるので、furoが変われば、黙って英語に戻るのではなくビルドが止まります。
"""

from pathlib import Path

from myst_nb.sphinx_ext import add_global_html_resources
from sphinx.errors import ExtensionError

# what the templates write: (what a Japanese reader hears or sees, how often it stands on a page)
REPLACEMENTS = {
    'aria-label="Toggle site navigation sidebar"': ('aria-label="サイトの目次を開閉する"', 1),
    'aria-label="Toggle table of contents sidebar"': ('aria-label="このページの目次を開閉する"', 1),
    'aria-label="Toggle Light / Dark / Auto color theme"': (
        'aria-label="明るい配色、暗い配色、自動を切り替える"',
        2,
    ),
    '<aside class="sidebar-drawer">': ('<aside class="sidebar-drawer" aria-label="サイトの目次">', 1),
    '<aside class="toc-drawer': ('<aside aria-label="このページの目次" class="toc-drawer', 1),
    # the link that skips to the text moves the focus, too
    '<article role="main" id="furo-main-content">': ('<article role="main" id="furo-main-content" tabindex="-1">', 1),
    # it comes and goes while one scrolls, and would take the focus with it; the Home key does the same
    '<a href="#" class="back-to-top muted-link">': ('<a href="#" class="back-to-top muted-link" tabindex="-1">', 1),
    # what only the search of Sphinx reads (docs/_ext/search.py)
    '<input type="hidden" name="check_keywords" value="yes">': ("", 1),
    '<input type="hidden" name="area" value="default">': ("", 1),
    '<div id="searchbox"></div>': ("", 1),
    "<title>Contents</title>": ("<title>目次</title>", 1),
    "<title>Menu</title>": ("<title>メニュー</title>", 1),
    "<title>Expand</title>": ("<title>開く</title>", 1),
    "<title>Light mode</title>": ("<title>明るい配色</title>", 1),
    "<title>Dark mode</title>": ("<title>暗い配色</title>", 1),
    "<title>Auto light/dark, in light mode</title>": ("<title>自動（今は明るい配色）</title>", 1),
    "<title>Auto light/dark, in dark mode</title>": ("<title>自動（今は暗い配色）</title>", 1),
}
# MyST-NB names every folded cell in English, over the Japanese prompt that the page gives it.
FOLDED_CELL = ' aria-label="Toggle hidden content"'
# Sphinx makes headings of the captions of the toctrees, and gives them no level.
CAPTION = '<p class="caption" role="heading">'


def in_japanese(page, name):
    for old, (new, times) in REPLACEMENTS.items():
        if page.count(old) != times:
            raise ExtensionError(
                f"{name}: furoの出力に {old!r} が{times}回あるはずですが、{page.count(old)}回でした。"
                "docs/_ext/theme.py の REPLACEMENTS を、今のfuroに合わせて直してください。"
            )
        page = page.replace(old, new)
    if CAPTION not in page:
        raise ExtensionError(
            f"{name}: サイトの目次に {CAPTION!r} があるはずですが、ありませんでした。"
            "docs/_ext/theme.py の CAPTION を、今のSphinxに合わせて直してください。"
        )
    return page.replace(CAPTION, CAPTION.replace(">", ' aria-level="2">')).replace(FOLDED_CELL, "")


def wrap_rendering(app):
    if app.builder.format != "html":
        return
    render = app.builder.templates.render

    def render_in_japanese(template, context):
        page = render(template, context)
        return in_japanese(page, context.get("pagename", template)) if "<body" in page else page

    app.builder.templates.render = render_in_japanese


def copy_styles(app):
    """Before the pages, as their links name its checksum; MyST-NB copies it after them, too late for a new folder."""
    Path(app.outdir, "_static").mkdir(parents=True, exist_ok=True)
    add_global_html_resources(app, None)


def setup(app):
    app.connect("builder-inited", wrap_rendering)
    app.connect("builder-inited", copy_styles)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
