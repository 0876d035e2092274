"""A small synthetic ward for the tests, engines that lie, and disks that are full."""

import hashlib
import itertools
import json
import random
import shutil
import subprocess
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest


def ward(rows=400, seed=7):
    """Columns of a ward whose values are drawn, with several rows for some patients."""
    draw = random.Random(seed)
    columns = {name: [] for name in ("pid", "name", "age", "sex", "zip", "admitted", "diagnosis", "los")}
    for row in range(rows):
        patient = draw.randrange(rows * 3 // 4)
        own = random.Random(patient)
        columns["pid"].append(patient)
        columns["name"].append(f"Person {patient}")
        columns["age"].append(own.randrange(20, 90))
        columns["sex"].append(own.choice(["F", "M"]))
        columns["zip"].append(f"{own.choice([12, 13, 14])}{own.randrange(10)}{own.randrange(3)}")
        columns["admitted"].append(f"2024-{draw.randrange(1, 13):02d}-{draw.randrange(1, 29):02d}")
        columns["diagnosis"].append(draw.choice(["flu", "asthma", "angina", "burn", "fracture"]))
        columns["los"].append(draw.randrange(1, 15))
    return columns


@pytest.fixture
def columns():
    return ward()


@pytest.fixture
def policy():
    import kohort as kh

    return (
        kh.Policy()
        .patient("pid")
        .identifier("name", "admitted")
        .quasi("age", intervals=[5, 10, 20], start=0, end=100)
        .quasi("sex")
        .quasi("zip", prefix=[3, 2])
        .sensitive("diagnosis")
        .other("los", reason="not known outside the hospital")
        .privacy(k=4, confidence=0.8)
        .method("local", max_suppressed=0.05)
    )


#: In what an engine may lie when it counts, and when it joins the plan.
COUNT_LIES, JOIN_LIES = ["one more", "one less", "swapped", "lost tuple"], ["lost row", "double row", "cut"]


def lying(table, lie):
    """The same table of whatever engine, which says what a test wants it to say."""
    honest = table._connection.query

    def query(statement):
        batches = [batch.to_pylist() if isinstance(batch, (pa.Table, pa.RecordBatch)) else batch for batch in honest(statement)]
        rows = [list(row.values()) if isinstance(row, dict) else list(row) for batch in batches for row in batch]
        rows = [[None if cell is None else str(cell) for cell in row] for row in rows]
        if statement.startswith("SELECT q0") and "AS patients" not in statement and "JOIN" not in statement and lie in COUNT_LIES:
            counts = [int(row[-1]) for row in rows]
            high = max(range(len(counts)), key=counts.__getitem__)
            low = min(range(len(counts)), key=counts.__getitem__)
            assert counts[high] > counts[low]
            if lie == "one more":
                counts[low] += 1
            if lie == "one less":
                counts[high] -= 1
            if lie == "swapped":
                counts[high], counts[low] = counts[low], counts[high]
            if lie == "lost tuple":
                counts[high], counts[low] = counts[high] + counts[low], 0
            rows = [[*row[:-1], str(n)] for row, n in zip(rows, counts, strict=True) if n > 0]
        if "JOIN kohort_plan" in statement and lie in JOIN_LIES:
            if lie == "cut":
                raise ConnectionError("Person 17 has flu")
            rows = rows[1:] if lie == "lost row" else [*rows, rows[0]]
        yield rows

    table._connection.query = query
    return table


#: In what workers may lie about the parts that they wrote.
PARTS_LIES = ["lost part", "double part", "other bytes", "other counts", "other cells"]


def other_parts(parts, lie):
    """The parts that workers wrote, as a lie has them. `parts`: number, path and counts of each."""
    if lie == "lost part":
        return parts[1:]
    if lie == "double part":
        return [*parts, parts[0]]
    if lie == "other bytes":
        pq.write_table(pq.read_table(parts[0][1]), parts[0][1])
    if lie == "other counts":
        return one_more_and_one_less(parts)
    if lie == "other cells":
        return [counted_before(*part) for part in parts]
    return parts


def one_more_and_one_less(parts):
    """Counts that hold the rows of the plan together, but are not those of their parts: of the same tuple, one part has
    a row more than it holds and another one fewer."""
    parts = [(number, path, json.loads(counts)) for number, path, counts in parts]

    def counted(part):
        _, values, tuples, *_ = part[2]
        return {tuple(values[i][own] for i, own in enumerate(key)): entry for entry in tuples for key in [entry[0]]}

    for more, less in itertools.permutations(parts, 2):
        own, other = counted(more), counted(less)
        for cells in own.keys() & other.keys():
            if other[cells][1] > 1:
                own[cells][1] += 1
                other[cells][1] -= 1
                return [(number, path, json.dumps(counts)) for number, path, counts in parts]
    raise AssertionError("no two parts hold the same tuple")


def counted_before(number, path, counts):
    """A part with other cells than those that were counted, and with the hash of what it now holds."""
    table = pq.read_table(path)
    column = table.column_names.index("age")
    pq.write_table(table.set_column(column, "age", pa.array(["[0,100)"] * table.num_rows)), path)
    _, *rest = json.loads(counts)
    with open(path, "rb") as file:
        return number, path, json.dumps([hashlib.sha256(file.read()).hexdigest(), *rest])


@pytest.fixture
def small_disk():
    """A function that mounts a disk of this size (`200k`, `6m`) and returns its folder."""
    folders = []

    def mounted(size):
        # Another user than the one who runs the tests must get there.
        folder = Path(tempfile.mkdtemp(prefix="kohort-small."))
        folder.chmod(0o755)
        own = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=777", "tmpfs", str(folder)]
        if shutil.which("mount") is None or subprocess.run(own, capture_output=True).returncode != 0:
            folder.rmdir()
            pytest.skip("this user may not mount a small disk")
        folders.append(folder)
        return folder

    yield mounted
    for folder in folders:
        subprocess.run(["umount", "-l", str(folder)], check=True)
        folder.rmdir()
