"""What runs on an engine's workers, over batches of Arrow data. The native half of the package does the work: each
worker needs the package, and nothing that a driver decides afterwards depends on the engine's order or randomness.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Iterator
from typing import Any

from . import _kohort

#: The columns of a row's random key and of its part.
KEY, PART = "kohort_key", "kohort_part"

#: The bytes of a key.
KEY_BYTES = 16


def keyed(batches: Iterable[Any], parts: int) -> Iterator[Any]:
    """Give every row a random key from the operating system, whose last bytes choose its part."""
    import pyarrow as pa

    for batch in batches:
        table = pa.Table.from_batches([batch])
        drawn = os.urandom(KEY_BYTES * table.num_rows)
        for own in _kohort.add_keys(table.__arrow_c_stream__(), drawn, parts):
            yield from pa.table(own).to_batches()


def written(batches: Iterable[Any], names: list[str], counted: list[int], folder: str) -> Iterator[tuple[int, str, str]]:
    """Write the parts whose rows came to this worker, each in the order of its keys, and count and hash
    them from their bytes."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = list(batches)
    if not found:
        return
    # The columns by their places: the key, the part, a patient that is not written, and the released cells.
    table = pa.Table.from_batches(found)
    shown = [KEY, *(own for own in table.column_names if own not in (KEY, PART, "p"))]
    numbers = sorted(pc.unique(table.column(PART)).to_pylist())
    for number in numbers:
        own = table if len(numbers) == 1 else table.filter(pc.equal(table.column(PART), number))
        # A task that is repeated writes another file: only what it returns counts.
        path = os.path.join(folder, f"{uuid.uuid4().hex}.parquet")
        yield int(number), path, _kohort.write_part(own.select(shown).__arrow_c_stream__(), names, path, counted)


def patients(batches: Iterable[Any]) -> Iterator[str]:
    """Count patients by the set of what is released of them. All rows of a patient came to this worker."""
    import pyarrow as pa

    found = list(batches)
    if found:
        yield _kohort.count_patients(pa.Table.from_batches(found).__arrow_c_stream__())
