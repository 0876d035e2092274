"""Bad input ends in an exception that says what to do, and never quotes a cell."""

import datetime
import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import kohort as kh

SECRET = "Secretname"


def wrong(data, policy, kind, *words):
    with pytest.raises(kind) as caught:
        kh.anonymize(data, policy)
    message = str(caught.value)
    for word in words:
        assert word in message
    chain = caught.value.__cause__ or (None if caught.value.__suppress_context__ else caught.value.__context__)
    assert SECRET not in message and SECRET not in str(chain)


def test_duplicate_and_unnamed_columns(columns, policy):
    frame = pd.DataFrame(columns)
    twice = frame.rename(columns={"sex": "age"})
    wrong(twice, policy, kh.DataError, "column 4")
    wrong(frame.rename(columns={"sex": 5}), policy, kh.DataError, "column 4", "not text")


def test_names_are_checked_whatever_library_a_frame_is_of(columns, policy):
    import duckdb

    twice = pa.table([pa.array(columns["age"]), pa.array(columns["sex"])], names=["age", "age"])
    for frame in (twice, duckdb.sql("SELECT 1 AS age, 2 AS age"), pd.DataFrame(columns).rename(columns={"sex": " age "})):
        with pytest.raises(kh.DataError, match="name of an earlier column") as caught:
            kh.anonymize(frame, policy)
        assert "[input]" not in str(caught.value), "a frame has no such setting"
    wrong(pd.DataFrame(columns).rename(columns={"sex": " "}), policy, kh.DataError, "column 4", "no name")


def test_a_frame_that_fails_to_be_computed_quotes_no_cell(columns, policy):
    import duckdb

    lazy = pl.LazyFrame({**columns, "los": [SECRET] * 400}).with_columns(pl.col("los").cast(pl.Int64))
    wrong(lazy, policy, kh.DataError, "could not be read")
    wrong(duckdb.sql(f"SELECT CAST('{SECRET}' || i AS INTEGER) AS age FROM range(20000) t(i)"), policy, kh.DataError, "could not be read")


def test_settings_that_make_no_sense(columns, policy):
    frame = pl.DataFrame(columns)
    for settings in (
        {"seed": -1}, {"seed": 2**64}, {"seed": "1"}, {"threads": 0}, {"threads": 1.5}, {"progress": 3},
        {"deadline": "60"}, {"deadline": -1}, {"deadline": float("nan")}, {"sign": 5}, {"ledger": []},
    ):
        with pytest.raises(kh.PolicyError, match=next(iter(settings))):
            kh.anonymize(frame, policy, **settings)
    wrong(frame, None, kh.PolicyError, "no policy", "kh.suggest")
    wrong(frame, 5, kh.PolicyError, "int", "path")
    assert kh.risk(frame, quasi="age").unique == kh.risk(frame, quasi=["age"]).unique


def test_columns_that_hold_only_what_differs_from_a_fill_value(columns, policy):
    frame = pd.DataFrame(columns)
    sparse = frame.assign(los=pd.arrays.SparseArray(frame["los"]))
    assert kh.anonymize(sparse, policy, seed=1).file("release/data.csv") == kh.anonymize(frame, policy, seed=1).file("release/data.csv")


def test_nested_mixed_and_binary_columns(columns, policy):
    mixed = pd.DataFrame(columns)
    mixed["los"] = [SECRET, 5] * 200
    wrong(mixed, policy, kh.DataError, "los", "astype")
    nested = pl.DataFrame(columns).with_columns(los=pl.struct("age", "sex"))
    wrong(nested, policy, kh.DataError, "los", "nested")
    lists = pl.DataFrame({**columns, "los": [[SECRET]] * 400})
    wrong(lists, policy, kh.DataError, "los", "codes")
    binary = pa.table({**columns, "los": [SECRET.encode()] * 400})
    wrong(binary, policy, kh.DataError, "los", "binary")


