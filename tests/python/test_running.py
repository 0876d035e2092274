"""A call runs beside the interpreter: other threads go on, Ctrl-C stops it, and somebody is told how far it is."""

import json
import os
import pty
import signal
import subprocess
import sys
import textwrap
import threading
import time

import polars as pl
import pytest

import kohort as kh

#: A call that takes several seconds: many rows that are all different.
LONG = """
import kohort as kh
import polars as pl

rows = 400_000
columns = {name: [str(n * factor % 99_991) for n in range(rows)] for name, factor in [("a", 7919), ("b", 104_729), ("c", 1_299_709)]}
policy = kh.Policy().privacy(k=5).method("local", max_suppressed=0.5)
for name in columns:
    policy.quasi(name, prefix=[4, 3, 2, 1])
frame = pl.DataFrame(columns)
"""


def long_call():
    names = {}
    exec(LONG, names)
    return names["frame"], names["policy"]


def test_ctrl_c_stops_a_call():
    program = LONG + textwrap.dedent(
        """
        started = []

        def told(stage, done, total):
            if not started:
                started.append(print("started", flush=True))

        try:
            kh.anonymize(frame, policy, progress=told)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        """
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "started\n"
        asked = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        assert time.monotonic() - asked < 30
        assert process.wait(timeout=30) == 0


#: Policies by which a method works for many seconds, and the stages around its work.
SLOW = """
import kohort as kh
import polars as pl
import random

draw = random.Random(1)
rows, names = 12_000, "abcdefghij"
values = {"suppress": 12}.get(METHOD, 9_973)
frame = pl.DataFrame({name: [f"{draw.randrange(values):04}" for _ in range(rows)] for name in names})
policy = kh.Policy().privacy(k=5, **({} if METHOD == "local" else {"knows": 4}))
policy.method(METHOD, **({} if METHOD == "suppress" else {"max_suppressed": 0.05}))
for name in names:
    policy.quasi(name, **({} if METHOD == "suppress" else {"prefix": [3, 2, 1]}))
AROUND = ("", "reading", "writing", "verifying", "sampling", "counting")
"""


@pytest.mark.parametrize("method", ["local", "lattice", "specialize", "suppress"])
def test_ctrl_c_stops_a_method_at_its_work(method):
    program = f"METHOD = {method!r}\n" + SLOW + textwrap.dedent(
        """
        import time

        seen = []

        def told(stage, done, total):
            if stage not in AROUND and not seen:
                seen.append(print("at work", flush=True))

        try:
            kh.anonymize(frame, policy, progress=told)
            print("ended", flush=True)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        """
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "at work\n"
        # Long enough to be in the middle of it.
        time.sleep(0.2)
        asked = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        assert time.monotonic() - asked < 2
        assert process.wait(timeout=30) == 0


def test_a_deadline_keeps_the_best_so_far():
    frame, policy = long_call()
    start = time.monotonic()
    release = kh.anonymize(frame.head(60_000), policy, deadline=0.2)
    assert release.data.height > 0
    assert "stopped_early" in json.dumps(release.metrics), "the evidence says that it was ended early"
    assert time.monotonic() - start < 60
    with pytest.raises(kh.PolicyError, match="deadline"):
        kh.anonymize(frame, policy, deadline=-1)


def test_ctrl_c_stops_the_command(tmp_path):
    frame, policy = long_call()
    frame.write_csv(tmp_path / "table.csv")
    policy["input"] = {"table": "table.csv"}
    policy.save(tmp_path / "policy.toml")
    command = [sys.executable, "-m", "kohort", "anonymize", str(tmp_path / "policy.toml"), "-o", str(tmp_path / "out")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        time.sleep(0.7)
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode != 0
    assert not (tmp_path / "out").exists(), "nothing is published"


def test_other_threads_run_meanwhile():
    frame, policy = long_call()
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.wait(0.005):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.monotonic()
    try:
        kh.anonymize(frame, policy, progress=lambda *_: stop_after(start, 1.0))
    except TimeoutError:
        pass
    end = time.monotonic()
    stop.set()
    thread.join()
    during = [start, *(tick for tick in ticks if start <= tick <= end), end]
    assert len(during) > 20
    # The longest time that the call kept everybody else waiting.
    assert max(later - earlier for earlier, later in zip(during, during[1:])) < 0.5 * (end - start)


def stop_after(start, seconds):
    if time.monotonic() - start > seconds:
        raise TimeoutError


def test_copying_a_frame_leaves_other_threads_running():
    rows = 1_500_000
    frame = pl.DataFrame({"a": pl.int_range(rows, eager=True), "b": pl.int_range(rows, eager=True) * 7919})
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.wait(0.002):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    from kohort._frames import prepare

    start = time.monotonic()
    prepare(frame)
    end = time.monotonic()
    stop.set()
    thread.join()
    during = [start, *(tick for tick in ticks if start <= tick <= end), end]
    assert max(later - earlier for earlier, later in zip(during, during[1:])) < 0.7 * (end - start)


def test_several_calls_at_once_do_not_disturb_each_other(columns, policy):
    frame = pl.DataFrame(columns)
    alone = kh.anonymize(frame, policy, seed=4).file("release/data.csv")
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(kh.anonymize(frame, policy, seed=4).file("release/data.csv")))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [alone] * 4


def test_a_callable_is_told_the_stages():
    frame, policy = long_call()
    told = []
    start = time.monotonic()

    def progress(stage, done, total):
        told.append((stage, done, total))
        stop_after(start, 2.0)

    with pytest.raises(TimeoutError):
        kh.anonymize(frame, policy, progress=progress)
    assert any(stage for stage, _, _ in told)
    assert all(isinstance(done, int) and isinstance(total, int) for _, done, total in told)


def test_a_terminal_shows_a_line_and_clears_it():
    program = LONG + textwrap.dedent(
        """
        from kohort import _progress
        import signal, threading
        _progress.QUIET = 0.0
        threading.Timer(2.0, lambda: signal.raise_signal(signal.SIGINT)).start()
        try:
            kh.anonymize(frame, policy)
        except KeyboardInterrupt:
            pass
        """
    )
    ours, theirs = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", program], stderr=theirs)
    os.close(theirs)
    shown = b""
    while True:
        try:
            more = os.read(ours, 4096)
        except OSError:
            break
        if not more:
            break
        shown += more
    assert process.wait(timeout=60) == 0
    assert b" s" in shown and shown.endswith(b"\r\x1b[K"), shown[-200:]


def test_nothing_is_shown_where_nobody_looks(columns, policy, capsys):
    kh.anonymize(pl.DataFrame(columns), policy)
    kh.anonymize(pl.DataFrame(columns), policy, progress=False)
    out, err = capsys.readouterr()
    assert out == err == ""
