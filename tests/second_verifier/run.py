#!/usr/bin/env python3
"""Verifies the test vectors with the second verifier, and compares the results with the expected ones.

Vectors of other shapes and depths are left out, and so are those that only a verifier with sentences (`sentences` in
expected.json), with Parquet or with the posterior of a catalog can tell.
"""

import base64
import json
import os
import shutil
import sys
import tempfile

import verify

VECTORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "vectors")
# The posterior of a catalog is not computed here.
CATALOGS = {"bad_synthetic_catalog_changed"}


def result(folder, expected):
    code, why, key = verify.result(folder)
    if expected.get("signer") and code in (verify.VERIFIED, verify.PARTLY):
        with open(os.path.join(folder, "signer.pub")) as own:
            known = base64.b64decode(own.read().split()[1])[-32:]
        if key != known:
            return verify.REFUSED, "not signed by the key that is expected"
    if expected.get("strict") and (code == verify.PARTLY or not (expected.get("signer") and key)):
        code, why = verify.REFUSED, "strict: " + why
    return code, why


def main():
    agreed, left_out, wrong = 0, 0, []
    for name in sorted(os.listdir(VECTORS)):
        with open(os.path.join(VECTORS, name, "expected.json")) as own:
            expected = json.load(own)
        if expected["depth"] != "release" or expected.get("sentences") or name in CATALOGS:
            left_out += 1
            continue
        with tempfile.TemporaryDirectory() as place:
            folder = os.path.join(place, "vector")
            shutil.copytree(os.path.join(VECTORS, name), folder)
            for at, to in expected.get("links", {}).items():
                at = os.path.join(folder, at)
                if os.path.lexists(at):
                    os.remove(at)
                os.symlink(to, at)
            try:
                code, why = result(folder, expected)
            except verify.NotRead:
                left_out += 1
                continue
        if code == expected["exit_code"]:
            agreed += 1
        else:
            wrong.append(f"{name}: {code} ({why}) instead of {expected['exit_code']}")
    print(f"{agreed} vectors of tables agree, {left_out} are left out, {len(wrong)} differ")
    for line in wrong:
        print("  " + line)
    sys.exit(bool(wrong) or agreed < 60)


if __name__ == "__main__":
    main()
