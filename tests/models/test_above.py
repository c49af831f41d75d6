"""What the model `above` finds over an event is what its parents say, in preorder or in any other order."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from ledgerframes.models.engine import Engine
from ledgerframes.models.inputs import inputs_of
from ledgerframes.tables.history import EVENTS

PAYS, CLAIMS, OTHER = "AmuletRules_Transfer", "SvRewardCoupon_ArchiveAsBeneficiary", "Look"


@st.composite
def updates(draw):
    """Two updates of exercises in preorder: for each a choice, and the number of the exercise above it."""
    found = []
    for _ in range(2):
        path, nodes = [], []
        for number in range(draw(st.integers(0, 10))):
            path = path[: draw(st.integers(0, len(path)))]
            nodes.append((draw(st.sampled_from([PAYS, CLAIMS, OTHER])), path[-1] if path else None, len(path)))
            path = [*path, number]
        found.append(nodes)
    return found


@given(updates(), st.randoms())
def test_what_is_above_is_what_the_parents_say(drawn, random):
    rows, want = [], set()
    for update, nodes in zip("uv", drawn, strict=True):
        for number, (choice, above, depth) in enumerate(nodes):
            rows.append({
                "migration_id": 0, "update_id": update, "event_id": f"{update}:{number}", "node_index": number,
                "depth": depth, "event_type": "exercised_event", "template_name": "M:T", "choice": choice,
            })  # fmt: skip
            place = above
            while place is not None and choice != OTHER:
                if nodes[place][0] != OTHER:
                    want.add((f"{update}:{number}", f"{update}:{place}"))
                place = nodes[place][1]
    random.shuffle(rows)
    schema = pa.schema([pa.field(field.name, field.type) for field in EVENTS.schema])
    events = pa.Table.from_pylist(rows, schema=schema)

    with Engine(inputs_of(events).gives) as engine:
        found = engine.rows("above").select(["event_id", "above_id"]).to_pylist()

    assert {(row["event_id"], row["above_id"]) for row in found} == want
    assert len(found) == len(want)
