"""What tests of objects share: rows equal in any order of members, objects made by hand, a sandbox to be damaged."""

import pyarrow as pa
import pytest

from tests.rigs.servers import connected, replica
from tests.store.conftest import sorted_text

JSON_COLUMNS = ("payload", "exercise_result", "extra")


@pytest.fixture
def served(hour):
    """Another server of `hour`'s ledger, whose objects can be damaged."""
    with connected(replica(hour.sandbox)) as other:
        yield other


def values_of(table):
    """The rows of an Arrow table, JSON with sorted members: two writers may put them in another order."""
    rows = table.replace_schema_metadata(None).to_pylist()
    for row in rows:
        row |= {name: sorted_text(row[name]) for name in JSON_COLUMNS if row.get(name) is not None}
    return rows


def assert_same_rows(history, other):
    """Two histories as Arrow tables have the same rows."""
    for name in ("updates", "events", "reassignments"):
        assert values_of(getattr(history, name)) == values_of(getattr(other, name)), name


def object_of(*frames):
    """An object of some frames, each the text of its lines."""
    return b"".join(pa.compress(frame, codec="zstd", asbytes=True) for frame in frames)
