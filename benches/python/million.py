"""One million rows from a polars frame beside the command line: CPU seconds and peak memory of whole processes.

    python benches/python/million.py ADULT_FOLDER [ROWS] [METHOD]

ADULT_FOLDER holds adult.csv.gz (or adult.csv) and adult_hierarchy_COLUMN.csv, as ARX publishes them. Rows are drawn from
Adult with replacement. Both run the same policy on one thread, by the code of the same wheel: the command reads a CSV file
and writes a folder; Python takes a frame that is in memory already, makes a release in memory and a frame of it.

Memory is what the process had at its peak, less what it had before the call: the interpreter, polars and the frame that
came in. Making the release may add 1.5 times what the command takes. The frame that is handed over comes on top: polars
has 16 bytes for each cell of text, whatever it holds.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

QUASI = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]


def policy(folder, method):
    import kohort as kh

    own = kh.Policy().other("salary-class", reason="a benchmark").privacy(k=5).method(method, max_suppressed=0.05)
    for column in QUASI:
        own.quasi(column, hierarchy=folder / f"adult_hierarchy_{column}.csv")
    own["input"] = {"table": "million.csv", "delimiter": ";"}
    return own


def memory(kind):
    """Memory in MB: now (`VmRSS`), or the most since the last call (`VmHWM`)."""
    found = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(kind))
    Path("/proc/self/clear_refs").write_text("5")
    return int(found.split()[1]) / 1024


def by_python(work, folder, method):
    import polars as pl

    import kohort as kh

    frame = pl.read_csv(work / "million.csv", separator=";", infer_schema=False)
    own = policy(folder, method)
    # polars gives memory that it no longer uses back after a while.
    time.sleep(3)
    before, start = memory("VmRSS"), sum(os.times()[:2])
    release = kh.anonymize(frame, own, threads=1, seed=1)
    peak = memory("VmHWM")
    made = release.data
    cpu = sum(os.times()[:2]) - start
    return {
        "cpu": cpu,
        "before": before,
        "release": peak - before,
        "data": memory("VmHWM") - before,
        "frame": 16 * made.height * made.width / 2**20,
    }


def by_command(work):
    args = ["anonymize", str(work / "policy.toml"), "-o", str(work / "out"), "--threads", "1", "--seed", "1", "--force"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "kohort", *args], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"cpu": cpu, "peak": after.ru_maxrss / 1024}


def main():
    folder = Path(sys.argv[1]).resolve()
    if sys.argv[2:3] == ["python"]:
        print(json.dumps(by_python(Path(sys.argv[3]), folder, sys.argv[4])))
        return
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    method = sys.argv[3] if len(sys.argv) > 3 else "local"
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        # Made in a process of its own: the peak memory of children is that of the largest.
        program = (
            "import polars as pl, sys\n"
            "pl.read_csv(sys.argv[1], separator=';', infer_schema=False)"
            ".sample(int(sys.argv[2]), with_replacement=True, seed=1).write_csv(sys.argv[3], separator=';')"
        )
        source = next(path for path in (folder / "adult.csv.gz", folder / "adult.csv") if path.exists())
        command = by_command_after(work, folder, method, [program, str(source), str(rows), str(work / "million.csv")])
        own = subprocess.run([sys.executable, __file__, str(folder), "python", name, method], capture_output=True, text=True)
        if own.returncode != 0:
            sys.exit(own.stderr)
        python = json.loads(own.stdout)
    print(f"{rows:,} rows, {method}, k = 5, one thread")
    print(f"command line   {command['cpu']:6.2f} CPU s   peak {command['peak']:6.0f} MB")
    print(f"Python         {python['cpu']:6.2f} CPU s   peak {python['before'] + max(python['release'], python['data']):6.0f} MB   ({python['before']:.0f} MB before the call)")
    print(f"ratio of CPU   {python['cpu'] / command['cpu']:.2f} (at most 1.2)")
    print(f"the release    adds {python['release']:.0f} MB (at most 1.5 x the command line's = {1.5 * command['peak']:.0f} MB)")
    print(f"with its frame adds {python['data']:.0f} MB (at most {1.5 * command['peak'] + python['frame']:.0f} MB: its cells have {python['frame']:.0f} MB)")


def by_command_after(work, folder, method, make):
    """The command in a process that has no other children."""
    subprocess.run([sys.executable, "-c", *make], check=True)
    policy(folder, method).save(work / "policy.toml")
    program = (
        "import json, sys; from pathlib import Path; sys.path.insert(0, sys.argv[1]); import million;"
        "print(json.dumps(million.by_command(Path(sys.argv[2]))))"
    )
    run = subprocess.run([sys.executable, "-c", program, str(Path(__file__).parent), str(work)], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(run.stderr)
    return json.loads(run.stdout)


if __name__ == "__main__":
    main()
