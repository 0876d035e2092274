#!/usr/bin/env python3
"""Measures the tables of these pages again and writes them into the pages.

A page in docs/ or docs/papers/ marks what was measured with `<!-- measured: COMMAND -->` before it and `<!-- end -->`
behind it. COMMAND is a benchmark of kohort-cli with its arguments (`ceiling --catalog`), or `test MODULE` for a test of
kohort's suite that prints its tables (`test real_nhds`). What the command prints in Markdown replaces what is between
the marks: headings, tables and sentences.

    KOHORT_DATA=… python3 docs/papers/make.py [PAGE | COMMAND …]

measures everything, or the tables of the pages and commands that are named. Measuring everything takes about half an
hour on two cores.

    python3 docs/papers/make.py --from FOLDER [PAGE | COMMAND …]

takes what the commands printed earlier, from files such as `FOLDER/ceiling --catalog.txt`. Commands without a file stay
as they are.
"""

import os
import pathlib
import re
import subprocess
import sys

DOCS = pathlib.Path(__file__).resolve().parent.parent
MARKED = re.compile(r"(<!-- measured: (.+?) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def run(command):
    """What a command prints."""
    name, *arguments = command.split()
    environment = dict(os.environ)
    if name == "test":
        cargo = ["test", "--quiet", "--release", "-p", "kohort", "--test", "suite", f"{arguments[0]}::", "--", "--nocapture"]
        environment["KOHORT_TABLE"] = "whole"
    else:
        cargo = ["bench", "--quiet", "-p", "kohort-cli", "--bench", name, "--", *arguments]
    print("cargo", *cargo, file=sys.stderr)
    made = subprocess.run(
        ["cargo", *cargo], cwd=DOCS.parent, env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    return made.stdout


def markdown(out):
    """The lines of an output without those of cargo and of the test runner."""
    noise = re.compile(r"running \d+ test|test result:|[.]+$|test .* \.\.\. |\$ |real\t|user\t|sys\t|k = \d+ knows")
    lines = [line.rstrip() for line in out.splitlines() if not noise.match(line)]
    # A test's first line may follow a dot of the test runner.
    text = "\n".join(line.lstrip(".") if line.startswith((".|", "..|")) else line for line in lines).strip()
    return "\n" + re.sub(r"\n{3,}", "\n\n", text) + "\n\n"


def main(wanted):
    recorded = None
    if wanted[:1] == ["--from"]:
        recorded, wanted = pathlib.Path(wanted[1]), wanted[2:]
    elif "KOHORT_DATA" not in os.environ:
        sys.exit("KOHORT_DATA names no folder of public data: nothing can be measured.")
    known = {}

    def measured(command, before):
        if recorded is not None:
            file = recorded / f"{command}.txt"
            return markdown(file.read_text(encoding="utf-8")) if file.is_file() else before
        if command not in known:
            known[command] = markdown(run(command))
        return known[command]

    for page in sorted([*DOCS.glob("*.md"), *DOCS.glob("papers/*.md")]):
        text = page.read_text(encoding="utf-8")

        def again(match):
            command = match[2].strip()
            asked = not wanted or page.stem in wanted or command.split()[0] in wanted or command in wanted
            return match[1] + (measured(command, match[3]) if asked else match[3]) + match[4]

        new = MARKED.sub(again, text)
        if new != text:
            page.write_text(new, encoding="utf-8")
            print(f"{page.relative_to(DOCS)} is written.")


if __name__ == "__main__":
    main(sys.argv[1:])
