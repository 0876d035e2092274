#!/usr/bin/env python3
"""Measures what `kohort verify` needs for small releases that were made to take long or fill the memory.

    cargo build -p kohort-cli && python3 tests/hostile/measure.py target/debug/kohort

Each release is verified in a process of its own. CPU time and peak memory are the kernel's, of that process alone. A
line is marked if it took more than 2 CPU seconds or 500 MB, and the program then ends with 1.
"""

import copy
import hashlib
import json
import os
import random
import resource
import shutil
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
VECTORS = os.path.join(HERE, "..", "vectors")
MOST_SECONDS, MOST_MEGABYTES = 2.0, 500


class Release:
    """A release of the test vectors that is being changed."""

    def __init__(self, folder, base):
        self.folder = os.path.join(folder, "release")
        shutil.copytree(os.path.join(VECTORS, base, "release"), self.folder)
        with open(os.path.join(self.folder, "certificate.json")) as own:
            self.certificate = json.load(own)
        self.counted = self.certificate["counted"]

    def write(self, name, text):
        data = text if isinstance(text, bytes) else text.encode()
        with open(os.path.join(self.folder, name), "wb") as own:
            own.write(data)
        for f in self.counted["files"]:
            if f["name"] == name:
                f["sha256"] = hashlib.sha256(data).hexdigest()
                if "rows" in f:
                    f["rows"] = data.count(b"\n") - 1

    def columns(self, columns, rows):
        """A table of these columns (name, role, of) and rows."""
        self.counted["columns"] = [dict(name=n, role=r, **({"of": of} if of else {})) for n, r, of in columns]
        lines = [",".join(n for n, _, _ in columns)] + [",".join(row) for row in rows]
        self.write("data.csv", "\n".join(lines) + "\n")
        self.counted["claim"] = {"k": 2, "knows": "all", "sensitive": []}

    def save(self):
        with open(os.path.join(self.folder, "certificate.json"), "w") as own:
            json.dump(self.certificate, own)


def one_long_path(r):
    r.columns([("q", "quasi", None), ("s", "sensitive", None)], [("a", "0")] * 4)
    path = ["0"] + [f"n{i}" for i in range(200_000)] + ["*"]
    limit = {"column": "s", "t_closeness": {"max": "0.5", "distance": "hierarchical", "tree": [path]}}
    r.counted["claim"]["sensitive"] = [limit]


def two_deep_paths(r):
    r.columns([("q", "quasi", None), ("s", "sensitive", None)], [("a", "0"), ("a", "1")] * 4)
    paths = [[str(v)] + [f"{v}-{i}" for i in range(80_000)] + ["*"] for v in (0, 1)]
    limit = {"column": "s", "t_closeness": {"max": "0.5", "distance": "hierarchical", "tree": paths}}
    r.counted["claim"]["sensitive"] = [limit]


def sensitive_times_values(r):
    names = [f"s{i}" for i in range(1_500)]
    rows = [["a"] + [f"{row}.{i}" for i in range(len(names))] for row in range(200)]
    r.columns([("q", "quasi", None)] + [(n, "sensitive", None) for n in names], rows)
    r.counted["claim"]["sensitive"] = [{"column": n, "confidence": "0.5"} for n in names]


def sensitive_named_often(r):
    r.columns([("q", "quasi", None), ("s", "sensitive", None)], [("a", "0")] * 4)
    r.counted["claim"]["sensitive"] = [{"column": "s", "confidence": "0.5"}] * 300_000


def of_times_columns(r):
    names = [f"q{i}" for i in range(1_500)]
    details = [(f"d{i}", "detail", names) for i in range(1_500)]
    row = ["*"] * 3_000
    r.columns([(n, "quasi", None) for n in names] + details, [row] * 4)


def file_listed_often(r):
    r.columns([("q", "quasi", None)], [("a",)] * 4_000_000)
    data = next(f for f in r.counted["files"] if "rows" in f)
    r.counted["files"] += [copy.deepcopy(data) for _ in range(499)]


def sets_after_a_failure(r):
    names = [f"q{i}" for i in range(22)]
    rows = [[str(random.getrandbits(1)) for _ in names] for _ in range(2_000)]
    r.columns([(n, "quasi", None) for n in names], rows)
    r.counted["claim"]["knows"] = 11


def listed_sets_times_rows(r):
    names = [f"q{i}" for i in range(40)]
    rows = [[str(random.getrandbits(1)) for _ in names] for _ in range(2_000)]
    r.columns([(n, "quasi", None) for n in names], rows)
    r.counted["claim"]["knows"] = [names] + [random.sample(names, 20) for _ in range(5_000)]


