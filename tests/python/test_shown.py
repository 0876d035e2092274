"""Results show themselves in a notebook: what others may see, without script and network."""

import re

import pandas as pd
import polars as pl
import pytest

import kohort as kh


def safe(html):
    lower = html.lower()
    for bad in ("<script", "javascript:", "onload=", "onclick=", "<iframe", "<img", "<link", "@import", "src="):
        assert bad not in lower, bad
    # A pattern inside the picture is no address of another host.
    assert not re.search(r"url\((?![\"']?#)", html)
    assert not re.search(r"https?://(?!www\.w3\.org)", lower)


def few_unique():
    """400 rows in large groups, and 3 that nobody else has."""
    return pl.DataFrame({"age": [30, 40] * 200 + [51, 52, 53], "sex": ["F", "M"] * 200 + ["F", "F", "M"]})


def test_a_risk_hides_small_counts():
    risk = kh.risk(few_unique(), quasi=["age", "sex"])
    assert risk.details["unique"] == 3 and "3 rows" in str(risk)
    html = risk._repr_html_()
    safe(html)
    assert "hidden" in html
    visible = re.sub(r"<style>.*?</style>", "", html, flags=re.S)
    numbers = set(re.findall(r'data-value="([^"]*)"', visible))
    assert "3" not in numbers and "403" in numbers and "400" not in numbers
    assert not re.search(r">\s*3\s*<", visible)
    plain = risk._repr_mimebundle_()["text/plain"]
    assert "3" not in plain, "the text beside the picture is saved too"


def test_names_of_columns_stay_text():
    frame = few_unique().rename({"age": "<script>alert(1)</script>"})
    html = kh.risk(frame, quasi=["<script>alert(1)</script>", "sex"])._repr_html_()
    safe(html)


def test_risks_of_codes_and_events_show_themselves():
    records = [["401", "250"], ["401", "250", "486"], ["401"], ["250", "486"], ["401", "486"], ["486"]] * 30
    policy = kh.Policy().patient("patient").codes("code").privacy(k=3, knows=2).method("disassociate")
    html = kh.risk(records, policy)._repr_html_()
    safe(html)
    assert "<svg" in html
    patients = pl.DataFrame({"id": list(range(60)), "sex": ["F", "M"] * 30})
    events = pl.DataFrame({"id": [n % 60 for n in range(240)], "dx": [["401", "250", "486"][n % 3] for n in range(240)]})
    policy = kh.Policy().patient("id", table="patients").quasi("sex", table="patients")
    policy = policy.patient("id", table="claims").quasi("dx", table="claims").privacy(k=3, power=2, max_high_risk=0.2)
    risk = kh.risk({"patients": patients, "claims": events}, policy.method("claims"))
    safe(risk._repr_html_())
    assert "<svg" in risk._repr_html_() and "whole events" in str(risk)


def test_a_release_does_not_tell_how_many_rows_were_removed(columns, policy):
    release = kh.anonymize(pl.DataFrame(columns), policy)
    bundle = release._repr_mimebundle_()
    safe(bundle["text/html"])
    assert "What is guaranteed" in bundle["text/html"] and "<svg" in bundle["text/html"]
    assert release.data.height == 400 or "400" not in bundle["text/plain"]
    assert str(release.data.height) in bundle["text/plain"]
    for value in ("Person", "flu", "asthma"):
        assert value not in bundle["text/html"] or value in release.dictionary


def test_a_comparison_shows_its_picture(columns, policy):
    found = kh.compare(pl.DataFrame(columns), policy, k=[2, 4, 350], method=["local", "lattice"])
    for html in (found._repr_html_(), found.plot()._repr_html_()):
        safe(html)
        assert "<svg" in html
        # Exact numbers could be solved for counts.
        assert all(len(n.partition(".")[2]) <= 2 for n in re.findall(r'data-value="([^"]*)"', html))
    assert "cannot be met" in found._repr_html_()
    refused = [own["refused"] for own in (found[n] for n in range(len(found))) if "refused" in own]
    assert refused and all(reason not in found._repr_html_() for reason in refused)


def test_a_picture_is_saved(tmp_path, columns, policy):
    kh.compare(pl.DataFrame(columns), policy, k=[2, 4]).plot().save(tmp_path / "picture.html")
    page = (tmp_path / "picture.html").read_text()
    assert page.startswith("<!doctype html>")
    safe(page)


@pytest.mark.parametrize("library", [pd, pl])
def test_nothing_of_the_data_is_in_a_representation(library, columns, policy):
    frame = library.DataFrame(columns)
    for own in (kh.anonymize(frame, policy), kh.risk(frame, policy), kh.compare(frame, policy, k=[2, 4]), policy):
        assert "Person" not in repr(own)
