"""Bad input ends in an exception that says what to do, and never quotes a cell."""

import datetime

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
    assert message.endswith(".")


def test_duplicate_and_unnamed_columns(columns, policy):
    frame = pd.DataFrame(columns)
    twice = frame.rename(columns={"sex": "age"})
    wrong(twice, policy, kh.DataError, "column 4")
    wrong(frame.rename(columns={"sex": 5}), policy, kh.DataError, "column 4", "not text")


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


def test_time_zones_are_not_guessed(columns, policy):
    zone = datetime.timezone(datetime.timedelta(hours=2))
    frame = pd.DataFrame({**columns, "los": [datetime.datetime(2024, 5, 1, 12, tzinfo=zone)] * 400})
    wrong(frame, policy, kh.DataError, "los", "time zone")


def test_nan_beside_none_is_missing_twice(columns, policy):
    frame = pd.DataFrame({**columns, "los": pd.Series([float("nan"), None, 3.0, 4.0] * 100, dtype=object)})
    released = kh.anonymize(frame, policy).data
    assert set(map(str, released["los"].dropna().unique())) <= {"3.0", "4.0", "3", "4"}


def test_an_empty_frame(columns, policy):
    wrong(pl.DataFrame(columns).head(0), policy, kh.KohortError)
    wrong(pd.DataFrame(), policy, kh.DataError, "no columns")


def test_a_policy_for_other_columns(columns, policy):
    wrong(pl.DataFrame(columns).rename({"age": "years"}), policy, kh.PolicyError)
    wrong(pl.DataFrame(columns), {"columns": {}, "privacy": {"k": 5}, "method": {"name": "local"}}, kh.PolicyError)
    wrong(pl.DataFrame(columns), {"columns": {"age": {"role": object()}}}, kh.PolicyError, "`role`")


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


def test_an_exception_of_progress_stops_the_run():
    columns = {"age": [str(n % 97) for n in range(300_000)], "zip": [str(n * 7919 % 99_991) for n in range(300_000)]}
    policy = kh.Policy().quasi("age").quasi("zip", prefix=[3, 2]).privacy(k=5).method("local", max_suppressed=0.5)

    def stop(stage, done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kh.anonymize(pl.DataFrame(columns), policy, progress=stop)
