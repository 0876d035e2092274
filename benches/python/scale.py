"""The same rows and the same policy by Kohort alone, by DuckDB, and by Spark with one and two executors.

    python benches/python/scale.py --rows 10000000 --folder /somewhere/large [--only duckdb,spark-2] [--patients] [--varied] [--keep]

Rows are made by DuckDB with a fixed seed and written as Parquet parts: nine columns, of which seven make the tuples, and
on average 2.5 rows of each patient. Of ten million rows about one million tuples are distinct; with --varied more than
eight, so that nearly every row is its own tuple. Every way runs in a process of its own; this one adds up the CPU time and the memory
(resident, of the process and everything that it started) five times a second. What is made is removed at the end; --keep
keeps the table for the next run. --command names a `kohort` to measure in place of the one in the package.
"""

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

WAYS = ["kohort", "duckdb", "spark-1", "spark-2"]
PARTS = 16


def made(folder: Path, rows: int, varied: bool) -> Path:
    """Parts of a table with `rows` rows."""
    import duckdb

    table = folder / f"visits-{rows}{'-varied' if varied else ''}"
    zips, races, wards, diagnoses = (300, 6, 12, 20) if varied else (20, 5, 4, 5)
    if table.exists():
        return table
    table.mkdir(parents=True)
    connection = duckdb.connect()
    connection.execute("SET threads = 2; SET preserve_insertion_order = false")

    def drawn(salt: int, size: int) -> str:
        # Skewed, as values are: small numbers are frequent.
        unit = f"(hash(i * 31 + {salt}) % 1000003 / 1000003.0)"
        return f"CAST(floor({size} * {unit} * {unit}) AS INTEGER)"

    each = -(-rows // PARTS)
    for part in range(PARTS):
        first, last = part * each, min(rows, (part + 1) * each)
        connection.execute(
            f"""COPY (SELECT 'p' || CAST(hash(i) % {max(1, rows * 2 // 5)} AS VARCHAR) AS patient_id,
              {drawn(1, 90)} AS age, CASE {drawn(2, 2)} WHEN 0 THEN 'F' ELSE 'M' END AS sex,
              CAST(10000 + {drawn(3, zips)} * 37 AS VARCHAR) AS zip, 'r' || {drawn(4, races)} AS race, 'm' || {drawn(5, 4)} AS marital,
              'w' || {drawn(6, wards)} AS ward, 'd' || {drawn(7, diagnoses)} AS diagnosis, {drawn(8, 30)} AS los_days
            FROM range({first}, {last}) t(i)) TO '{table}/part-{part:03}.parquet' (FORMAT parquet)"""
        )
    return table


def policy(patients: bool):
    import kohort as kh

    own = kh.Policy().patient("patient_id") if patients else kh.Policy().identifier("patient_id")
    return (
        own.quasi("age", intervals=[5, 10, 20], start=0, end=100)
        .quasi("sex")
        .quasi("zip", prefix=[4, 3, 2])
        .quasi("race")
        .quasi("marital")
        .quasi("ward")
        .sensitive("diagnosis")
        .other("los_days", reason="not known outside")
        .privacy(k=5, confidence=0.8)
        .method("lattice", max_suppressed=0.05)
    )


def run(way: str, table: Path, out: Path, patients: bool, command: Path | None) -> None:
    """One way, in this process."""
    import kohort as kh

    own = policy(patients)
    if way == "kohort":
        text = own.to_toml()
        (out.parent / "policy.toml").write_text(f'[input]\ntable = "{table}/*.parquet"\n\n{text}')
        arguments = ["anonymize", str(out.parent / "policy.toml"), "-o", str(out)]
        raise SystemExit(subprocess.call([command, *arguments]) if command else kh._kohort.command(["kohort", *arguments]))
    if way == "duckdb":
        import duckdb

        connection = duckdb.connect()
        connection.execute("SET threads = 2; SET memory_limit = '4GB'")
        connection.execute(f"SET temp_directory = '{out.parent}/spill'")
        kh.duckdb(connection, f"SELECT * FROM read_parquet('{table}/*.parquet')").anonymize(own, out)
        return
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master(f"local-cluster[{way[-1]},1,3072]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "2g")
        .config("spark.executor.memory", "3g")
        .config("spark.local.dir", str(out.parent / "spill"))
        .config("spark.sql.shuffle.partitions", "16")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .getOrCreate()
    )
    kh.spark(session, session.read.parquet(str(table))).anonymize(own, out)
    session.stop()


def kind(line: bytes) -> str:
    """What a process is that a run started, by its command line."""
    if b"CoarseGrainedExecutorBackend" in line:
        return "executors"
    if b"org.apache.spark" in line:
        return "driver_jvm"
    return "workers" if b"pyspark.daemon" in line else "process"


class Watch:
    """CPU time and memory of a process and of everything that it started."""

    def __init__(self, pid: int) -> None:
        self.pid, self.cpu, self.kind, self.peak, self.peaks, self.done = pid, {}, {}, 0, {}, False
        #: The most memory that the process itself had, as the system counts it.
        self.most = 0
        self.thread = threading.Thread(target=self.look)
        self.thread.start()

    def look(self) -> None:
        tick, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
        while not self.done:
            parent, seen = {}, {}
            for folder in Path("/proc").iterdir():
                if folder.name.isdigit():
                    try:
                        after = (folder / "stat").read_text().rsplit(")", 1)[1].split()
                    except OSError:
                        continue
                    parent[int(folder.name)] = int(after[1])
                    seen[int(folder.name)] = ((int(after[11]) + int(after[12])) / tick, int(after[21]) * page)
            ours = {self.pid}
            while more := {pid for pid, above in parent.items() if above in ours} - ours:
                ours |= more
            now = {}
            for pid in ours & seen.keys():
                # A process that has just begun still has the memory and the command line of the one that started it.
                if pid in self.cpu:
                    if self.kind.get(pid, "process") == "process":
                        with contextlib.suppress(OSError):
                            self.kind[pid] = kind(Path(f"/proc/{pid}/cmdline").read_bytes())
                    own = self.kind.get(pid, "process")
                    now[own] = now.get(own, 0) + seen[pid][1]
                self.cpu[pid] = seen[pid][0]
            with contextlib.suppress(OSError, StopIteration):
                status = Path(f"/proc/{self.pid}/status").read_text().splitlines()
                self.most = int(next(line for line in status if line.startswith("VmHWM:")).split()[1]) << 10
            self.peak = max(self.peak, sum(now.values()))
            self.peaks = {own: max(self.peaks.get(own, 0), now.get(own, 0)) for own in {*self.peaks, *now}}
            time.sleep(0.2)

    def seconds(self) -> dict[str, float]:
        """The CPU seconds of each kind of process."""
        found: dict[str, float] = {}
        for pid, own in self.cpu.items():
            found[self.kind.get(pid, "process")] = found.get(self.kind.get(pid, "process"), 0) + own
        return {own: round(seconds, 1) for own, seconds in sorted(found.items())}

    def end(self) -> None:
        self.done = True
        self.thread.join()


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--rows", type=int, default=1_000_000)
    ask.add_argument("--folder", type=Path, required=True)
    ask.add_argument("--only", default=",".join(WAYS))
    ask.add_argument("--patients", action="store_true")
    ask.add_argument("--varied", action="store_true")
    ask.add_argument("--keep", action="store_true")
    ask.add_argument("--command", type=Path)
    ask.add_argument("--way", help=argparse.SUPPRESS)
    asked = ask.parse_args()
    table = made(asked.folder, asked.rows, asked.varied)
    if asked.way:
        run(asked.way, table, asked.folder / asked.way / "out", asked.patients, asked.command)
        return
    try:
        for way in asked.only.split(","):
            shutil.rmtree(asked.folder / way, ignore_errors=True)
            (asked.folder / way).mkdir()
            again = [sys.executable, __file__, "--rows", str(asked.rows), "--folder", str(asked.folder), "--way", way]
            start = time.time()
            more = ["--patients"] * asked.patients + ["--varied"] * asked.varied
            more += ["--command", str(asked.command)] if asked.command else []
            child = subprocess.Popen([*again, *more])
            watch = Watch(child.pid)
            code = child.wait()
            watch.end()
            found = {"way": way, "rows": asked.rows, "patients": asked.patients, "varied": asked.varied, "exit": code}
            found |= {"seconds": round(time.time() - start, 1), "cpu_seconds": round(sum(watch.cpu.values()), 1)}
            found |= {"peak_mb": watch.peak >> 20, "own_peak_mb": watch.most >> 20, "cpu_of": watch.seconds()}
            found |= {"peak_mb_of": {own: peak >> 20 for own, peak in sorted(watch.peaks.items())}}
            print(json.dumps(found), flush=True)
            shutil.rmtree(asked.folder / way, ignore_errors=True)
    finally:
        if not asked.keep:
            shutil.rmtree(table, ignore_errors=True)


if __name__ == "__main__":
    main()
