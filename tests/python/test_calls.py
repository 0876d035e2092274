"""Every call, and what it returns."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import kohort as kh


def test_risk_is_measured_and_shows_itself(columns):
    risk = kh.risk(pl.DataFrame(columns), quasi=["age", "sex", "zip"], patient="pid")
    assert 0 < risk.unique < 1
    assert "unique on all 3 quasi-identifiers" in str(risk)
    html = risk._repr_html_()
    assert "<script" not in html and "http" not in html.replace("http://www.w3.org", "")


def test_the_five_lines(tmp_path, monkeypatch, columns):
    monkeypatch.chdir(tmp_path)
    df = pd.DataFrame(columns)
    risk = kh.risk(df, quasi=["age", "sex", "zip"], patient="pid")
    policy = kh.suggest(df)
    release = kh.anonymize(df, policy, k=5)
    assert "patients" in str(risk) and "<svg" in risk._repr_html_()
    assert isinstance(release.data, pd.DataFrame) and release.report.startswith("<!doctype html>")
    assert release.certificate["counted"]["claim"]["k"] == 5 and release.metrics["rows"]["in"] == 400
    release.save("out")
    assert kh.verify("out").result in ("verified", "partly")
    assert "<svg" in kh.compare(df, policy, k=[3, 5, 11], method=["local", "lattice"]).plot()._repr_html_()


def test_settings_that_cannot_be_compared_are_named(columns, policy):
    with pytest.raises(kh.PolicyError, match="`kk` is not a key.*Did you mean `k`"):
        kh.compare(pl.DataFrame(columns), policy, kk=[3, 5])
    with pytest.raises(kh.PolicyError, match="unknown method.*Did you mean `lattice`"):
        kh.compare(pl.DataFrame(columns), policy, method=["local", "latice"])


def test_a_suggestion_can_be_changed_and_released(columns):
    policy = kh.suggest(pl.DataFrame(columns))
    assert {advice.column for advice in policy.advice} == set(columns)
    assert next(own for own in policy.advice if own.column == "pid").role == "patient"
    assert "#" in policy.to_toml(), "reasons stay beside the columns"
    release = kh.anonymize(pl.DataFrame(columns), policy, k=3)
    assert "name" not in release.data.columns and "pid" not in release.data.columns


def test_a_release_is_saved_verified_and_refused_when_changed(tmp_path, columns, policy):
    frame = pl.DataFrame(columns)
    release = kh.anonymize(frame, policy)
    folder = release.save(tmp_path / "out")
    assert kh.verify(folder).result == "partly", "only the custodian knows the patients"
    assert kh.verify(folder, original=frame, policy=policy).result in ("verified", "partly")
    assert not kh.verify(folder, strict=True)
    data = folder / "release" / "data.csv"
    data.write_bytes(data.read_bytes().replace(b"flu", b"xxx", 1))
    refused = kh.verify(folder)
    assert refused.result == "refused" and refused.reason


def test_a_release_is_signed(tmp_path, columns, policy):
    public = kh.key(tmp_path / "key")
    folder = kh.anonymize(pl.DataFrame(columns), policy).save(tmp_path / "out", sign=tmp_path / "key")
    assert kh.verify(folder, signer=public).result == "partly"
    other = kh.key(tmp_path / "other")
    assert kh.verify(folder, signer=other).result == "refused"


def test_a_release_shows_the_shareable_summary(columns, policy):
    release = kh.anonymize(pl.DataFrame(columns), policy)
    html = release._repr_html_()
    assert "What is guaranteed" in html and "<svg" in html
    assert "<script" not in html and "src=" not in html
    assert "Person" not in html
    assert release.metrics["rows"]["in"] == 400
    assert release.report.startswith("<!doctype html>") and "hidden" in release.shareable_report


def test_settings_are_compared(columns, policy):
    found = kh.compare(pl.DataFrame(columns), policy, k=[2, 4, 8], method=["local", "lattice"])
    assert len(found) == 6
    best = found.best if found.best is not None else 0
    release = kh.anonymize(pl.DataFrame(columns), found.policy(best))
    assert release.certificate["counted"]["claim"]["k"] in (2, 4, 8)
    assert "<svg" in found.plot()._repr_html_() and "highest risk" in str(found)


def test_policies_come_from_text_dictionaries_methods_and_files(tmp_path, columns, policy):
    text = policy.to_toml()
    (tmp_path / "policy.toml").write_text(text)
    frame = pl.DataFrame(columns)
    releases = {
        kh.anonymize(frame, own, seed=1).file("release/data.csv")
        for own in (policy, text, kh.Policy.from_toml(text), policy.to_dict(), tmp_path / "policy.toml")
    }
    assert len(releases) == 1
    assert kh.Policy.from_toml(text).to_dict() == policy.to_dict()


def test_hierarchies_come_from_dictionaries_and_functions(columns):
    calls = []

    def decade(value):
        calls.append(value)
        return [f"{int(value) // 10 * 10}s", "young" if int(value) < 50 else "old", "*"]

    frame = pl.DataFrame(columns).select("age", "sex")
    base = kh.Policy().quasi("sex").privacy(k=20).method("lattice", max_suppressed=0)
    by_function = kh.anonymize(frame, base.copy().quasi("age", hierarchy=decade))
    assert len(calls) == len(set(calls)) == frame["age"].n_unique(), "once for each value"
    groups = {str(age): decade(str(age)) for age in frame["age"].unique().to_list()}
    by_dict = kh.anonymize(frame, base.copy().quasi("age", hierarchy=groups))
    assert sorted(by_function.data.rows()) == sorted(by_dict.data.rows())
    assert set(by_dict.data["age"]) <= {*(f"{n}0s" for n in range(10)), "young", "old", "*"}


def test_hierarchies_come_from_files_and_code_systems(tmp_path, columns):
    (tmp_path / "sex.csv").write_text("F;everybody\nM;everybody\n")
    frame = pl.DataFrame({"sex": columns["sex"], "dx": [["I10", "E11.9", "J45.0", "I21.3"][n % 4] for n in range(400)]})
    policy = kh.Policy().quasi("sex", hierarchy=tmp_path / "sex.csv").quasi("dx", hierarchy="icd10", levels=["chapter", "*"])
    release = kh.anonymize(frame, policy.privacy(k=20).method("lattice", max_suppressed=0))
    assert not set(release.data["dx"]) & {"I10", "E11.9"}
    by_name = kh.Policy().quasi("sex", hierarchy="sex.csv").privacy(k=150).method("lattice", max_suppressed=0)
    (tmp_path / "policy.toml").write_text(by_name.to_toml())
    released = kh.anonymize(frame.select("sex"), tmp_path / "policy.toml").data
    assert set(released["sex"]) <= {"F", "M", "everybody"}


def test_values_may_be_called_like_keys():
    frame = pl.DataFrame({"direction": ["from", "to"] * 50})
    groups = {"from": ["away", "*"], "to": ["away", "*"]}
    policy = kh.Policy().quasi("direction", hierarchy=groups).privacy(k=60).method("lattice", max_suppressed=0)
    assert set(kh.anonymize(frame, policy).data["direction"]) == {"away"}
    one = kh.Policy().quasi("direction", hierarchy={"from": "away", "to": "away"}).privacy(k=60)
    # One group that holds all values is the root, which is released as `*`.
    assert set(kh.anonymize(frame, one.method("lattice", max_suppressed=0)).data["direction"]) == {"*"}


def test_a_policy_with_functions_is_bound_and_saved(tmp_path, columns):
    frame = pl.DataFrame(columns).select("age", "sex")
    policy = kh.Policy().quasi("age", hierarchy=lambda age: [f"{age[0]}0s", "*"]).quasi("sex").privacy(k=5)
    policy = policy.method("lattice", max_suppressed=0.05)
    bound = policy.bind(frame)
    bound["input"] = {"table": "table.csv"}
    frame.write_csv(tmp_path / "table.csv")
    same_by_command(tmp_path, frame, bound, ["data.csv", "certificate.json"])


def test_codes_of_patients(columns):
    records = [["401", "250"], ["401", "250", "486"], ["401"], ["250", "486"], ["401", "486"], ["486"]] * 3
    policy = kh.Policy().patient("patient").codes("code").privacy(k=3, knows=2).method("disassociate")
    release = kh.anonymize(records, policy)
    assert sum(cluster.get("size", 0) for cluster in release.data) or release.data
    frame = pl.DataFrame({"codes": records})
    listed = kh.anonymize(frame, kh.Policy().codes("codes").privacy(k=3, knows=2).method("disassociate"))
    assert listed.certificate["counted"]["claim"]["k"] == 3


def test_patients_with_their_events():
    patients = pl.DataFrame({"id": list(range(60)), "sex": ["F", "M"] * 30})
    events = pl.DataFrame({"id": [n % 60 for n in range(240)], "dx": [["401", "250", "486"][n % 3] for n in range(240)]})
    policy = (
        kh.Policy()
        .patient("id", table="patients")
        .quasi("sex", table="patients")
        .patient("id", table="claims")
        .quasi("dx", table="claims")
        .privacy(k=3, power=2, max_high_risk=0.2)
        .method("claims")
    )
    release = kh.anonymize({"patients": patients, "claims": events}, policy)
    assert set(release.data) == {"patients", "claims"}
    assert isinstance(release.data["claims"], pl.DataFrame)


def linked(rows=90):
    """Patients with three tables of events."""
    people = pl.DataFrame({"id": list(range(rows)), "sex": ["F", "M"] * (rows // 2)})
    visits = pl.DataFrame({"id": [n % rows for n in range(2 * rows)], "dx": [["401", "250"][n % 2] for n in range(2 * rows)]})
    drugs = pl.DataFrame({"id": [n % rows for n in range(rows)], "drug": [["A10", "C07"][n % 2] for n in range(rows)]})
    tests = pl.DataFrame({"id": [n % rows for n in range(rows)], "lab": [["hba1c", "ldl"][n % 2] for n in range(rows)]})
    policy = kh.Policy().patient("id", table="patients").quasi("sex", table="patients")
    for table, column in (("visits", "dx"), ("drugs", "drug"), ("tests", "lab")):
        policy = policy.patient("id", table=table).quasi(column, table=table)
    policy = policy.privacy(k=3, power=1, max_high_risk=0.2).method("claims")
    return {"patients": people, "visits": visits, "drugs": drugs, "tests": tests}, policy


def test_patients_with_several_tables_of_events(tmp_path):
    data, policy = linked()
    release = kh.anonymize(data, policy)
    assert set(release.data) == set(data)
    assert all(isinstance(frame, pl.DataFrame) for frame in release.data.values())
    ids = set(release.data["patients"]["patient"])
    for name in ("visits", "drugs", "tests"):
        assert release.data[name].height > 0 and set(release.data[name]["patient"]) <= ids
    folder = release.save(tmp_path / "out")
    assert kh.verify(folder).result in ("verified", "partly")
    mixed = {**data, "drugs": data["drugs"].to_pandas(), "tests": data["tests"].to_arrow()}
    kinds = [type(frame).__module__.split(".")[0] for frame in kh.anonymize(mixed, policy).data.values()]
    assert kinds == ["polars", "polars", "pandas", "pyarrow"]


def test_the_command_line_and_python_make_the_same_tables_of_events(tmp_path):
    data, policy = linked()
    for name, frame in data.items():
        frame.write_csv(tmp_path / f"{name}.csv")
    policy["input"] = {"patients": "patients.csv", "events": {name: f"{name}.csv" for name in data if name != "patients"}}
    same_by_command(tmp_path, data, policy, [*(f"{name}.csv" for name in data), "certificate.json"])


def test_a_function_is_the_hierarchy_of_a_column_of_one_table():
    data, policy = linked()
    calls = []

    def chapter(code):
        calls.append(code)
        return [code[0], "*"]

    policy.quasi("dx", table="visits", hierarchy=chapter)
    release = kh.anonymize(data, policy)
    assert sorted(calls) == ["250", "401"]
    assert set(release.data["visits"]["dx"]) <= {"250", "401", "2", "4", "*"}


def test_the_command_comes_with_the_package(tmp_path, columns):
    path = tmp_path / "ward.csv"
    pl.DataFrame(columns).write_csv(path)
    run = subprocess.run([sys.executable, "-m", "kohort", "risk", str(path)], capture_output=True, text=True)
    assert run.returncode == 0 and "rows" in run.stdout
    wrong = subprocess.run([sys.executable, "-m", "kohort", "anonymize", "no.toml"], capture_output=True, text=True)
    assert wrong.returncode == 2


#: Methods for tables; the tests below add those for codes and for patients with their events.
METHODS = {
    "local": {"max_suppressed": 0.05},
    "lattice": {"max_suppressed": 0.05},
    "specialize": {"objective": "discernibility"},
    "suppress": {},
    "ceiling": {"h": 0.6, "real_k": 2, "max_counterfeits": 0.5},
}


def test_every_method_is_compared_with_the_command_line():
    page = (Path(__file__).parents[2] / "docs" / "reference" / "policy.md").read_text(encoding="utf-8")
    named = set(re.findall(r'^## \[method\] name = "([a-z]+)"', page, flags=re.M))
    assert named == {*METHODS, "disassociate", "claims"}


@pytest.mark.parametrize("method", METHODS)
def test_the_command_line_and_python_make_the_same_release(tmp_path, columns, method):
    frame = pl.DataFrame(columns).drop("pid")
    frame.write_csv(tmp_path / "ward.csv")
    policy = (
        kh.Policy()
        .identifier("name", "admitted")
        .quasi("age", intervals=[5, 10, 20], start=0, end=100)
        .quasi("sex")
        .quasi("zip", prefix=[3, 2])
        .sensitive("diagnosis", domain=["flu", "asthma", "angina", "burn", "fracture", "stroke"])
        .other("los", reason="a test")
        .privacy(k=4)
        .method(method, **METHODS[method])
    )
    policy["input"] = {"table": "ward.csv"}
    policy.save(tmp_path / "policy.toml")
    args = ["anonymize", str(tmp_path / "policy.toml"), "-o", str(tmp_path / "out"), "--seed", "9"]
    run = subprocess.run([sys.executable, "-m", "kohort", *args], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    by_python = kh.anonymize(frame, policy, seed=9)
    assert (tmp_path / "out/release/data.csv").read_bytes() == by_python.file("release/data.csv")
    certificate = json.loads((tmp_path / "out/release/certificate.json").read_text())
    assert certificate == by_python.certificate


def same_by_command(tmp_path, data, policy, files):
    """Releases by the command line and by Python, with the same seed, and compares these files."""
    policy.save(tmp_path / "policy.toml")
    args = ["anonymize", str(tmp_path / "policy.toml"), "-o", str(tmp_path / "out"), "--seed", "9"]
    run = subprocess.run([sys.executable, "-m", "kohort", *args], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    by_python = kh.anonymize(data, policy, seed=9)
    for name in files:
        assert (tmp_path / "out/release" / name).read_bytes() == by_python.file(f"release/{name}")


def test_the_command_line_and_python_make_the_same_clusters(tmp_path):
    records = [["401", "250"], ["401", "250", "486"], ["401"], ["250", "486"], ["401", "486"], ["486"]] * 5
    rows = [(str(n), code) for n, codes in enumerate(records, start=1) for code in codes]
    pl.DataFrame(rows, schema=["patient", "code"], orient="row").write_csv(tmp_path / "codes.csv")
    policy = kh.Policy().patient("patient").codes("code").privacy(k=3, knows=2).method("disassociate")
    policy["input"] = {"table": "codes.csv", "layout": "long"}
    same_by_command(tmp_path, records, policy, ["clusters.jsonl", "certificate.json"])


def test_the_command_line_and_python_make_the_same_events(tmp_path):
    patients = pl.DataFrame({"id": list(range(60)), "sex": ["F", "M"] * 30})
    events = pl.DataFrame({"id": [n % 60 for n in range(240)], "dx": [["401", "250", "486"][n % 3] for n in range(240)]})
    patients.write_csv(tmp_path / "patients.csv")
    events.write_csv(tmp_path / "claims.csv")
    policy = kh.Policy().patient("id", table="patients").quasi("sex", table="patients")
    policy = policy.patient("id", table="claims").quasi("dx", table="claims")
    policy = policy.privacy(k=3, power=2, max_high_risk=0.2).method("claims")
    policy["input"] = {"patients": "patients.csv", "claims": "claims.csv"}
    same_by_command(
        tmp_path, {"patients": patients, "claims": events}, policy, ["patients.csv", "claims.csv", "certificate.json"]
    )
