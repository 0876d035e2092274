"""A small synthetic ward for the tests."""

import random

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
