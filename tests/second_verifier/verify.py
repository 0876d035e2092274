#!/usr/bin/env python3
"""A second verifier for releases of tables, written from docs/format.md alone, with the standard library of Python.

It reads DIR/release, counts k, confidence, l-diversity and t-closeness for every set of columns that an attacker may
know, and compares the result with the certificate. It makes no sentences, reads no Parquet and no other shapes, does
not compute the posterior of a catalog, and does not compare the words of dictionary.md: docs/format.md says what such a verifier may leave out.

    python3 verify.py DIR        exit codes: 0 verified, 5 partly, 1 refused, 2 not a release
"""

import base64
import csv
import gzip
import hashlib
import io
import itertools
import json
import math
import os
import re
import stat
import struct
import sys
import unicodedata
from collections import Counter, defaultdict
from fractions import Fraction

VERIFIED, REFUSED, NOT_A_RELEASE, PARTLY = 0, 1, 2, 5
METHODS = {"lattice", "local", "specialize", "ceiling", "suppress", "disassociate", "claims"}
LARGEST_CERTIFICATE = 64 << 20


class Refused(Exception):
    """Something that was counted does not hold, or contradicts the certificate."""


class NotARelease(Exception):
    """There is no certificate, or it or the data cannot be read as such."""


class NotRead(Exception):
    """A part of the format that this verifier does not read."""


# --- The certificate -------------------------------------------------------------------------------------------------


