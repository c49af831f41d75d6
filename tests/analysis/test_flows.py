"""Reassignments joined, counted and followed, held against a walk over the items."""

import pandas as pd
import pyarrow as pa
import pytest

import ledgerframes as lf
from ledgerframes.frames import shape
from ledgerframes.tables.history import REASSIGNMENTS
from tests.economics.histories import WHOLE, known

COLUMNS = [
    "unassign_id", "contract_id", "template_name", "source_synchronizer", "target_synchronizer",
    "reassignment_counter", "unassigned_at", "assigned_at", "in_flight", "status", "edge",
]  # fmt: skip


def in_micros(value):
    return None if value is pd.NaT else value.asm8.view("i8")


@pytest.mark.long(quick=2)
def test_flows_agree_with_a_walk_over_the_items(served):
    flows = lf.reassignment_flows(served.history.reassignments)
    wanted = served.books.flows()
    assert list(flows.columns) == COLUMNS
    assert len(flows) == len(wanted)
    for row in flows.itertuples():
        unassign_id = row.unassign_id if isinstance(row.unassign_id, str) else None
        away, back, target = wanted[(row.source_synchronizer, unassign_id, row.contract_id, row.reassignment_counter)]
        found = (in_micros(row.unassigned_at), in_micros(row.assigned_at), row.target_synchronizer)
        assert found == (away, back, target)
        ended = "assigned without unassignment" if away is None else "in flight" if back is None else "completed"
        assert row.status == ("repaired" if row.source_synchronizer == target else ended)
        if row.status == "completed":
            assert in_micros(row.in_flight) == back - away
        assert (row.in_flight is pd.NaT) == (away is None or back is None)


def test_a_table_of_flows_also_comes_from_what_flows_are_made_of_in_every_form(normal, tmp_path):
    legs = normal.history.reassignments
    lf.export({"events": normal.history.events.head(1), "reassignments": legs}, tmp_path)
    given = [legs, normal.history, tmp_path, tmp_path / "reassignments.parquet"]
    for form in ("arrow", "polars"):
        given.append(lf.load_reassignments(normal.net, start=(0, "0001-01-01"), as_=form))
        assert type(lf.reassignment_flows(given[-1], as_=form)) is type(given[-1])
    for table in (lf.flow_matrix, lf.contract_journeys):
        expected = table(lf.reassignment_flows(legs))
        for one in given:
            pd.testing.assert_frame_equal(table(one), expected)


def test_a_leg_beyond_the_range_is_at_its_edge(normal):
    whole = lf.reassignment_flows(normal.history)
    assert whole.attrs["edges"]["began_before"] == {"rows": 0}
    # A contract that was on its way when the range began, and one that was when it ended.
    begun = whole.unassigned_at + (whole.assigned_at - whole.unassigned_at) / 2
    start, end = begun[whole.status == "completed"].sort_values().iloc[[20, 60]]
    legs = lf.load_reassignments(normal.net, start=start, end=end)
    flows = lf.reassignment_flows(legs)

    key = ["source_synchronizer", "unassign_id", "contract_id", "reassignment_counter"]
    never = pd.MultiIndex.from_frame(whole[key][whole.unassigned_at.isna()])
    lone = flows.unassigned_at.isna() & ~pd.MultiIndex.from_frame(flows[key]).isin(never)
    assert lone.any()
    assert (flows.edge[lone] == "start").all()
    assert (flows.edge[flows.status == "in flight"] == "end").all()
    assert flows.edge[flows.status == "completed"].isna().all()
    begun, still = ({"rows": sum(flows.edge == edge)} for edge in ("start", "end"))
    still["in_flight"] = sum(flows.status == "in flight")
    assert flows.attrs["edges"] == {"began_before": begun, "open_at_end": still}
    found = lf.reassignment_anomalies(legs)
    assert set(found.contract_id[found.anomaly != "repaired"]) <= set(never.get_level_values("contract_id"))


def test_legs_of_ranges_that_overlap_or_that_a_condition_chose_are_refused(normal, filled):
    legs = normal.history.reassignments
    joined = pd.concat([legs.head(20), legs.iloc[10:]], ignore_index=True)
    chosen = filled.load("reassignments", where={"kind": "assignment"})

    twice = legs.assign(update_id=legs.update_id + "2")  # each with its own update: such a key occurs twice
    assert len(lf.reassignment_flows(pd.concat([legs, twice]))) == 2 * len(lf.reassignment_flows(legs))
    for table in (lf.reassignment_flows, lf.reassignment_anomalies, lf.flow_matrix):
        with pytest.raises(lf.errors.InputError, match=r"twice.*reassignments\.drop_duplicates\(\['update_id'\]\)"):
            table(joined)
        assert len(table(joined.drop_duplicates(["update_id"]))) == len(table(legs.iloc[:]))
        with pytest.raises(lf.errors.PartialResultError, match="reassignments holds only those of where="):
            table(chosen)


def test_an_empty_frame_and_a_single_half(normal):
    legs = normal.history.reassignments
    for rows in (0, 1):
        flows = lf.reassignment_flows(legs.head(rows))
        assert len(flows) == len(lf.flow_matrix(flows)) == len(lf.contract_journeys(flows)) == rows
        assert list(flows.columns) == COLUMNS
        assert flows.dtypes.equals(lf.reassignment_flows(legs).dtypes)
    assert len(lf.reassignment_anomalies(legs.head(0))) == 0