def test_nested_and_mixed_cells_of_pandas(columns, policy):
    frame = pd.DataFrame(columns)
    wrong(frame.assign(los=[{"a": SECRET}] * 400), policy, kh.DataError, "los", "nested")
    wrong(frame.assign(los=[[[SECRET]]] * 400), policy, kh.DataError, "los")
    wrong(frame.assign(los=[SECRET, 5.5, True, None] * 100), policy, kh.DataError, "los", "astype")
    wrong(frame.assign(los=[object()] * 400), policy, kh.DataError, "los")
    wrong(frame.assign(los=pd.to_timedelta(range(400), unit="D")), policy, kh.DataError, "los", "durations")
    wrong(frame.assign(los=[complex(1, 2)] * 400), policy, kh.DataError, "los")
    hidden = frame.drop(columns="los").assign(secret=[{"a": SECRET}] * 400)
    wrong(hidden, policy, kh.DataError, "secret", "nested")


def test_columns_of_several_levels(columns, policy):
    frame = pd.DataFrame(columns)
    frame.columns = pd.MultiIndex.from_tuples([("ward", name) for name in frame.columns])
    wrong(frame, policy, kh.DataError, "column 1", "not text")
    wrong(pd.DataFrame(np.zeros((20, 3))), policy, kh.DataError, "column 1", "not text")


def test_names_that_a_file_cannot_hold(columns, policy):
    wrong(pl.DataFrame(columns).rename({"los": "l\nos"}), policy, kh.DataError, "cannot be printed")
    wrong(pl.DataFrame(columns).rename({"los": " age "}), policy, kh.KohortError)


def test_time_zones_are_not_guessed(columns, policy):
    zone = datetime.timezone(datetime.timedelta(hours=2))
    frame = pd.DataFrame({**columns, "los": [datetime.datetime(2024, 5, 1, 12, tzinfo=zone)] * 400})
    wrong(frame, policy, kh.DataError, "los", "time zone")


def test_nan_beside_none_is_missing_twice(columns, policy):
    frame = pd.DataFrame({**columns, "los": pd.Series([float("nan"), None, 3.0, 4.0] * 100, dtype=object)})
    released = kh.anonymize(frame, policy).data
    assert set(map(str, released["los"].dropna().unique())) <= {"3.0", "4.0", "3", "4"}


def test_nan_none_and_nat_are_the_same_missing_value(policy, columns):
    texts = set()
    for missing in (None, float("nan"), pd.NA, pd.NaT):
        cells = pd.Series([missing, "3"] * 200, dtype=object)
        texts.add(kh.anonymize(pd.DataFrame({**columns, "los": cells}), policy, seed=1).file("release/data.csv"))
    floats = pl.DataFrame({**columns, "los": [None, 3.0, float("nan"), 3.0] * 100})
    texts.add(kh.anonymize(floats, policy, seed=1).file("release/data.csv"))
    assert len(texts) == 1


def test_categories_that_do_not_occur_are_not_needed_in_a_hierarchy(columns, policy):
    frame = pd.DataFrame(columns)
    frame["sex"] = pd.Categorical(frame["sex"], categories=["F", "M", SECRET])
    policy.quasi("sex", hierarchy={"F": ["*"], "M": ["*"]})
    release = kh.anonymize(frame, policy)
    assert all(SECRET.encode() not in release.file(name) for name in release.files)


def test_an_empty_frame(columns, policy):
    wrong(pl.DataFrame(columns).head(0), policy, kh.KohortError)
    wrong(pd.DataFrame(), policy, kh.DataError, "no columns")


def test_a_policy_for_other_columns(columns, policy):
    wrong(pl.DataFrame(columns).rename({"age": "years"}), policy, kh.PolicyError)
    wrong(pl.DataFrame(columns), {"columns": {}, "privacy": {"k": 5}, "method": {"name": "local"}}, kh.PolicyError)
    wrong(pl.DataFrame(columns), {"columns": {"age": {"role": object()}}}, kh.PolicyError, "`role`")
    wrong(pl.DataFrame(columns), policy.copy().quasi("height", hierarchy=lambda value: ["*"]), kh.PolicyError, "height")
    wrong(pl.DataFrame(columns), "no-such-policy.toml", kh.PolicyError, "no-such-policy.toml")
    wrong(pl.DataFrame(columns), "[columns]\nage = 5\n", kh.PolicyError)