def once(pairs):
    """An object whose keys are different."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NotARelease("a key appears twice")
    return found


def no_constant(_):
    raise NotARelease("not a number of JSON")


def parse(data):
    try:
        text = data.decode("utf-8")
        return json.loads(text, object_pairs_hook=once, parse_constant=no_constant)
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise NotARelease(f"not valid JSON: {type(error).__name__}") from None


def is_hidden(c):
    code = ord(c)
    ranges = [(0x180B, 0x180F), (0x200B, 0x200F), (0x2028, 0x202E), (0x2060, 0x206F), (0xFE00, 0xFE0F),
              (0xFFF0, 0xFFFB), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)]
    single = [0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFEFF, 0xFFA0]
    return unicodedata.category(c) == "Cc" or code in single or any(a <= code <= b for a, b in ranges)


def is_visible(text):
    """At least one character that can be seen, and none that is hidden but joiners between letters."""
    def joins(at):
        def letter(i):
            return 0 <= i < len(text) and not text[i].isascii() and text[i].isalpha()
        return text[at] in "\u200c\u200d" and letter(at - 1) and letter(at + 1)
    seen = any(not c.isspace() and not is_hidden(c) for c in text)
    return seen and all(not is_hidden(c) or joins(at) for at, c in enumerate(text))


def record(**fields):
    """A check for an object with these keys; a name that ends in _ may be left out."""
    def check(value):
        if not isinstance(value, dict):
            raise NotARelease("a value of another type")
        known = {name.rstrip("_"): (own, name.endswith("_")) for name, own in fields.items()}
        for key in value:
            if key not in known:
                raise NotARelease("an unknown key")
        for key, (own, optional) in known.items():
            if key in value:
                own(value[key])
            elif not optional:
                raise NotARelease(f"{key} is missing")
    return check


def a_list(of):
    def check(value):
        if not isinstance(value, list):
            raise NotARelease("a value of another type")
        for item in value:
            of(item)
    return check


def text(value):
    if not isinstance(value, str):
        raise NotARelease("a value of another type")


def flag(value):
    if not isinstance(value, bool):
        raise NotARelease("a value of another type")


def whole(least=0):
    def check(value):
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 1 << 64:
            raise NotARelease("not a whole number of the right size")
    return check


def word(*words):
    def check(value):
        if value not in words or not isinstance(value, str):
            raise NotARelease("an unknown word")
    return check


def share(value):
    text(value)
    if not re.fullmatch(r"0|1|0\.[0-9]*[1-9]", value):
        raise NotARelease("a share is not a number from 0 to 1")


def knows(value):
    if isinstance(value, list):
        a_list(a_list(text))(value)
    elif value != "all" or not isinstance(value, str):
        whole()(value)


def diversity(value):
    if not isinstance(value, dict) or len(value) != 1:
        raise NotARelease("l_diversity is not one requirement")
    (kind, own), = value.items()
    if kind in ("distinct", "entropy"):
        whole(2)(own)
    elif kind == "recursive":
        record(c=a_list(whole(1)), l=whole(2))(own)
        if len(own["c"]) != 2:
            raise NotARelease("c is not a fraction")
    else:
        raise NotARelease("an unknown l_diversity")


COLUMN = record(name=text, role=text, of_=a_list(text), labels_=text)
CLAIM = record(
    k=whole(2),
    knows=knows,
    sensitive=a_list(record(
        column=text, values_=a_list(text), confidence_=share, l_diversity_=diversity,
        t_closeness_=record(max=share, distance=word("equal", "ordered", "hierarchical"),
                            order_=a_list(text), tree_=a_list(a_list(text))))),
)
RECOUNT = record(
    rows=whole(), sets=whole(), classes=whole(), smallest_class=whole(),
    sensitive_=a_list(record(column=text, highest_confidence_=text, least_diversity_=text, largest_distance_=text)),
    catalog_=record(groups=whole(), counterfeits=whole(), highest_posterior=text),
)
CERTIFICATE = record(
    format=text, version=whole(), shape=text, kohort=text,
    counted=record(
        files=a_list(record(name=text, sha256_=text, rows_=whole(), parts_=a_list(record(name=text, sha256=text, rows=whole())))),
        text=record(delimiter=text, suppressed=text, missing=text),
        columns=a_list(COLUMN), claim=CLAIM, recount=RECOUNT, guarantee=text),
    attested=record(
        method=text, unit=word("patient", "row"), test_=flag, sample_=record(share=share),
        synthetic_=record(real_k=whole(1), padding=word("randomized", "exact"), catalog_=text, limits_shown_only_=flag),
        cleaning_=a_list(text),
        effects=record(synthetic=flag, single_cells=flag, class_steers=flag),
        guarantee=record(plain_=text, aware=text), assumed=a_list(text), not_recountable=a_list(text)),
)


def read_certificate(data):
    own = parse(data)
    if not isinstance(own, dict) or own.get("format") != "kohort-certificate":
        raise NotARelease("another format")
    if own.get("version") != 2 or isinstance(own.get("version"), (bool, float)):
        raise NotARelease("another version")
    if own.get("shape") in ("codes", "events"):
        raise NotRead("only tables are read here")
    if own.get("shape") != "table":
        raise NotARelease("an unknown shape")
    CERTIFICATE(own)
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9}){2}([-+][-+.0-9A-Za-z]{0,19})?", own["kohort"]):
        raise NotARelease("not a version")
    counted, attested = own["counted"], own["attested"]
    marks = counted["text"]
    if marks["suppressed"] != "*" or marks["missing"] != "":
        raise NotARelease("other marks")
    delimiter = marks["delimiter"]
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter.isalnum() or delimiter in '"*\n\r\0':
        raise NotARelease("the delimiter is not one character")
    if any(len(set(c.get("of", []))) < len(c.get("of", [])) for c in counted["columns"]):
        raise NotARelease("`of` names a column twice")
    if attested["effects"]["synthetic"] != ("synthetic" in attested):
        raise NotARelease("synthetic records are stated and denied")
    if "synthetic" in attested and attested["synthetic"]["real_k"] > counted["claim"]["k"]:
        raise NotARelease("real_k is above k")
    for own_claim in counted["claim"]["sensitive"]:
        values = own_claim.get("values")
        if values is not None and (not values or not all(is_visible(v) for v in values)):
            raise NotARelease("values that cannot be seen")
        if not {"confidence", "l_diversity", "t_closeness"} & set(own_claim):
            raise NotARelease("a sensitive column without a requirement")
    if not all(1 <= len(s.encode()) <= 2000 and is_visible(s) for s in attested.get("cleaning", [])):
        raise NotARelease("cleaning is not a sentence")
    return own


# --- The folder ------------------------------------------------------------------------------------------------------


def check_listed(release, certificate):
    files = certificate["counted"]["files"]
    names = ["certificate.json"] + [f["name"] for f in files]
    if len(set(names)) != len(names):
        raise Refused("a file is listed twice")
    for entry in os.scandir(release):
        if entry.is_symlink():
            raise Refused("a symbolic link")
        if entry.name != "certificate.json.sig" and entry.name not in names:
            raise Refused("a file that is not listed")
    for f in files:
        if ("parts" in f) == ("sha256" in f):
            raise NotARelease("a file has either a hash or parts")
        if "parts" in f:
            check_parts(release, f)
    data = [f for f in files if "rows" in f]
    catalog = "catalog" in certificate["attested"].get("synthetic", {})
    if len(data) != 1 or data[0]["name"] not in ("data.csv", "data.csv.gz", "data.parquet", "data"):
        raise Refused("not one file of data")
    others = sorted(f["name"] for f in files if "rows" not in f and f["name"] != "hierarchy.csv")
    if others != sorted(["dictionary.md"] + ["catalog.csv"] * catalog):
        raise Refused("a file that is neither data nor dictionary, or one of them is missing")
    for f in files:
        path = os.path.join(release, f["name"])
        if "/" in f["name"] or "\\" in f["name"] or f["name"].startswith("."):
            raise Refused("a listed file is not there")
        if not ("parts" in f or is_plain_file(path)):
            raise Refused("a listed file is not there")


def check_parts(release, f):
    """A folder of parts: numbered from 1, nothing beside them, and their rows add up."""
    parts = f["parts"]
    named = [f"data/part-{number:05}.parquet" for number in range(1, len(parts) + 1)]
    if f["name"] != "data" or not parts or [p["name"] for p in parts] != named:
        raise NotARelease("parts are not numbered from 1")
    if sum(p["rows"] for p in parts) != f.get("rows"):
        raise NotARelease("the rows of the parts do not add up")
    folder = os.path.join(release, "data")
    if not os.path.isdir(folder):
        raise Refused("a listed file is not there")
    for entry in os.scandir(folder):
        if entry.is_symlink():
            raise Refused("a symbolic link")
        if "data/" + entry.name not in named:
            raise Refused("a file that is not listed")
    if not all(is_plain_file(os.path.join(release, name)) for name in named):
        raise Refused("a listed file is not there")


def hashed_files(certificate):
    """Every file that has a hash: parts instead of their folder."""
    for f in certificate["counted"]["files"]:
        yield from f.get("parts", [f])


def is_plain_file(path):
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def read_files(release, certificate):
    """The bytes of every file, each read once and hashed."""
    found = {}
    for f in hashed_files(certificate):
        with open(os.path.join(release, f["name"]), "rb") as own:
            found[f["name"]] = own.read()
    return found


def check_hashes(files, certificate):
    for f in hashed_files(certificate):
        if hashlib.sha256(files[f["name"]]).hexdigest() != f["sha256"]:
            raise Refused(f"{f['name']}: another SHA-256")


# --- The data --------------------------------------------------------------------------------------------------------


def read_table(files, certificate):
    """The names of the columns, and the rows."""
    (name,) = [f["name"] for f in certificate["counted"]["files"] if "rows" in f]
    if name == "data" or name.endswith(".parquet"):
        raise NotRead("Parquet is not read here")
    data = files[name]
    if name.endswith(".gz"):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError) as error:
            raise NotARelease(f"gzip: {type(error).__name__}") from None
    try:
        lines = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise NotARelease("the data is not UTF-8") from None
    if lines.count('"') % 2:
        raise NotARelease("a quote stays open")
    try:
        rows = [row for row in csv.reader(io.StringIO(lines, newline=""), delimiter=certificate["counted"]["text"]["delimiter"], strict=True) if row]
    except csv.Error:
        raise NotARelease("the data is not a table") from None
    if not rows:
        raise Refused("no header")
    return rows[0], rows[1:]


def check_columns(header, certificate):
    columns = certificate["counted"]["columns"]
    if header != [c["name"] for c in columns]:
        raise Refused("the columns of the data are not those declared")
    if any(c["role"] not in ("quasi", "detail", "sensitive", "class", "other") for c in columns):
        raise Refused("a role that is never released")
    if any("labels" in c for c in columns):
        raise Refused("labels of columns are for events alone")
    if not any(c["role"] == "quasi" for c in columns):
        raise Refused("no quasi-identifier")


def check_rows(header, rows, certificate):
    if any(len(row) != len(header) for row in rows):
        raise NotARelease("a row has another number of cells")
    if not rows:
        raise Refused("no rows")


def check_details(rows, columns):
    """A column is `*` wherever a column that it belongs to is."""
    place = {c["name"]: i for i, c in enumerate(columns) if c["role"] == "quasi"}
    for i, c in enumerate(columns):
        of = c.get("of", [])
        if c["role"] not in ("quasi", "detail") or (c["role"] == "quasi" and not of):
            continue
        if not of or any(name not in place for name in of):
            raise Refused("a detail belongs to no quasi-identifier")
        if any(row[i] != "*" and any(row[place[name]] == "*" for name in of) for row in rows):
            raise Refused("a detail is shown where its column is suppressed")


def check_hierarchy(files, rows, columns):
    """hierarchy.csv: the groups of labels of different levels are a forest over the labels that the data shows."""
    if "hierarchy.csv" not in files:
        return
    lines = list(csv.reader(io.StringIO(files["hierarchy.csv"].decode("utf-8", "replace"), newline="")))
    if not lines or lines[0] != ["column", "label", "level", "level_name", "group"] or any(len(own) != 5 for own in lines):
        raise Refused("hierarchy.csv: other columns")
    found, names = {}, {}
    for column, label, level, name, group in lines[1:]:
        if not re.fullmatch(r"0|[1-9][0-9]{0,8}", level) or "" in (label, group) or "*" in (label, group):
            raise Refused("hierarchy.csv: a cell that is never written")
        if names.setdefault((column, level), name) != name:
            raise Refused("hierarchy.csv: a level with two names")
        own = found.setdefault(column, {}).setdefault(label, [])
        if own and int(level) != own[-1][0] + 1:
            raise Refused("hierarchy.csv: levels of a label with a gap")
        own.append((int(level), group))
    quasi = [(i, c["name"]) for i, c in enumerate(columns) if c["role"] == "quasi"]
    if [name for _, name in quasi if name in found] != list(found):
        raise Refused("hierarchy.csv: columns that are no quasi-identifiers, or in another order")
    for i, name in quasi:
        own = found.get(name)
        if own is None:
            continue
        if list(own) != sorted(own, key=str.encode) or set(own) != {row[i] for row in rows} - {"", "*"}:
            raise Refused("hierarchy.csv: other labels than the data shows")
        above = {}
        for label, groups in own.items():
            if groups[0][1] != label:
                raise Refused("hierarchy.csv: a label is not its own group on its first level")
            for at, (level, group) in enumerate(groups):
                if above.setdefault((level, group), groups[at:]) != groups[at:]:
                    raise Refused("hierarchy.csv: two labels share a group and part above it")
                # A group that is also a listed label, on the level where it begins.
                if group in own and own[group][0][0] == level and own[group] != groups[at:]:
                    raise Refused("hierarchy.csv: a group has other groups than the label of its name")


# --- The claim -------------------------------------------------------------------------------------------------------


def known_sets(claim, quasi, patients):
    """The sets of columns that an attacker may know, as places in the data."""
    asked = claim["knows"]
    if asked == "all":
        return [[i for i, _ in quasi]]
    if isinstance(asked, int):
        if asked == 0:
            raise Refused("an attacker who knows nothing")
        n = min(asked, len(quasi))
        # Limits on sensitive values that are counted in patients are counted for every size.
        sizes = range(1, n + 1) if patients and claim["sensitive"] else [n]
        return [[quasi[q][0] for q in own] for size in sizes for own in itertools.combinations(range(len(quasi)), size)]
    place = {name: i for i, name in quasi}
    if not asked or any(not own for own in asked):
        raise Refused("an empty set")
    if any(name not in place for own in asked for name in own):
        raise Refused("a set names a column that is not a quasi-identifier")
    if {name for own in asked for name in own} != set(place):
        raise Refused("a quasi-identifier is in none of the sets")
    return [[place[name] for name in own] for own in asked]


def tree_levels(paths, values):
    """For each step above the values: the node of each value. Steps that join nothing are left out."""
    depth = len(paths[0]) if paths else 0
    if depth < 2 or any(len(path) != depth for path in paths):
        raise Refused("the paths of the tree are not of one length")
    if sorted(path[0] for path in paths) != sorted(values):
        raise Refused("the tree does not hold each value once")
    if depth > len({label for path in paths for label in path}):
        raise Refused("the tree is deeper than it has labels")
    if any(not is_visible(label) for path in paths for label in path[1:]):
        raise Refused("a label that cannot be seen")
    # A node is its path up to the root.
    return [{path[0]: tuple(path[step:]) for path in paths} for step in range(1, depth)]


def distance(claim, counts, table):
    """The earth mover's distance between a class and the table, as a fraction."""
    n, total = sum(counts.values()), sum(table.values())
    if n == 0 or total == 0:
        return Fraction(0)
    extra = {value: Fraction(counts.get(value, 0), n) - Fraction(all_rows, total) for value, all_rows in table.items()}
    if claim["distance"] == "equal":
        return sum(abs(own) for own in extra.values()) / 2
    if claim["distance"] == "ordered":
        carried, work = Fraction(0), Fraction(0)
        for value in claim["order"]:
            carried += extra[value]
            work += abs(carried)
        return work / max(len(claim["order"]) - 1, 1)
    # Nodes with one child are that child.
    below = {value: (own, 0) for value, own in extra.items()}
    of = {value: value for value in extra}
    work, tallest = Fraction(0), 0
    for level in tree_levels(claim["tree"], list(table)):
        children = defaultdict(dict)
        for value in extra:
            children[level[value]][of[value]] = below[of[value]]
        below = {}
        for node, own in children.items():
            height = max(h for _, h in own.values()) + (len(own) > 1)
            up = sum(e for e, _ in own.values() if e > 0)
            down = -sum(e for e, _ in own.values() if e < 0)
            work += height * min(up, down)
            tallest = max(tallest, height)
            below[node] = (sum(e for e, _ in own.values()), height)
        of = level
    return work / max(tallest, 1)


