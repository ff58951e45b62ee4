"""直接使うライブラリを最新版にして本を作り、どのページが、どのライブラリのためにずれるかを調べます（nox -s newest）。

    python tests/newest/newest.py          # requirements.in が許す範囲の最新版
    python tests/newest/newest.py torch    # torchは、requirements.in の版の指定も外す

動かしているPythonの環境に、ライブラリを入れ直します。

1. 最新版をまとめて入れ、検査つきで本を作ります。何も起きなければ、そこで終わりです。
2. 固定した版（requirements.txt）でも作り、同じことが起きるものを除きます。
3. 固定した版の上で、版の変わったライブラリを1つずつ最新版にして作り、どれが起こすかを言います。

出力を判定する機械はLinuxのx86-64だけで、ほかの機械では、固定した版でもずれるページがありえます。
そこで、どの機械でも、同じ機械の固定した版との差だけを失敗とし、固定した版でもずれるページは知らせるだけにします。
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
# "docs/masks.md:12: WARNING: ... [gate]"; without a place where Sphinx names none
PROBLEM = re.compile(r"^(?:(?P<place>.+?): )?(?:WARNING|ERROR|CRITICAL): (?P<message>.+?)(?: \[[\w.-]+\])*$", re.M)
STOPPED = "本を作れませんでした。"
SHOWS_VERSIONS = "docs/about.md"  # it changes with every version, as it should: told, but no failure


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def requirements(text):
    """Return {name: requirement} of a requirements file, without comments and markers."""
    rows = [re.split(r"\s+#|\s*;", line)[0].strip() for line in text.splitlines() if not line.startswith("#")]
    return {canonical(re.match(r"[\w.-]+", row)[0]): row for row in rows if row}


def pins(text):
    return {name: row.partition("==")[2] for name, row in requirements(text).items()}


def changes(old, new):
    """Return {name: new version} of what has another version; 2.13.0+cpu is 2.13.0."""
    plain = {name: version.partition("+")[0] for name, version in new.items()}
    return {name: plain[name] for name in old if name in plain and plain[name] != old[name]}


def problems(code, text):
    """Return {(page or file, message)} of a build; each place once, without its line."""
    found = set()
    for match in PROBLEM.finditer(text):
        file = re.sub(r"(?<=\.md):\d+$", "", match["place"] or "")
        page = f"docs/{Path(file.replace(chr(92), '/')).name}" if file.endswith(".md") else file
        found.add((page, match["message"]))
    if code not in (0, 1) or (code and not found):  # -W: 1 after warnings
        found.add(("", STOPPED))
    return found


def blame(new, alone):
    """Return {problem: the packages that cause it alone}, where `alone` holds each package's problems."""
    return {problem: [name for name, found in alone.items() if problem in found] for problem in sorted(new)}


def report(blamed, versions, others):
    """Yield a line for each problem."""
    for (page, message), names in blamed.items():
        if names:
            because = "、".join(f"{name} {versions[name]}" for name in names)
        else:
            because = f"1つずつでは起きません（組み合わせか、間接に使うもの：{'、'.join(others) or 'なし'}）"
        yield f"- {page or '（ページの外）'}：{message} ← {because}"


def run(*args, **options):
    return subprocess.run((sys.executable, *args), cwd=ROOT, encoding="utf-8", **options)


def pip(*args):
    """Run pip without its own warnings, which the sessions' PYTHONWARNINGS would show."""
    return run("-W", "ignore", "-m", "pip", *args, check=True, stdout=subprocess.PIPE).stdout


def install(*args):
    say(f"pip install {' '.join(args)}")
    pip("install", "-qq", *args)


def installed(*options):
    """Return what pip lists as {name: row}."""
    rows = json.loads(pip("list", "--format=json", *options))
    return {canonical(row["name"]): row for row in rows}


def build(title):
    say(f"作っています：{title}")
    out = ("-d", "_build/newest-doctrees", "docs", "_build/newest")
    env = os.environ | {"BOOK_MODE": "check", "NO_COLOR": "1"}
    done = run(
        *("-m", "sphinx", "-c", ".", "-E", "-a", "-j", "auto", "-W", *out),
        **{"env": env, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT},
    )
    found = problems(done.returncode, done.stdout)
    if found:
        print(done.stdout, file=sys.stderr, flush=True)
    return found


def say(text):
    print(text, file=sys.stderr, flush=True)


def main(lifted):
    direct = requirements((ROOT / "requirements.in").read_text(encoding="utf-8"))
    if unknown := set(lifted) - direct.keys():
        sys.exit(f"requirements.in にありません: {'、'.join(sorted(unknown))}。")
    pinned = pins((ROOT / "requirements.txt").read_text(encoding="utf-8"))
    rows = [name if name in lifted else row for name, row in direct.items()]
    install("--upgrade", "--upgrade-strategy", "eager", *rows)
    new = changes(pinned, {name: row["version"] for name, row in installed().items()})
    suspects = {name: version for name, version in new.items() if name in direct}
    others = [f"{name} {pinned[name]} → {new[name]}" for name in new if name not in direct]

    print("requirements.txt との違い：")
    print(*[f"- {name} {pinned[name]} → {new[name]}" for name in suspects], sep="\n")
    print(f"- 間接に使うもの：{'、'.join(others) or '違いはありません'}")
    for name, row in installed("--outdated").items():
        if name in direct:
            print(
                f"- {name} {row['version']} → {row['latest_version']} は、ほかの指定（requirements.in、ライブラリ、pip）が許しません"
            )
    sys.stdout.flush()

    if not (found := build("最新版をまとめて")):
        print("どのページもずれません。")
        return
    install("-r", "requirements.txt")
    known = build("固定した版")
    if known:
        print("固定した版でも、この機械では次のことが起きます（最新版のせいではありません）：")
        print(*[f"- {page or '（ページの外）'}：{message}" for page, message in sorted(known)], sep="\n")
    alone = {}
    for name, version in suspects.items() if found - known else ():
        install("--upgrade", f"{name}=={version}")
        alone[name] = build(f"{name} {version}")
        install("-r", "requirements.txt")
    print("最新版で、新しく起きること：")
    print(*report(blame(found - known, alone), new, others) or ["- ありません"], sep="\n")
    if ("", STOPPED) in known or any(page != SHOWS_VERSIONS for page, _ in found - known):
        sys.exit("最新版では、本が変わります。直すか、CONTRIBUTING.md の「版を上げる」に従ってください。")


if __name__ == "__main__":
    main([canonical(name) for name in sys.argv[1:]])