def test_hierarchies_that_make_no_sense(tmp_path, columns, policy):
    frame = pl.DataFrame(columns)
    wrong(frame, policy.copy().quasi("sex", hierarchy={"F": ["*"]}), kh.KohortError, "sex")
    wrong(frame, policy.copy().quasi("sex", hierarchy=lambda value: ["*"] if value == "F" else ["a", "*"]), kh.KohortError)
    wrong(frame, policy.copy().quasi("sex", hierarchy=lambda value: None), kh.PolicyError, "list of texts")
    with pytest.raises(kh.PolicyError, match="no-such.csv"):
        policy.quasi("sex", hierarchy=tmp_path / "no-such.csv")
    wrong(tmp_path / "table.csv", policy.copy().quasi("sex", hierarchy=lambda value: ["*"]), kh.PolicyError, "function")
    with pytest.raises(kh.PolicyError, match="bind"):
        policy.copy().quasi("sex", hierarchy=lambda value: ["*"]).to_toml()


def test_arguments_that_make_no_sense(tmp_path, columns, policy):
    frame = pl.DataFrame(columns)
    with pytest.raises(kh.PolicyError, match="not both"):
        kh.risk(frame, policy, quasi=["age"])
    with pytest.raises(kh.PolicyError, match="k="):
        kh.compare(frame, policy)
    with pytest.raises(kh.PolicyError, match="belong together"):
        kh.verify(tmp_path, original=frame)
    with pytest.raises(kh.KohortError):
        kh.verify(tmp_path / "nothing-here")
    with pytest.raises(kh.PolicyError):
        kh.anonymize(frame, policy, k=1)
    with pytest.raises(kh.PolicyError):
        kh.anonymize(frame, policy, no_such_requirement=3)
    with pytest.raises(kh.DataError, match="no file"):
        kh.anonymize(frame, policy).file("release/nothing")
    release = kh.anonymize(frame, policy)
    release.save(tmp_path / "out")
    with pytest.raises(kh.DataError, match="replace=True"):
        release.save(tmp_path / "out")
    assert release.save(tmp_path / "out", replace=True) == tmp_path / "out"


def said(kind, call, *words):
    with pytest.raises(kind) as caught:
        call()
    for word in words:
        assert word in str(caught.value), str(caught.value)


def test_what_is_not_the_folder_of_a_release(tmp_path, columns, policy):
    release = kh.anonymize(pl.DataFrame(columns), policy)
    said(kh.PolicyError, lambda: kh.verify(None), "verify", "folder")
    said(kh.PolicyError, lambda: kh.verify(release), "Save this one first")
    said(kh.PolicyError, lambda: kh.verify(release.data), "DataFrame")
    said(kh.PolicyError, lambda: kh.flatten(release, tmp_path / "flat"), "Save this one first")
    said(kh.PolicyError, lambda: kh.verify(tmp_path, signer=5), "signer")
    said(kh.PolicyError, lambda: release.save(None), "folder", "path")
    said(kh.PolicyError, lambda: release.save(tmp_path / "out", sign=object()), "sign", "path")
    said(kh.PolicyError, lambda: kh.key(None), "file", "path")


def test_names_of_columns_that_make_no_sense():
    said(kh.PolicyError, lambda: kh.Policy().quasi(["age", "sex"]), "one column", "for name in names: policy.quasi(name)")
    said(kh.PolicyError, lambda: kh.Policy().identifier(["name", "pid"]), "identifier(*names)")
    said(kh.PolicyError, lambda: kh.Policy().other(("a", "b"), reason="a test"), "other(*names)")
    said(kh.PolicyError, lambda: kh.Policy().sensitive(5), "int", "text")
    said(kh.PolicyError, lambda: kh.Policy().patient(None), "patient")
    said(kh.PolicyError, lambda: kh.Policy().codes(["a"]), "one column")
    said(kh.PolicyError, lambda: kh.Policy().column(3, "quasi"), "int")


