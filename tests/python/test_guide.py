"""Runs every example of docs/guides/python.md, in the order shown."""

import subprocess
import sys
from pathlib import Path

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "python.md"


def blocks():
    kind, lines = None, []
    for line in GUIDE.read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            if kind is not None:
                yield kind, "\n".join(lines)
                kind, lines = None, []
            else:
                kind = line[3:]
        elif kind is not None:
            lines.append(line)


def test_the_guide_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, ran = {}, 0
    for kind, text in blocks():
        if kind == "sh":
            for line in text.splitlines():
                assert line.startswith("kohort ")
                subprocess.run([sys.executable, "-m", "kohort", *line.split()[1:]], check=True, capture_output=True)
        elif kind == "python":
            exec(compile(text, "python.md", "exec"), names)
            ran += 1
    assert ran >= 9