class Extremes:
    """How near the classes come to failing."""

    def __init__(self):
        self.confidence = self.diversity = self.distance = None


def check_class(claim, counts, table, extremes):
    """Checks one class with values; `counts` holds no missing ones."""
    n = sum(counts.values())
    if "confidence" in claim:
        listed = claim.get("values")
        hits = [c for value, c in counts.items() if listed is None or value in listed]
        if hits:
            found = Fraction(max(hits), n)
            extremes.confidence = max(extremes.confidence or found, found)
            if found > Fraction(claim["confidence"]):
                raise Refused("confidence")
    if "l_diversity" in claim:
        (kind, own), = claim["l_diversity"].items()
        ordered = sorted(counts.values(), reverse=True)
        if kind == "distinct":
            reached, holds = len(ordered), len(ordered) >= own
        elif kind == "entropy":
            entropy = sum(-c / n * math.log(c / n) for c in ordered)
            even = len(set(ordered)) == 1
            reached = math.exp(entropy)
            holds = len(ordered) >= own if even else entropy >= math.log(own) + 1e-9
        else:
            (num, den), tail = own["c"], sum(ordered[own["l"] - 1:])
            reached = ordered[0] / tail if tail else math.inf
            holds = ordered[0] * den < num * tail
        worse = max if kind == "recursive" else min
        extremes.diversity = reached if extremes.diversity is None else worse(extremes.diversity, reached)
        if not holds:
            raise Refused("l-diversity")
    if "t_closeness" in claim:
        found = distance(claim["t_closeness"], counts, table)
        extremes.distance = max(extremes.distance or found, found)
        if found > Fraction(claim["t_closeness"]["max"]):
            raise Refused("t-closeness")


