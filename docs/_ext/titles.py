"""文の中に出るページや見出しの題を、「」で囲む。

題は文の形のことが多いので、そのまま置くと「なぜ√d_kで割るのかで見ます」のように、文との境目が見えません。
囲むのは、リンクの文字を書かなかった参照だけです。題のほかに何もない段落やマスでは、囲みません。
もう（）や「」の中にある題も、囲みません。
"""

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform


class QuoteTitles(SphinxPostTransform):
    default_priority = 5  # before Sphinx puts the titles in, at 10: then nothing tells them from words of the author

    def run(self, **kwargs):
        for link in list(self.document.findall(addnodes.pending_xref)):
            if link["reftype"] == "ref" and not link["refexplicit"]:
                place = link.parent.index(link)
                before, after = link.parent[:place], link.parent[place + 1 :]
                edges = "".join(n.astext() for n in before)[-1:] + "".join(n.astext() for n in after)[:1]
                if edges not in ("", "（）", "「」"):
                    link.parent[place : place + 1] = [nodes.Text("「"), link, nodes.Text("」")]


def setup(app):
    app.add_post_transform(QuoteTitles)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
