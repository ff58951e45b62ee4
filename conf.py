"""本のSphinx設定。ビルドは `nox -s docs` が呼びます（ほかの場所にコマンドはありません）。"""

import gc
import hashlib
import logging
import os
import sys
import warnings
from importlib import metadata  # `from importlib.metadata import version` would set Sphinx's own `version`
from pathlib import Path

gc.disable()  # what a build makes it needs to its end; to look for garbage took a tenth of the time after a save

ROOT = Path(__file__).resolve().parent
sys.path[:0] = [str(ROOT), str(ROOT / "docs" / "_ext")]
os.environ["PYTHONPATH"] = str(ROOT)  # sys.path does not reach the kernels of the pages
os.environ["IPYTHONDIR"] = str(ROOT / "docs" / "_ipython")  # no personal IPython settings in the outputs
os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"  # the kernel of this environment, not one of the user's home

project = "動かして確かめるAttention"
author = "動かして確かめるAttentionの執筆者"
copyright = f"{author}。文章と図はCC BY 4.0、コードはMITライセンスです"
language = "ja"
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",  # numpydoc sections in docstrings
    "sphinxcontrib.bibtex",
    "gate",
    "theme",
    "policy",
    "access",
    "found",
    "japanese",
    "ruby",
    "maths",
    "ports",
    "kernels",
    "recover",
    "search",
    "progress",
    "run_here",
    "titles",
    "interactive",
    "notebooks",
]
exclude_patterns = ["_*"]  # counted from docs/
if os.environ.get("BOOK_FILES"):  # the publishing workflow puts the PDF and the EPUB beside the pages
    tags.add("files")  # noqa: F821 (a name that Sphinx gives)
smartquotes = False  # it would change quotes inside Japanese text

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
# napoleon, which is Sphinx's own, has not followed Sphinx yet; it would say so once for each docstring
warnings.filterwarnings("ignore", "The mapping interface for autodoc options", PendingDeprecationWarning)
# nor has myst-parser
warnings.filterwarnings("ignore", "'myst_parser.* is deprecated", PendingDeprecationWarning)
warnings.filterwarnings("ignore", "'sphinx.environment.BuildEnvironment.app'", PendingDeprecationWarning, "myst_parser")

bibtex_bibfiles = ["docs/references.bib"]  # counted from this file
bibtex_reference_style = "author_year"
bibtex_default_style = "unsrt"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False

# BOOK_MODE: "check" runs every cell and fails on drift, "accept" writes the outputs, "live" uses the cache and warns.
gate_mode = os.environ.get("BOOK_MODE", "check")
gate_pages = os.environ.get("BOOK_PAGES", "").split()  # what "accept" is limited to; empty: every page

nb_execution_mode = "cache" if gate_mode == "live" else "force"
nb_execution_timeout = 120  # seconds a cell; the first import of torch takes long on a busy machine
nb_execution_show_tb = True
nb_merge_streams = True
logging.getLogger("traitlets").setLevel(logging.WARNING)  # nbclient announces every kernel there
# What the outputs depend on is the cache's address: Sphinx reads every page again when it changes.
_key = hashlib.sha256(sys.version.encode())
for _path in sorted(
    p for f in ("attention_book/**/*", "docs/_ipython/**/*.py", "docs/_ext/*.py") for p in ROOT.glob(f)
):
    if _path.is_file() and "__pycache__" not in _path.parts:
        _key.update(str(_path.relative_to(ROOT)).encode() + _path.read_bytes())
_key.update("\n".join(sorted(f"{d.name}=={d.version}" for d in metadata.distributions())).encode())
nb_execution_cache_path = str(ROOT / "_build" / "cache" / _key.hexdigest()[:16])

html_theme = "furo"
templates_path = ["docs/_templates"]  # counted from this file
html_title = project
html_baseurl = os.environ.get("READTHEDOCS_CANONICAL_URL", os.environ.get("BOOK_URL", ""))
# counted from this file; the models are for the figures that answer to the hand
html_static_path = [
    "docs/_static",
    *sorted(f"attention_book/data/{path.name}" for path in ROOT.glob("attention_book/data/he-*.json")),
]
html_css_files = ["book.css"]
html_favicon = "docs/_static/favicon.svg"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_math_renderer = "mathml"  # docs/_ext/maths.py: no JavaScript, no other host
locale_dirs = ["_locale"]  # the strings of furo and Sphinx that have no Japanese yet
pygments_style = "a11y-high-contrast-light"  # both come with furo, and have the contrast small code needs
pygments_dark_style = "a11y-high-contrast-dark"
_fonts = '"Hiragino Sans", "BIZ UDPGothic", "Yu Gothic UI", Meiryo, "Noto Sans JP", "Noto Sans CJK JP", sans-serif'
_sizes = {
    "font-stack": _fonts,
    "font-stack--headings": _fonts,
    "sidebar-item-line-height": "1.25rem",
    "toc-title-font-size": "var(--font-size--small--2)",
    "toc-font-size": "var(--font-size--small--2)",
}
# furo's colours with a contrast of at least 7 for every text (WCAG's AAA), and links underlined so that one sees it
_light = {
    "color-foreground-secondary": "#4b4e55",
    "color-foreground-muted": "#50535a",
    "color-brand-primary": "#0037c4",
    "color-brand-content": "#1a46b8",
    "color-brand-visited": "#6a1bb8",
    "color-problematic": "#a30000",
    "color-link-underline": "#878787",
    "color-link-underline--visited": "#878787",
}
_dark = {
    "color-foreground-secondary": "#b0b4b9",
    "color-foreground-muted": "#a9adb3",
    "color-brand-primary": "#85bbff",
    "color-brand-content": "#8cc0ff",
    "color-brand-visited": "#cfa8f5",
    "color-problematic": "#ff9d9d",
    "color-highlight-on-target": "#262600",
    "color-link-underline": "#8a8a8a",
    "color-link-underline--visited": "#8a8a8a",
}
html_theme_options = {
    "top_of_page_buttons": [],
    "light_css_variables": _sizes | _light,  # the sizes hold in the dark, too
    "dark_css_variables": _dark,
}