def check_values(claim, values):
    """The order or tree of a claim lists the released values."""
    own = claim.get("t_closeness", {})
    if own.get("distance") == "ordered" and sorted(own.get("order", [])) != sorted(values):
        raise Refused("the order does not list each value once")
    if own.get("distance") == "hierarchical":
        tree_levels(own.get("tree", []), values)


def up(value):
    return f"{max(math.ceil(float(value) * 1e4 - 1e-8), 0) / 1e4:.4f}"


def down(value):
    return f"{math.floor(float(value) * 1e4 + 1e-8) / 1e4:.4f}"


def exactly_up(value):
    own = -((-value.numerator * 10_000) // value.denominator)
    return f"{own // 10_000}.{own % 10_000:04}"


def count(rows, certificate):
    """Counts the claim, and returns the recount as a certificate shows it."""
    counted, attested = certificate["counted"], certificate["attested"]
    columns, claim = counted["columns"], counted["claim"]
    quasi = [(i, c["name"]) for i, c in enumerate(columns) if c["role"] == "quasi"]
    sensitive = {c["name"]: i for i, c in enumerate(columns) if c["role"] == "sensitive"}
    patients, sample = attested["unit"] == "patient", "sample" in attested
    named = [own["column"] for own in claim["sensitive"]]
    if len(set(named)) != len(named) or any(name not in sensitive for name in named):
        raise Refused("a sensitive column that is not declared, or is named twice")
    catalog = attested.get("synthetic", {}).get("catalog")
    if catalog is not None and catalog not in sensitive:
        raise Refused("the column of the catalog is not declared")
    sets = known_sets(claim, quasi, patients)
    tables = {}
    for own in claim["sensitive"]:
        tables[own["column"]] = Counter(row[sensitive[own["column"]]] for row in rows)
        tables[own["column"]].pop("", None)
        check_values(own, list(tables[own["column"]]))
    # Limits on sensitive values are counted where every row is a person and the whole file is here.
    limits = [] if patients or sample else claim["sensitive"]
    extremes = {own["column"]: Extremes() for own in limits}
    smallest = None
    for own_set in sets:
        classes = defaultdict(list)
        for row in rows:
            classes[tuple(row[i] for i in own_set)].append(row)
        least = min(len(own) for own in classes.values())
        smallest = least if smallest is None else min(smallest, least)
        if least < claim["k"] and not sample:
            raise Refused("a class is smaller than k")
        for own in classes.values():
            for limit in limits:
                place = sensitive[limit["column"]]
                counts = Counter(row[place] for row in own if row[place] != "")
                if not counts:
                    continue
                check_class(limit, counts, tables[limit["column"]], extremes[limit["column"]])
    found = {
        "rows": len(rows), "sets": len(sets),
        "classes": len({tuple(row[i] for i, _ in quasi) for row in rows}), "smallest_class": smallest,
    }
    shown = []
    for limit in limits:
        own, name = {"column": limit["column"]}, limit["column"]
        if extremes[name].confidence is not None:
            own["highest_confidence"] = exactly_up(extremes[name].confidence)
        if extremes[name].diversity is not None:
            own["least_diversity"] = down(extremes[name].diversity)
        if extremes[name].distance is not None:
            own["largest_distance"] = up(extremes[name].distance)
        shown.append(own)
    return found, shown


def compare_recount(found, shown, certificate):
    recount = certificate["counted"]["recount"]
    if any(recount[key] != own for key, own in found.items()) or recount.get("sensitive", []) != shown:
        raise Refused("the numbers under `recount` are not those of the data")
    if ("catalog" in recount) != ("catalog" in certificate["attested"].get("synthetic", {})):
        raise Refused("a recount of a catalog that is not there, or none of one that is")


def nearly_unique(rows, columns, claim):
    """Columns outside every requirement in which more than half of the values occur once."""
    limited = {own["column"] for own in claim["sensitive"]}
    found = []
    for i, c in enumerate(columns):
        if c["role"] == "quasi" or c["name"] in limited:
            continue
        counts = Counter(row[i] for row in rows if row[i] != "")
        if sum(1 for n in counts.values() if n == 1) > sum(counts.values()) // 2:
            found.append(c["name"])
    return found


MARKS = {*map(chr, range(0x300, 0x346)), "\u3099", "\u309a"}


def taken_apart(c):
    """A character as a letter and its marks, and a full-width one as the usual one."""
    c = chr(ord(c) - 0xFEE0) if "\uff01" <= c <= "\uff5e" else c
    apart = unicodedata.normalize("NFD", c)
    is_syllable = "\uac00" <= c <= "\ud7a3"
    return apart if is_syllable or (len(apart) > 1 and set(apart[1:]) <= MARKS) else c


def look(value):
    """A value as somebody sees it who reads over it."""
    return "".join(taken_apart(c) for c in value if not c.isspace() and not is_hidden(c)).lower()


def look_alike(rows, columns, claim):
    """Limited columns with different values that look the same, or like nothing."""
    limited = {own["column"] for own in claim["sensitive"]}
    found = []
    for i, c in enumerate(columns):
        listed = (value for own in claim["sensitive"] if own["column"] == c["name"] for value in own.get("values", []))
        values = {*(row[i] for row in rows if row[i] != ""), *listed}
        looks = {look(value) for value in values} - {""}
        if c["name"] in limited and len(looks) < len(values):
            found.append(c["name"])
    return found


def plainest(rows, delimiter):
    """The plainest text of some cells."""

    def cell(value):
        if any(c in value for c in (delimiter, '"', "\n", "\r")):
            return '"' + value.replace('"', '""') + '"'
        return value

    lines = [delimiter.join(map(cell, row)) or '""' for row in rows]
    return "".join(line + "\n" for line in lines).encode()


def as_written(files, header, rows, certificate):
    """Whether the tables are the plainest text of their cells. (What Parquet and gzip may hold is not looked at here.)"""
    if "data.csv" in files and files["data.csv"] != plainest([header, *rows], certificate["counted"]["text"]["delimiter"]):
        return False
    for name in {"hierarchy.csv", "catalog.csv"} & set(files):
        lines = list(csv.reader(io.StringIO(files[name].decode("utf-8", "replace"), newline="")))
        if name == "catalog.csv":
            lines[1:] = sorted(([" ".join(str(int(n)) for n in own.split(" ")), value, str(int(number))]
                                for own, value, number in lines[1:]),
                               key=lambda line: ([int(n) for n in line[0].split(" ")], line[1].encode()))
        if files[name] != plainest(lines, ","):
            return False
    return True


# --- The signature (SSHSIG, ed25519: RFC 8032) -------------------------------------------------------------------------

P = 2**255 - 19
Q = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT = pow(2, (P - 1) // 4, P)


def recover_x(y, sign):
    if y >= P:
        return None
    x2 = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    if x2 == 0:
        return None if sign else 0
    x = pow(x2, (P + 3) // 8, P)
    if (x * x - x2) % P:
        x = x * ROOT % P
    if (x * x - x2) % P:
        return None
    return P - x if x & 1 != sign else x


def point(data):
    y = int.from_bytes(data, "little")
    x = recover_x(y & ((1 << 255) - 1), y >> 255)
    y &= (1 << 255) - 1
    return None if x is None else (x, y, 1, x * y % P)


def add(a, b):
    e, f = (a[1] - a[0]) * (b[1] - b[0]) % P, (a[1] + a[0]) * (b[1] + b[0]) % P
    g, h = 2 * a[3] * b[3] * D % P, 2 * a[2] * b[2] % P
    i, j, k, m = f - e, h - g, h + g, f + e
    return (i * j % P, k * m % P, j * k % P, i * m % P)


def times(n, p):
    found = (0, 1, 1, 0)
    while n:
        if n & 1:
            found = add(found, p)
        p, n = add(p, p), n >> 1
    return found


BASE_Y = 4 * pow(5, P - 2, P) % P
BASE = (recover_x(BASE_Y, 0), BASE_Y, 1, recover_x(BASE_Y, 0) * BASE_Y % P)


def is_signed(key, message, signature):
    a, r = point(key), point(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= Q:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % Q
    left, right = times(s, BASE), add(r, times(h, a))
    return not (left[0] * right[2] - right[0] * left[2]) % P and not (left[1] * right[2] - right[1] * left[2]) % P


def strings(data, number):
    """So many strings of the SSH wire format, and what is behind them."""
    found = []
    for _ in range(number):
        if len(data) < 4:
            raise Refused("the signature is cut short")
        (length,) = struct.unpack(">I", data[:4])
        if len(data) < 4 + length:
            raise Refused("the signature is cut short")
        found.append(data[4:4 + length])
        data = data[4 + length:]
    return found, data


def signer(release, certificate):
    """The public key that signed the certificate; nothing if it is unsigned."""
    path = os.path.join(release, "certificate.json.sig")
    if not os.path.lexists(path):
        return None
    if not is_plain_file(path):
        raise Refused("the signature is not a plain file")
    with open(path, "rb") as own:
        armor = own.read(1 << 16)
    found = re.fullmatch(rb"-----BEGIN SSH SIGNATURE-----\r?\n([A-Za-z0-9+/=\r\n]+?)\r?\n-----END SSH SIGNATURE-----\r?\n?", armor)
    if not found:
        raise Refused("not a signature")
    try:
        blob = base64.b64decode(b"".join(found[1].split()), validate=True)
    except ValueError:
        raise Refused("not a signature") from None
    if blob[:6] != b"SSHSIG" or blob[6:10] != struct.pack(">I", 1):
        raise Refused("not a signature of version 1")
    (key, namespace, reserved, algorithm, signature), rest = strings(blob[10:], 5)
    (kind, public), more = strings(key, 2)
    (signed_by, bits), behind = strings(signature, 2)
    if rest or more or behind or namespace != b"kohort" or reserved or algorithm not in (b"sha512", b"sha256"):
        raise Refused("another kind of signature")
    if kind != b"ssh-ed25519" or signed_by != b"ssh-ed25519" or len(public) != 32 or len(bits) != 64:
        raise Refused("another kind of key")
    digest = hashlib.new(algorithm.decode(), certificate).digest()
    parts = [namespace, reserved, algorithm, digest]
    message = b"SSHSIG" + b"".join(struct.pack(">I", len(part)) + part for part in parts)
    if not is_signed(public, message, bits):
        raise Refused("the signature is not of this certificate")
    return public


# --- All of it -------------------------------------------------------------------------------------------------------


def verify(folder):
    """The result, and why."""
    inner = os.path.join(folder, "release")
    release = inner if os.path.isfile(os.path.join(inner, "certificate.json")) else folder
    path = os.path.join(release, "certificate.json")
    if not os.path.isfile(path):
        raise NotARelease("no certificate")
    with open(path, "rb") as own:
        data = own.read(LARGEST_CERTIFICATE + 1)
    if len(data) > LARGEST_CERTIFICATE:
        raise NotARelease("the certificate is too large")
    certificate = read_certificate(data)
    by = signer(release, data)
    attested = certificate["attested"]
    if attested["method"] not in METHODS:
        raise Refused("an unknown method")
    check_listed(release, certificate)
    files = read_files(release, certificate)
    check_hashes(files, certificate)
    header, rows = read_table(files, certificate)
    check_columns(header, certificate)
    check_rows(header, rows, certificate)
    (listed,) = [f["rows"] for f in certificate["counted"]["files"] if "rows" in f]
    if listed != len(rows):
        raise Refused("another number of rows")
    check_details(rows, certificate["counted"]["columns"])
    check_hierarchy(files, rows, certificate["counted"]["columns"])
    found, shown = count(rows, certificate)
    compare_recount(found, shown, certificate)
    unique = nearly_unique(rows, certificate["counted"]["columns"], certificate["counted"]["claim"])
    if attested["unit"] == "patient" or "sample" in attested or "synthetic" in attested:
        return PARTLY, "k or a limit is only attested", by
    if not as_written(files, header, rows, certificate):
        return PARTLY, "the data may hold more than its cells", by
    if look_alike(rows, certificate["counted"]["columns"], certificate["counted"]["claim"]):
        return PARTLY, "values that look alike count as different", by
    if unique:
        return PARTLY, "a column outside every requirement is nearly unique", by
    return VERIFIED, "everything that is claimed was counted", by


def result(folder):
    """The exit code, the reason, and the key that signed."""
    try:
        return verify(folder)
    except Refused as error:
        return REFUSED, str(error), None
    except NotARelease as error:
        return NOT_A_RELEASE, str(error), None


if __name__ == "__main__":
    sys.setrecursionlimit(2000)
    try:
        code, why, _ = result(sys.argv[1])
    except NotRead as error:
        sys.exit(f"not read: {error}")
    print({VERIFIED: "verified", PARTLY: "partly", REFUSED: "refused", NOT_A_RELEASE: "not a release"}[code] + ": " + why)
    sys.exit(code)