def equal_sets_times_rows(r):
    names = [f"q{i}" for i in range(10)]
    rows = [["0"] * 10, ["0"] * 10, ["1"] * 10, ["1"] * 10] * 2_500
    r.columns([(n, "quasi", None) for n in names], rows)
    r.counted["claim"]["knows"] = [names] * 100_000


def order_of_many_values(r):
    values = [str(v) for v in range(100_000)]
    r.columns([("q", "quasi", None), ("s", "sensitive", None)], [("a", v) for v in values])
    limit = {"column": "s", "t_closeness": {"max": "0.5", "distance": "ordered", "order": values}}
    r.counted["claim"]["sensitive"] = [limit]


def classes_times_values_of_t(r):
    values = [str(v) for v in range(20_000)]
    rows = [(str(i // 2), v) for i, v in enumerate(values)]
    r.columns([("q", "quasi", None), ("s", "sensitive", None)], rows)
    limit = {"column": "s", "t_closeness": {"max": "1", "distance": "ordered", "order": values}}
    r.counted["claim"]["sensitive"] = [limit]


def classes_times_tree_of_t(r):
    values = [f"{v:05}" for v in range(10_000)]
    rows = [(str(i // 2), v) for i, v in enumerate(values)]
    r.columns([("q", "quasi", None), ("s", "sensitive", None)], rows)
    tree = [[v, v[:4], v[:3], v[:2], v[:1] + "x", "*"] for v in values]
    limit = {"column": "s", "t_closeness": {"max": "1", "distance": "hierarchical", "tree": tree}}
    r.counted["claim"]["sensitive"] = [limit]


def many_classes_and_a_deep_tree(r):
    """A tree in which each step joins one value more, above classes of two values each."""
    values = 700
    rows = [(str(i // 2), str(random.randrange(values))) for i in range(60_000)]
    rows += [("all", str(v)) for v in range(values)]
    r.columns([("q", "quasi", None), ("s", "sensitive", None)], rows)
    tree = [[str(v)] + [f"g{j}" if v <= j else f"s{v}" for j in range(1, values)] for v in range(values)]
    limit = {"column": "s", "t_closeness": {"max": "1", "distance": "hierarchical", "tree": tree}}
    r.counted["claim"]["sensitive"] = [limit]


def classes_times_values_of_equal_t(r):
    rows = [(str(i // 2), str(i)) for i in range(100_000)]
    r.columns([("q", "quasi", None), ("s", "sensitive", None)], rows)
    r.counted["claim"]["sensitive"] = [{"column": "s", "t_closeness": {"max": "1", "distance": "equal"}}]


def many_listed_values(r):
    r.columns([("q", "quasi", None), ("s", "sensitive", None)], [("a", "0")] * 4)
    r.counted["claim"]["sensitive"] = [{"column": "s", "confidence": "1", "values": [f"v{i}" for i in range(1_500_000)]}]


def wide_table(r):
    names = [f"q{i}" for i in range(100_000)]
    r.columns([(n, "quasi", None) for n in names], [["0"] * len(names)] * 3)


def events(r, patients, columns, cells, power):
    names = [f"c{i}" for i in range(columns)]
    listed = [{"name": n, "role": "quasi"} for n in names]
    r.counted["tables"] = [{"name": "patients", "columns": []}, {"name": "claims", "columns": listed}]
    r.counted["claim"] = {"k": 2, "power": power, "max_high_risk": "0.5"}
    r.write("patients.csv", "patient\n" + "".join(f"{p}\n" for p in range(1, patients + 1)))
    lines = [",".join(["patient"] + names)]
    for p in range(patients):
        lines += [",".join([str(p + 1)] + event) for event in cells(p)]
    r.write("claims.csv", "\n".join(lines) + "\n")


def events_of_common_values(r):
    """Every value is common, and every combination is rare."""
    events(r, 100_000, 17, lambda p: [[str(p >> i & 1) for i in range(17)]], {"values": 1})


def events_of_two_columns(r):
    """Half of the patients are alone, so that the share stays near the limit."""
    events(r, 60_000, 12, lambda p: [[str((p // 2 if p < 30_000 else p) >> i & 1) for i in range(16)][:12]], {"values": 2})


def pairs_of_columns(r):
    """Many patients, and as many pairs of columns as are looked at where no limit is about them."""
    events(r, 60_000, 11, lambda p: [[str(p % 7), *[str(p % 3)] * 10] for _ in range(2)], {"values": 1})


def limited_pairs(r):
    """As many pairs of columns as a limit may be about."""
    events(r, 2_000, 32, lambda p: [[str(p % 7), *[str(p % 3)] * 31]], {"pairs": 1})


def too_many_pairs(r):
    events(r, 2_000, 200, lambda p: [[str(p % 7), *[str(p % 3)] * 199]], {"pairs": 1})


def events_of_one_patient(r):
    """Long histories of few labels."""
    events(r, 200, 2, lambda p: [[str(random.randrange(40)), str(random.randrange(3))] for _ in range(1_000)], {"values": 5})


def facts_in_total(r):
    events(r, 2_000, 3, lambda p: [[str(random.randrange(100)) for _ in range(3)] for _ in range(20)], {"total": 3})


def many_facts_in_total(r):
    """As many sets of three facts as are counted at most."""
    events(r, 480, 3, lambda p: [[str(random.randrange(60)) for _ in range(3)] for _ in range(50)], {"total": 3})


def a_long_dictionary(r):
    r.write("dictionary.md", "x" * 40_000_000)


CASES = [
    ("V6: a tree of one path with 200,000 labels", "good_table", one_long_path),
    ("V6: a tree of two paths with 80,000 labels each", "good_table", two_deep_paths),
    ("V6: 1,500 sensitive columns with 200 values each", "good_table", sensitive_times_values),
    ("V6: 1,500 details that name 1,500 columns each", "good_table", of_times_columns),
    ("V6: a file of 8 MB that is listed 500 times", "good_table", file_listed_often),
    ("V6: 705,432 sets after the first one failed", "good_table", sets_after_a_failure),
    ("one sensitive column named 300,000 times", "good_table", sensitive_named_often),
    ("5,000 listed sets of 20 columns", "good_table", listed_sets_times_rows),
    ("100,000 equal sets over 10,000 rows", "good_table", equal_sets_times_rows),
    ("an order of 100,000 values", "good_table", order_of_many_values),
    ("10,000 classes, an order of 20,000 values", "good_table", classes_times_values_of_t),
    ("5,000 classes, a tree of 10,000 values", "good_table", classes_times_tree_of_t),
    ("30,000 classes, a tree of 700 steps", "good_table", many_classes_and_a_deep_tree),
    ("50,000 classes and 100,000 values", "good_table", classes_times_values_of_equal_t),
    ("a dictionary of 40 MB", "good_table", a_long_dictionary),
    ("1,500,000 listed values", "good_table", many_listed_values),
    ("100,000 quasi-identifiers", "good_table", wide_table),
    ("100,000 patients, 17 columns of common values", "good_events_power", events_of_common_values),
    ("60,000 patients, 12 columns, near the limit", "good_events_power", events_of_two_columns),
    ("60,000 patients, 55 pairs of columns", "good_events_power", pairs_of_columns),
    ("2,000 patients, a limit on 496 pairs of columns", "good_events_power", limited_pairs),
    ("2,000 patients, a limit on 19,900 pairs of columns", "good_events_power", too_many_pairs),
    ("200 patients with 1,000 events each", "good_events_power", events_of_one_patient),
    ("2,000 patients, any 3 facts of 60", "good_events_total", facts_in_total),
    ("480 patients, any 3 facts of 150", "good_events_total", many_facts_in_total),
]


def measure(program, folder):
    """The exit code, CPU seconds, wall seconds and megabytes of one verification."""
    start = time.monotonic()
    child = os.fork()
    if child == 0:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        resource.setrlimit(resource.RLIMIT_CPU, (120, 120))
        os.execv(program, [program, "verify", folder])
    _, status, used = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return code, used.ru_utime + used.ru_stime, time.monotonic() - start, used.ru_maxrss / 1024


def main():
    program, only = os.path.abspath(sys.argv[1]), sys.argv[2:]
    random.seed(1)
    too_much = 0
    print("| release | exit code | CPU seconds | peak memory, MB |\n|---|---|---|---|")
    for name, base, change in CASES:
        if only and not any(word in name for word in only):
            continue
        with tempfile.TemporaryDirectory() as place:
            own = Release(place, base)
            change(own)
            own.save()
            size = sum(os.path.getsize(os.path.join(own.folder, f)) for f in os.listdir(own.folder))
            code, cpu, _, memory = measure(program, place)
        above = cpu > MOST_SECONDS or memory > MOST_MEGABYTES or code not in (0, 1, 2, 5)
        too_much += above
        mark = " **above the limit**" if above else ""
        print(f"| {name} ({size / 1e6:.1f} MB) | {code} | {cpu:.2f} | {memory:.0f}{mark} |", flush=True)
    sys.exit(bool(too_much))


if __name__ == "__main__":
    main()