@pytest.mark.long(quick=2)
def test_the_matrix_counts_every_flow_once(served):
    flows = lf.reassignment_flows(served.history.reassignments)
    matrix = lf.flow_matrix(flows)
    assert matrix["count"].sum() == lf.contract_journeys(flows).reassignments.sum() == len(flows)
    assert matrix.in_flight.sum() == (flows.status == "in flight").sum()
    for row in matrix.itertuples():
        own = flows[(flows.source_synchronizer == row.source_synchronizer)
                    & (flows.target_synchronizer == row.target_synchronizer)]  # fmt: skip
        assert (row.count, row.contracts) == (len(own), own.contract_id.nunique())
    if len(flows) and flows.unassigned_at.fillna(flows.assigned_at).dt.year.between(1700, 2200).all():
        assert lf.flow_matrix(flows, period="1h")["count"].sum() == len(flows)


def legs_of(*rows):
    """Legs of a whole history, a second apart: kind, unassign id, contract, counter, source and target."""
    names = ("kind", "unassign_id", "contract_id", "reassignment_counter", "source_synchronizer", "target_synchronizer")
    noon = pd.Timestamp("2026-01-01 12:00", tz="UTC")
    table = pa.Table.from_pylist(
        [
            dict(zip(names, row, strict=True))
            | {"migration_id": 0, "update_id": str(place), "record_time": noon + pd.Timedelta(seconds=place)}
            for place, row in enumerate(rows)
        ],
        pa.schema([pa.field(field.name, field.type) for field in REASSIGNMENTS.schema]),
    )
    frame = shape(table, REASSIGNMENTS)
    frame.attrs.update(WHOLE)
    return frame


#: They do not fit each other; arms of the models are reached by them too.
LEGS = [
    ("unassignment", "u1", "c", 5, "x", "y"), ("assignment", "u1", "other", 6, "x", "z"),
    ("unassignment", "u1", "c", 5, "x", "y"), ("assignment", "u1", "c", 5, "x", "y"),
    ("unassignment", "u2", "c", 4, "x", "y"), ("unassignment", "u3", "c", 9, "w", "y"),
    ("unassignment", "u4", "c", 9, "v", "y"), ("assignment", "u5", "d", 1, "x", "y"),
    ("unassignment", "u6", "e", 2, "x", "x"), ("assignment", "u6", "e", 2, "x", "x"),
]  # fmt: skip


def test_legs_that_do_not_fit_are_found():
    found = lf.reassignment_anomalies(legs_of(*LEGS))

    assert known(found, "update_id", "anomaly", "detail") == [
        ("1", "contract differs", "the unassignment says c"), ("1", "counter differs", "the unassignment says 5"),
        ("1", "target differs", "the unassignment says y"), ("2", "counter not increasing", "the one before was 5"),
        ("2", "unassigned twice", "the unassign id was used before"),
        ("3", "assigned twice", "the unassign id was assigned before"),
        ("4", "counter not increasing", "the one before was 5"),
        ("6", "counter not increasing", "another unassignment has the same"),
        ("7", "assigned without unassignment", "its unassignment is not in this range"),
        *((place, "repaired", "source and target are the same") for place in "89"),
    ]  # fmt: skip


def test_a_leg_that_the_range_must_hold_is_missing_inside_of_it():
    # The contract came to y and left it again; between them its unassignment from there is missing.
    steps = ((1, "x", "y"), (2, "y", "x"), (3, "x", "y"))
    legs = [("assignment", f"u{counter}", "c", counter, *between) for counter, *between in steps]

    for rows, edge in ((legs, None), (legs[1:], "start"), (legs[:2], "end")):
        part = legs_of(*rows)
        part.attrs["from_beginning"] = False
        flows, anomalies = lf.reassignment_flows(part), lf.reassignment_anomalies(part)
        assert known(flows[flows.unassign_id == "u2"], "edge") == [(edge,)]
        assert ("u2" in set(anomalies.unassign_id)) == (edge is None)


@pytest.mark.parametrize(
    ("steps", "path"),
    [
        ([("a", "b", 1), ("b", "c", 2)], ("a", "b", "c")),
        ([("a", "b", 1), ("c", "d", 3)], ("a", "b", None, "c", "d")),
        ([("a", "b", 1), ("b", "c", 3)], ("a", "b", None, "b", "c")),
        ([("b", "c", 4), ("a", "b", 1), ("c", "a", 5)], ("a", "b", None, "b", "c", "a")),
        ([("a", "b", 1), ("c", "d", 2)], ("a", "b", None, "c", "d")),
        ([("a", "a", 1)], ("a", "a")),
    ],
    ids=["whole", "one missing", "missing and back", "out of order", "no counter missing", "repaired"],
)
def test_a_journey_shows_a_missing_step_and_invents_none(steps, path):
    legs = legs_of(*(("assignment", f"u{counter}", "c", counter, *between) for *between, counter in steps))
    assert lf.contract_journeys(legs).path.tolist() == [path]


def test_a_wrong_frame_is_refused_with_what_is_missing(normal):
    with pytest.raises(lf.errors.InputError, match=r"unassign_id.*load_reassignments"):
        lf.reassignment_flows(normal.history.events)
    with pytest.raises(lf.errors.InputError, match="not a frame"):
        lf.reassignment_flows([1])
    with pytest.raises(lf.errors.InputError, match="reassignments has no column"):
        lf.flow_matrix(normal.history.updates)
    flows = lf.reassignment_flows(normal.history.reassignments)
    with pytest.raises(lf.errors.InputError, match="period='often'"):
        lf.flow_matrix(flows, period="often")
    legs = normal.history.reassignments
    for times in (legs.record_time.dt.tz_localize(None), legs.record_time.astype(str)):
        with pytest.raises(lf.errors.InputError, match=r"'record_time' .* not times with a zone"):
            lf.reassignment_flows(legs.assign(record_time=times))
