"""Checked by mypy --strict and pyright, not run: the types that a caller sees."""

from pathlib import Path
from typing import Any

from typing_extensions import assert_type

import kohort as kh


def uses(frame: object) -> None:
    risk = kh.risk(frame, quasi=["age", "sex"], patient="pid")
    assert_type(risk, kh.Risk)
    assert_type(risk.unique, float | None)
    policy = kh.suggest(frame)
    assert_type(policy, kh.Policy)
    assert_type(policy.advice, tuple[kh.Advice, ...])
    release = kh.anonymize(frame, policy, k=5, confidence=0.5, seed=1, progress=lambda stage, done, total: print(stage))
    assert_type(release, kh.Release)
    assert_type(release.certificate, dict[str, Any])
    assert_type(release.report, str)
    assert_type(release.file("release/data.csv"), bytes)
    assert_type(release.save("out"), Path)
    assert_type(kh.verify("out").result, str)
    found = kh.compare(frame, policy, k=[3, 5, 11], method=["local", "lattice"])
    assert_type(found.plot(), kh.Picture)
    assert_type(found.policy(0), kh.Policy)
    kh.anonymize(frame, {"columns": {"sex": {"role": "quasi"}}})
    kh.anonymize({"patients": frame, "claims": "claims.csv"}, Path("policy.toml"))
    kh.anonymize([["401", "250"], ["401"]], policy.copy())
    (
        kh.Policy()
        .quasi("zip", hierarchy=lambda code: [code[:2], "*"])
        .quasi("job", hierarchy={"nurse": ["care", "*"], "cook": ["kitchen", "*"]})
        .quasi("age", hierarchy={"intervals": [5, 10], "from": 0, "to": 100})
        .quasi("dx", hierarchy="icd10")
        .quasi("town", hierarchy=Path("towns.csv"))
        .sensitive("diagnosis")
        .privacy(k=5)
        .method("local", max_suppressed=0.05)
        .bind(frame)
        .save("policy.toml")
    )
    try:
        kh.anonymize(frame, policy)
    except (kh.PolicyError, kh.DataError, kh.CannotBeMetError, kh.RefusedError, kh.MachineError) as error:
        assert_type(str(error), str)
        raised: kh.KohortError = error
        print(raised)
