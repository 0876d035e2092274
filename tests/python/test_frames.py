"""Frames come in and go out as what they were."""

import datetime
import io

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import kohort as kh


def frames(columns):
    arrow = pa.table(columns)
    return {
        "pandas": pd.DataFrame(columns),
        "polars": pl.DataFrame(columns),
        "pyarrow": arrow,
        "duckdb": duckdb.from_arrow(arrow),
    }


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "duckdb"])
def test_a_release_is_of_the_kind_that_came_in(kind, columns, policy):
    frame = frames(columns)[kind]
    release = kh.anonymize(frame, policy)
    assert type(release.data) is type(frame)
    rows = len(release.data) if kind != "pyarrow" else release.data.num_rows
    assert 380 <= rows <= 400
    assert release.certificate["counted"]["claim"]["k"] == 4


def test_every_kind_of_frame_gives_the_same_release(columns, policy):
    texts = {kh.anonymize(frame, policy, seed=3).file("release/data.csv") for frame in frames(columns).values()}
    assert len(texts) == 1


def test_types_survive_where_the_released_column_still_fits_them(columns, policy):
    release = kh.anonymize(pl.DataFrame(columns), policy).data
    assert release.schema["los"] == pl.Int64
    assert release.schema["age"] == pl.String, "intervals are text"
    pandas = pd.DataFrame(columns).astype({"los": "Int64", "diagnosis": "category"})
    released = kh.anonymize(pandas, policy).data
    assert str(released["los"].dtype) == "Int64"
    assert str(released["diagnosis"].dtype) == "category"


def test_no_category_is_released_that_does_not_occur(columns, policy):
    frame = pd.DataFrame(columns)
    frame["diagnosis"] = pd.Categorical(frame["diagnosis"], categories=[*frame["diagnosis"].unique(), "secret"])
    released = kh.anonymize(frame, policy).data
    assert "secret" not in set(released["diagnosis"].cat.categories)
    assert b"secret" not in kh.anonymize(frame, policy).file("release/data.csv")


def test_the_index_is_fresh_and_there_is_no_metadata(columns, policy):
    frame = pd.DataFrame(columns).set_index(pd.Index([f"ward-{n}" for n in range(400)], name="secret_index"))
    release = kh.anonymize(frame, policy)
    assert list(release.data.index) == list(range(len(release.data)))
    assert "secret_index" not in release.data.columns
    table = kh.anonymize(pa.table(columns).replace_schema_metadata({"secret": "value"}), policy).data
    assert table.schema.metadata is None


def test_rows_are_in_random_order(columns, policy):
    columns["los"] = sorted(columns["los"])
    released = kh.anonymize(pl.DataFrame(columns), policy).data["los"].to_list()
    assert released != sorted(released)


def test_a_dangerous_column_stops_the_release_until_it_is_accepted(columns, policy):
    columns["los"] = [7919 * n % 99_991 for n in range(400)]
    with pytest.raises(kh.DataError, match="los"):
        kh.anonymize(pl.DataFrame(columns), policy)
    policy.accept("nearly-unique", ["los"], "drawn by a test")
    assert kh.anonymize(pl.DataFrame(columns), policy).data.height > 0


def test_missing_cells_are_null_again(columns, policy):
    columns["los"][:50] = [None] * 50
    released = kh.anonymize(pl.DataFrame(columns), policy).data
    assert released["los"].null_count() > 0
    frame = pd.DataFrame(columns)
    assert frame["los"].dtype == float, "pandas makes floats of whole numbers with missing ones"
    assert kh.anonymize(frame, policy).data["los"].isna().sum() > 0
    assert b".0" not in kh.anonymize(frame, policy).file("release/data.csv")


def test_dates_and_times_are_read_as_they_are_written(columns):
    days = [datetime.date.fromisoformat(day) for day in columns["admitted"]]
    policy = (
        kh.Policy()
        .quasi("admitted", date="%Y-%m-%d")
        .identifier("*")
        .privacy(k=5)
        .method("local", max_suppressed=0.1)
    )
    by_date = kh.anonymize(pl.DataFrame({**columns, "admitted": days}), policy, seed=1)
    by_midnight = kh.anonymize(pd.DataFrame({**columns, "admitted": pd.to_datetime(columns["admitted"])}), policy, seed=1)
    by_text = kh.anonymize(pl.DataFrame(columns), policy, seed=1)
    assert by_date.file("release/data.csv") == by_text.file("release/data.csv") == by_midnight.file("release/data.csv")


def test_a_polars_frame_is_taken_over_part_by_part(monkeypatch, columns, policy):
    from kohort import _frames

    # All times of the first parts are midnight.
    times = [datetime.datetime(2024, 1, 1)] * 200 + [datetime.datetime(2024, 1, 1, 12)] * 200
    frame = pl.DataFrame({**columns, "los": times}).with_columns(pl.col("diagnosis").cast(pl.Categorical))
    policy.accept("timestamp", ["los"], "a test")
    whole = kh.anonymize(frame, policy, seed=3)
    assert b"2024-01-01T00:00:00" in whole.file("release/data.csv")
    monkeypatch.setattr(_frames, "PART_ROWS", 70)
    several = pl.concat([frame.head(150), frame.tail(250)], rechunk=False)
    assert several.n_chunks() == 2
    for own in (frame, several):
        release = kh.anonymize(own, policy, seed=3)
        assert release.file("release/data.csv") == whole.file("release/data.csv")
        assert release.data.equals(whole.data) and release.data.schema == whole.data.schema


@pytest.mark.parametrize("kind", ["rows that repeat", "rows that differ"])
def test_a_large_release_is_handed_over_as_it_was_verified(tmp_path, kind):
    rows = 120_000
    # A row may be the names of the columns, too.
    wards = ["ward", "a ward with a name of many words", "", "b"] if kind == "rows that repeat" else ["ward"]
    number = [n % 11 if kind == "rows that repeat" else n for n in range(rows)]
    frame = pl.DataFrame({"sex": ["F", "M", "sex"] * (rows // 3), "ward": (wards * rows)[:rows], "n": number})
    frame = frame.with_columns(n=pl.when(pl.col("n") == 3).then(None).otherwise(pl.col("n")))
    policy = kh.Policy().quasi("sex").quasi("ward").other("n", reason="a test").privacy(k=5)
    for finding in ("nearly-unique", "consecutive"):
        policy.accept(finding, ["n"], "a test")
    release = kh.anonymize(frame, policy.method("lattice", max_suppressed=0))
    folder, text = release.save(tmp_path / "out"), release.file("release/data.csv")
    assert len(text) > 1 << 20 and (folder / "release" / "data.csv").read_bytes() == text
    assert kh.verify(folder).result != "refused"
    order = ["sex", "ward", "n"]
    shown = pl.read_csv(io.BytesIO(text), schema=frame.schema)
    assert release.data.schema == frame.schema and release.data.equals(shown)
    assert release.data.sort(order).equals(frame.with_columns(pl.col("ward").replace("", None)).sort(order))


def test_a_path_is_read_like_a_frame(tmp_path, columns, policy):
    path = tmp_path / "ward.csv"
    pl.DataFrame(columns).write_csv(path)
    by_path = kh.anonymize(path, policy, seed=5)
    by_frame = kh.anonymize(pl.DataFrame(columns), policy, seed=5)
    assert by_path.file("release/data.csv") == by_frame.file("release/data.csv")
    assert by_path.data.columns == ["age", "sex", "zip", "diagnosis", "los"]
    assert pl.DataFrame(by_path.data).height == len(by_path.data)
