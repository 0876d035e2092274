"""Kohort, anjana and anonypy on the same table, each in a process of its own, with pycanon as the judge of all of them.

    python benches/python/side_by_side.py ADULT_FOLDER      (needs kohort, pandas, pycanon, anjana and anonypy)

ADULT_FOLDER holds adult.csv.gz (or adult.csv) and adult_hierarchy_COLUMN.csv, as ARX publishes them. Every tool gets the
same hierarchies where it takes any, and may remove at most 5 % of the rows. Printed are, for each tool: the lines of code
of its function below, CPU seconds and peak memory, rows, loss, and k, l and t as pycanon counts them. What Kohort
certifies must be what pycanon counts.

Loss is one number for all tools: the mean over rows and quasi-identifiers of (values that a cell may stand for - 1) /
(values of the column - 1); a removed row counts as 1 in every cell.
"""

import inspect
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pandas as pd

QUASI = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class"]
SENSITIVE = "occupation"
K, L, T = 5, 3, 0.5


def adult(folder):
    path = next(path for path in (folder / "adult.csv.gz", folder / "adult.csv", folder / "adult_subset.csv") if path.exists())
    return pd.read_csv(path, sep=";", dtype=str)[[*QUASI, SENSITIVE]]


def lines_of(folder, column):
    return [line.split(";") for line in (folder / f"adult_hierarchy_{column}.csv").read_text().splitlines()]


def kohort_local(frame, folder, k, l, t, method="local"):
    import kohort as kh

    policy = kh.Policy().sensitive(SENSITIVE).method(method, max_suppressed=0.05)
    for column in QUASI:
        policy.quasi(column, hierarchy=folder / f"adult_hierarchy_{column}.csv")
    limits = {"l_diversity": {"distinct": l}} if l else {"t_closeness": t} if t else {}
    release = kh.anonymize(frame, policy, k=k, threads=1, **limits)
    return release.data, release.certificate["counted"]["recount"]


def kohort_lattice(frame, folder, k, l, t):
    return kohort_local(frame, folder, k, l, t, "lattice")


def anjana(frame, folder, k, l, t):
    import numpy as np
    from anjana import anonymity

    hierarchies = {}
    for column in QUASI:
        lines = np.array(lines_of(folder, column))
        hierarchies[column] = {level: lines[:, level] for level in range(lines.shape[1])}
    if t is not None:
        return anonymity.t_closeness(frame, [], QUASI, SENSITIVE, k, t, 5, hierarchies)
    if l is not None:
        return anonymity.l_diversity(frame, [], QUASI, SENSITIVE, k, l, 5, hierarchies)
    return anonymity.k_anonymity(frame, [], QUASI, k, 5, hierarchies)


def anonypy(frame, folder, k, l, t):
    from anonypy import Preserver

    frame = frame.astype({column: int if column == "age" else "category" for column in frame})
    own = Preserver(frame, QUASI, SENSITIVE)
    rows = own.anonymize_t_closeness(k, t) if t is not None else own.anonymize_l_diversity(k, l or 0)
    grouped = pd.DataFrame(rows)
    return grouped.loc[grouped.index.repeat(grouped["count"])].drop(columns="count").reset_index(drop=True)


TOOLS = {"kohort local": kohort_local, "kohort lattice": kohort_lattice, "anjana": anjana, "anonypy": anonypy}


def below(folder, original):
    """For each column and label: the values that it may stand for."""
    found = {}
    for column in QUASI:
        found[column] = {}
        occurring = set(original[column])
        for value, *above in lines_of(folder, column):
            if value in occurring:
                for label in [value, *above]:
                    found[column].setdefault(label, set()).add(value)
    return found


def loss(original, released, folder):
    covered, total = below(folder, original), 0.0
    for column in QUASI:
        values = set(original[column])
        for label, rows in released[column].astype(str).value_counts().items():
            total += rows * (len(stands_for(column, label, covered[column], values)) - 1) / (len(values) - 1)
    gone = len(original) - len(released)
    return (total / len(QUASI) + gone) / len(original)


def stands_for(column, label, covered, values):
    if label == "*":
        return values
    if label in covered:
        return covered[label]
    if column == "age":
        low, high = map(int, label.split("-"))
        return {value for value in values if low <= int(value) <= high}
    named = set(label.split(","))
    assert named <= values, f"a label of {column} is unknown"
    return named


def cpu_used():
    """CPU seconds of this process and of those that it started."""
    return sum(os.times()[:4])


def run(tool, folder, k, l, t):
    original = adult(folder)
    start, certified = cpu_used(), None
    released = TOOLS[tool](original, folder, k, l, t)
    if isinstance(released, tuple):
        released, certified = released
    cpu = cpu_used() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if released.empty:
        return {"tool": tool, "cpu": cpu, "memory": memory, "released": None}
    from pycanon import anonymity

    start = cpu_used()
    judged = {
        "k": int(anonymity.k_anonymity(released, QUASI)),
        "l": int(anonymity.l_diversity(released, QUASI, [SENSITIVE])),
        "t": round(float(anonymity.t_closeness(released.astype({SENSITIVE: str}), QUASI, [SENSITIVE])), 4),
    }
    return {
        "tool": tool, "cpu": cpu, "memory": memory, "rows": len(released), "loss": loss(original, released, folder),
        "pycanon": judged, "pycanon_cpu": cpu_used() - start, "certified": certified,
    }


def main():
    folder = Path(sys.argv[1]).resolve()
    if len(sys.argv) > 2:
        tool, k, l, t = json.loads(sys.argv[2])
        print(json.dumps(run(tool, folder, k, l, t)))
        return
    print(f"{'asked':<22} {'tool':<15} {'lines':>5} {'CPU s':>8} {'MB':>6} {'rows':>6} {'loss':>7}  k, l and t by pycanon (CPU s)")
    for k, l, t in [(K, None, None), (K, L, None), (K, None, T)]:
        asked = f"k = {k}" + (f", l = {l}" if l else "") + (f", t = {t}" if t else "")
        for tool, function in TOOLS.items():
            source = inspect.getsource(kohort_local if tool.startswith("kohort") else function)
            lines = sum(1 for line in source.splitlines() if line.strip()) - 1
            own = subprocess.run([sys.executable, __file__, str(folder), json.dumps([tool, k, l, t])], capture_output=True, text=True)
            if own.returncode != 0:
                print(f"{asked:<22} {tool:<15} failed: {own.stderr.strip().splitlines()[-1]}")
                continue
            found = json.loads(own.stdout.splitlines()[-1])
            if found.get("released", True) is None:
                print(f"{asked:<22} {tool:<15} {lines:>5} {found['cpu']:>8.2f} {found['memory']:>6.0f}   no release")
                continue
            judged, own = found["pycanon"], found["certified"]
            if own:
                sensitive = own["sensitive"][0] if own.get("sensitive") else {}
                assert own["smallest_class"] == judged["k"], "pycanon counts another k"
                assert float(sensitive.get("least_diversity", judged["l"])) == judged["l"], "pycanon counts another l"
                assert abs(float(sensitive.get("largest_distance", judged["t"])) - judged["t"]) < 1e-3, "pycanon counts another t"
            print(
                f"{asked:<22} {tool:<15} {lines:>5} {found['cpu']:>8.2f} {found['memory']:>6.0f} {found['rows']:>6} "
                f"{found['loss']:>7.4f}  k = {judged['k']}, l = {judged['l']}, t = {judged['t']} ({found['pycanon_cpu']:.1f})",
                flush=True,
            )


if __name__ == "__main__":
    main()
