"""Runs every example of docs/guides/python.md, in the order shown."""

import subprocess
import sys
from pathlib import Path

GUIDES = Path(__file__).parents[2] / "docs" / "guides"


def blocks(guide):
    kind, lines = None, []
    for line in (GUIDES / guide).read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            if kind is not None:
                yield kind, "\n".join(lines)
                kind, lines = None, []
            else:
                kind = line[3:]
        elif kind is not None:
            lines.append(line)


def run_guide(guide, names, kinds):
    """Runs the blocks of a guide in the order shown, and returns their number."""
    ran = 0
    for kind, text in blocks(guide):
        if kind == "sh":
            for line in text.splitlines():
                assert line.startswith("kohort ")
                subprocess.run([sys.executable, "-m", "kohort", *line.split()[1:]], check=True, capture_output=True)
        elif kind in kinds:
            exec(compile(text, guide, "exec"), names)
            ran += 1
    return ran


def test_the_guide_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_guide("python.md", {}, ["python"]) >= 10


def test_the_guide_to_engines_runs_on_duckdb(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_guide("spark.md", {}, ["python"]) == 2