def test_columns_named_for_a_risk_that_make_no_sense(columns, policy):
    frame = pd.DataFrame(columns)
    assert kh.risk(frame, quasi=frame.columns[2:4]).unique == kh.risk(frame, quasi=list(frame.columns[2:4])).unique
    said(kh.PolicyError, lambda: kh.risk(frame, quasi=[1, 2]), "int", "text")
    said(kh.PolicyError, lambda: kh.risk(frame, quasi=["age"], patient="age"), "as `quasi` and as `patient`")
    said(kh.PolicyError, lambda: kh.risk(frame, ["age", "sex"]), "quasi=[")
    said(kh.PolicyError, lambda: kh.risk([["401"], ["250"]]), "need a policy")
    indexed = frame.set_index("pid")
    said(kh.PolicyError, lambda: kh.risk(indexed, quasi=["age"], patient="pid"), "'pid' is the index", "reset_index")
    said(kh.PolicyError, lambda: kh.anonymize(indexed, policy), "'pid' is the index", "reset_index")
    said(kh.DataError, lambda: kh.risk(frame.groupby("sex"), quasi=["age"]), "DataFrameGroupBy")
    said(kh.DataError, lambda: kh.risk(pl.Series("age", [1, 2]), quasi=["age"]), "to_frame")


def test_intervals_of_pandas_are_text_first(columns, policy):
    frame = pd.DataFrame(columns)
    frame["los"] = pd.cut(frame["los"], 3)
    wrong(frame, policy, kh.DataError, "los", "intervals", "astype(str)")
    assert kh.anonymize(frame.assign(los=frame["los"].astype(str)), policy).data["los"].str.startswith("(").all()


