"""読み込んでよいものを、各ページの先頭で決める（Content Security Policy）。

公開先がヘッダーを付けてくれるとは限らないので、<meta>に書きます。
ほかのサーバーからは何も読まず、ページに紛れ込んだスクリプトは動きません。
"""

import base64
import hashlib
import re
from pathlib import Path

from sphinx.errors import ExtensionError

POLICY = {
    "default-src": "'none'",  # what is not named below is not loaded
    # our files; WebAssembly, which the search and the cells that run in the page need; furo's own inline script
    "script-src": "'self' 'wasm-unsafe-eval' {furo}",
    "style-src": "'self' 'unsafe-inline'",  # furo writes its colours into the page, and hides its icons there
    "img-src": "'self' data:",  # the icons in furo's style sheet
    "font-src": "'self'",
    "connect-src": "'self'",  # the index of the search, the files of the Python in the page
    "worker-src": "'self'",  # that Python
    "base-uri": "'none'",  # no page moves its links elsewhere
    "form-action": "'self'",  # the search box
}
VIEWPORT = '<meta name="viewport" content="width=device-width, initial-scale=1" />\n'  # docutils'; furo has its own


def hash_of_furo(templates):
    """Allow the one inline script by its content: it sets the theme before anything is drawn."""
    base = Path(templates.environment.get_template("base.html").filename).read_text(encoding="utf-8")
    scripts = re.findall(r"<script>(.*?)</script>", base, re.DOTALL)
    if len(scripts) != 1 or "{" in scripts[0]:
        raise ExtensionError(
            f"furoの base.html に、どのページでも同じ<script>が1つだけあるはずですが、{scripts!r} でした。"
            "docs/_ext/policy.py を、今のfuroに合わせて直してください。"
        )
    return f"'sha256-{base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()}'"


def decide(app):
    if app.builder.format == "html" and app.builder.theme.name == "furo":
        words = "; ".join(f"{name} {sources}" for name, sources in POLICY.items())
        app.builder.policy = words.format(furo=hash_of_furo(app.builder.templates))


def write(app, page, template, context, tree):
    """Before every script and style sheet, because the policy holds from where it stands."""
    if not hasattr(app.builder, "policy"):
        return
    metatags = context.get("metatags", "")
    if metatags.count(VIEWPORT) != (tree is not None):
        raise ExtensionError(
            f'{page}: Sphinxの出力に、docutilsの<meta name="viewport">が1つあるはずですが、ありませんでした。'
            "docs/_ext/policy.py を、今のSphinxに合わせて直してください。"
        )
    policy = f'<meta http-equiv="Content-Security-Policy" content="{app.builder.policy}">'
    context["metatags"] = policy + metatags.replace(VIEWPORT, "")


def setup(app):
    app.connect("builder-inited", decide)
    app.connect("html-page-context", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
