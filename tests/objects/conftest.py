"""What tests of objects share: rows equal in any order of members, objects made by hand, a sandbox to be damaged."""

from __future__ import annotations

import json
from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pytest

from tests.rigs.servers import connected, replica

JSON_COLUMNS = ("payload", "exercise_result", "extra")


@pytest.fixture
def served(net):
    """Another server of `net`'s ledger, whose objects can be damaged."""
    with connected(replica(net.sandbox)) as other:
        yield other


def parsed(text):
    """JSON text as values, numbers exact."""
    return None if text is None or text is pd.NA else json.loads(text, parse_float=Decimal)


def values_of(table):
    """The rows of an Arrow table, JSON as values: two writers may put members in another order."""
    rows = table.replace_schema_metadata(None).to_pylist()
    for row in rows:
        for name in JSON_COLUMNS:
            if row.get(name) is not None:
                row[name] = parsed(row[name])
    return rows


def object_of(*frames):
    """An object of some frames, each the text of its lines."""
    return b"".join(pa.compress(frame, codec="zstd", asbytes=True) for frame in frames)