def test_a_function_that_fails_quotes_no_value(columns, policy):
    frame = pl.DataFrame({**columns, "zip": [SECRET] * 400})
    wrong(frame, policy.copy().quasi("zip", hierarchy=lambda value: [int(value), "*"]), kh.PolicyError, "zip", "ValueError", "text")
    wrong(frame, policy.copy().quasi("age", hierarchy=lambda value: [value // 10, "*"]), kh.PolicyError, "age", "TypeError", '"34"')


def test_policies_that_make_no_sense(tmp_path, policy):
    said(kh.PolicyError, lambda: kh.Policy.from_toml("policy.toml"), "from_file")
    said(kh.PolicyError, lambda: kh.Policy.from_toml(b"[columns]"), "bytes")
    said(kh.PolicyError, lambda: kh.Policy.from_file(None), "path")
    said(kh.PolicyError, lambda: kh.Policy.from_dict(5), "int", "dictionary")
    said(kh.PolicyError, lambda: policy.save(None), "path")
    said(kh.PolicyError, lambda: kh.flatten(tmp_path, tmp_path / "flat", ["age"]), "levels")
    assert kh.Policy().quasi("zip", prefix=3)["columns"] == kh.Policy().quasi("zip", prefix=[3])["columns"]
    assert kh.Policy().quasi("age", intervals=5)["columns"]["age"]["hierarchy"] == {"intervals": [5]}


def test_flags_of_numpy_are_no_numbers(columns, policy):
    with pytest.raises(kh.PolicyError, match="`k`"):
        kh.anonymize(pl.DataFrame(columns), policy, k=np.True_)


def test_settings_to_compare_that_make_no_sense(columns, policy):
    frame = pl.DataFrame(columns)
    said(kh.PolicyError, lambda: kh.compare(frame, policy, k=None), "k")
    said(kh.PolicyError, lambda: kh.compare(frame, policy, k=[]), "k")
    found = kh.compare(frame, policy, k=4)
    assert len(found) == 1
    for number in (1, -1, None, "0"):
        said(kh.PolicyError, lambda: found.policy(number), "settings 0 to 0")


def test_a_table_as_a_dictionary_or_a_list(columns, policy):
    wrong(columns, policy, kh.DataError, "DataFrame")
    wrong({"age": pd.Series([1, 2])}, policy, kh.DataError, "DataFrame")
    wrong(pd.DataFrame(columns).to_dict("records"), policy, kh.DataError, "pass a frame")


def test_no_memory():
    program = """
        import resource
        import kohort as kh
        import polars as pl

        rows = 6_000_000
        frame = pl.DataFrame({"age": pl.int_range(rows, eager=True) % 90, "sex": pl.int_range(rows, eager=True) % 2})
        policy = kh.Policy().quasi("age").quasi("sex").privacy(k=5).method("lattice", max_suppressed=0)
        used = int(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmSize"))) * 1024
        resource.setrlimit(resource.RLIMIT_AS, (used + (200 << 20), used + (200 << 20)))
        try:
            kh.anonymize(frame, policy)
        except kh.MachineError as error:
            print(error)
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-500:]
    assert "not enough memory" in run.stdout and "pass its path" in run.stdout


def test_what_is_not_a_table(policy):
    wrong(42, policy, kh.DataError, "int")
    wrong(pd.Series([1, 2]), policy, kh.DataError, "to_frame")
    wrong("no-such-file.csv", policy, kh.KohortError, "no-such-file.csv")


def test_a_requirement_that_cannot_be_met(columns, policy):
    with pytest.raises(kh.CannotBeMetError):
        kh.anonymize(pl.DataFrame(columns), policy, k=100_000)


def test_a_frame_that_is_changed_meanwhile_changes_nothing(columns, policy):
    frame = pd.DataFrame(columns)
    before = kh.anonymize(frame, policy, seed=2).file("release/data.csv")

    def change(stage, done, total):
        frame["diagnosis"] = SECRET

    again = kh.anonymize(frame, policy, seed=2, progress=change).file("release/data.csv")
    assert again == before and SECRET.encode() not in again


def test_memory_that_is_written_over_meanwhile_changes_nothing():
    rows = 60_000
    raw = bytearray(b"".join((n * 7919 % 9973).to_bytes(8, "little") for n in range(rows)))
    # The frame's cells are these bytes themselves, not a copy of them.
    values = pa.Array.from_buffers(pa.int64(), rows, [None, pa.py_buffer(raw)])
    frame = pa.table({"code": values, "sex": ["F", "M"] * (rows // 2)})
    policy = kh.Policy().quasi("code", prefix=[3, 2, 1]).quasi("sex").privacy(k=5).method("local", max_suppressed=0.5)
    before = kh.anonymize(frame, policy, seed=2).file("release/data.csv")
    changed = []

    def change(stage, done, total):
        if not changed:
            raw[:] = (4711).to_bytes(8, "little") * rows
            changed.append(frame["code"][0].as_py())

    again = kh.anonymize(frame, policy, seed=2, progress=change).file("release/data.csv")
    assert changed == [4711], "the frame shows what was written over it"
    assert again == before


def test_a_polars_frame_that_is_changed_between_its_parts_changes_nothing(monkeypatch, columns, policy):
    from kohort import _frames

    monkeypatch.setattr(_frames, "PART_ROWS", 100)
    frame, streamed, changed = pl.DataFrame(columns), _frames._streamed, []
    before = kh.anonymize(frame, policy, seed=2).file("release/data.csv")

    def change(stream):
        own = streamed(stream)
        frame.replace_column(frame.get_column_index("diagnosis"), pl.Series("diagnosis", [SECRET] * 400))
        changed.append(frame["diagnosis"][0])
        return own

    monkeypatch.setattr(_frames, "_streamed", change)
    again = kh.anonymize(frame, policy, seed=2).file("release/data.csv")
    assert changed == [SECRET] * 4, "the frame was changed after each of its parts"
    assert again == before


def test_an_exception_of_progress_stops_the_run():
    columns = {"age": [str(n % 97) for n in range(300_000)], "zip": [str(n * 7919 % 99_991) for n in range(300_000)]}
    policy = kh.Policy().quasi("age").quasi("zip", prefix=[3, 2]).privacy(k=5).method("local", max_suppressed=0.5)

    def stop(stage, done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kh.anonymize(pl.DataFrame(columns), policy, progress=stop)
