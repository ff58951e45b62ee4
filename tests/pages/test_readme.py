"""README's commands are the ones that CI runs."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def commands(path):
    lines = (ROOT / path).read_text(encoding="utf-8").split("\n")
    return [line for line in lines if line.startswith("python3 -m venv")]


def test_ci_runs_the_commands_of_the_readme():
    assert len(commands("README.md")) == 2
    assert commands(".ci/run") == commands("README.md")
    assert "run: bash .ci/run" in (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
