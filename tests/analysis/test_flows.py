"""Reassignments joined, counted and followed, held against a walk over the items."""

import pandas as pd
import pytest

import ledgerframes as lf

COLUMNS = [
    "unassign_id", "contract_id", "template_name", "source_synchronizer", "target_synchronizer",
    "reassignment_counter", "unassigned_at", "assigned_at", "in_flight", "status", "edge",
]  # fmt: skip

NAMED = ("began_before", "open_at_end")


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
        assert (in_micros(row.unassigned_at), in_micros(row.assigned_at), row.target_synchronizer) == (
            away,
            back,
            target,
        )
        if row.source_synchronizer == target:
            assert row.status == "repaired"
        elif away is None:
            assert row.status == "assigned without unassignment"
        else:
            assert row.status == ("in flight" if back is None else "completed")
        if row.status == "completed":
            assert in_micros(row.in_flight) == back - away
        assert (row.in_flight is pd.NaT) == (away is None or back is None)


@pytest.mark.parametrize("form", ["arrow", "polars"])
def test_flows_come_from_and_in_every_form(normal, form):
    frame = lf.load_reassignments(normal.net, start=(0, "0001-01-01"), as_=form)
    flows = lf.reassignment_flows(frame, as_=form)
    assert type(flows) is type(frame)
    assert len(flows) == len(lf.reassignment_flows(frame)) == len(lf.reassignment_flows(normal.history))


@pytest.mark.parametrize("table", [lf.flow_matrix, lf.contract_journeys])
def test_a_table_of_flows_also_comes_from_what_flows_are_made_of(normal, table, tmp_path):
    legs = normal.history.reassignments
    expected = table(lf.reassignment_flows(legs))
    lf.export({"events": normal.history.events, "reassignments": legs}, tmp_path)
    for given in (legs, normal.history, tmp_path, tmp_path / "reassignments.parquet"):
        pd.testing.assert_frame_equal(table(given), expected)


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
    counted = {name: {"rows": sum(flows.edge == end)} for name, end in zip(NAMED, ("start", "end"), strict=True)}
    assert flows.attrs["edges"] == counted
    found = lf.reassignment_anomalies(legs)
    assert set(found.contract_id[found.anomaly != "repaired"]) <= set(never.get_level_values("contract_id"))


def test_a_leg_that_the_range_must_hold_is_missing_inside_of_it(normal):
    legs = normal.history.reassignments.copy()
    legs.attrs["from_beginning"] = False
    legs["place"] = legs.target_synchronizer.where(legs.kind == "assignment", legs.source_synchronizer)
    own = legs.groupby(["migration_id", "contract_id", "place"]).reassignment_counter
    within = (own.transform("min") < legs.reassignment_counter) & (legs.reassignment_counter < own.transform("max"))
    lost = legs[within & (legs.kind == "unassignment") & (legs.source_synchronizer != legs.target_synchronizer)].iloc[0]

    def found(rows):
        flows = lf.reassignment_flows(rows)
        (edge,) = flows.edge[(flows.unassign_id == lost.unassign_id) & flows.unassigned_at.isna()]
        anomalies = lf.reassignment_anomalies(rows)
        listed = anomalies.unassign_id[anomalies.anomaly == "assigned without unassignment"]
        return edge, lost.unassign_id in set(listed)

    # The contract came to that synchronizer in this range, and left it again.
    rest = legs[legs.update_id != lost.update_id]
    nothing, listed = found(rest)
    assert nothing is pd.NA or nothing != nothing
    assert listed
    around = (rest.contract_id == lost.contract_id) & (rest.place == lost.place)
    assert found(rest[~(around & (rest.reassignment_counter < lost.reassignment_counter))]) == ("start", False)
    assert found(rest[~(around & (rest.reassignment_counter > lost.reassignment_counter))]) == ("end", False)


def test_a_key_that_occurs_twice_loses_nothing(normal):
    legs = normal.history.reassignments
    twice = pd.concat([legs, legs.assign(update_id=legs.update_id + "2")], ignore_index=True)
    assert len(lf.reassignment_flows(twice)) == 2 * len(lf.reassignment_flows(legs))


@pytest.mark.parametrize("table", [lf.reassignment_flows, lf.reassignment_anomalies, lf.flow_matrix])
def test_legs_of_ranges_that_overlap_are_refused_until_each_is_there_once(normal, table):
    legs = normal.history.reassignments
    joined = pd.concat([legs.head(20), legs.iloc[10:]], ignore_index=True)

    with pytest.raises(lf.errors.InputError, match=r"twice.*reassignments\.drop_duplicates\(\['update_id'\]\)"):
        table(joined)
    assert len(table(joined.drop_duplicates(["update_id"]))) == len(table(legs.iloc[:]))


@pytest.mark.parametrize("table", [lf.reassignment_flows, lf.reassignment_anomalies, lf.flow_matrix])
def test_legs_that_a_condition_chose_are_refused(table, tmp_path):
    lake = lf.open_store(tmp_path / "lake")
    with lf.sandbox(updates=60) as net:
        lake.sync(net, progress=False)

    with pytest.raises(lf.errors.PartialResultError, match="reassignments holds only those of where="):
        table(lake.load("reassignments", where={"kind": "assignment"}))


@pytest.mark.parametrize("rows", [0, 1])
def test_an_empty_frame_and_a_single_half(normal, rows):
    flows = lf.reassignment_flows(normal.history.reassignments.head(rows))
    assert len(flows) == rows
    assert list(flows.columns) == COLUMNS
    assert flows.dtypes.equals(lf.reassignment_flows(normal.history.reassignments).dtypes)
    assert len(lf.flow_matrix(flows)) == rows
    assert len(lf.contract_journeys(flows)) == rows
    assert len(lf.reassignment_anomalies(normal.history.reassignments.head(0))) == 0


@pytest.mark.long(quick=2)
def test_the_matrix_counts_every_flow_once(served):
    flows = lf.reassignment_flows(served.history.reassignments)
    matrix = lf.flow_matrix(flows)
    assert matrix["count"].sum() == len(flows)
    assert matrix.in_flight.sum() == (flows.status == "in flight").sum()
    for row in matrix.itertuples():
        own = flows[(flows.source_synchronizer == row.source_synchronizer)
                    & (flows.target_synchronizer == row.target_synchronizer)]  # fmt: skip
        assert (row.count, row.contracts) == (len(own), own.contract_id.nunique())
    if len(flows) and flows.unassigned_at.fillna(flows.assigned_at).dt.year.between(1700, 2200).all():
        assert lf.flow_matrix(flows, period="1h")["count"].sum() == len(flows)


def test_a_journey_is_the_contracts_path(normal):
    flows = lf.reassignment_flows(normal.history.reassignments)
    journeys = lf.contract_journeys(flows).set_index("contract_id")
    assert journeys.reassignments.sum() == len(flows)
    longest = journeys.sort_values("reassignments").iloc[-1]
    own = flows[flows.contract_id == longest.name].sort_values("reassignment_counter")
    assert longest.path == (own.source_synchronizer.iloc[0], *own.target_synchronizer)
    assert longest.gaps == 0


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
def test_a_journey_shows_a_missing_step_and_invents_none(normal, steps, path):
    flow = lf.reassignment_flows(normal.history.reassignments).head(1)
    names = ["source_synchronizer", "target_synchronizer", "reassignment_counter"]
    rows = pd.concat([flow.assign(**dict(zip(names, step, strict=True))) for step in steps], ignore_index=True)
    assert lf.contract_journeys(rows).path.tolist() == [path]


@pytest.mark.parametrize(
    ("kind", "change", "anomaly"),
    [
        ("assignment", {"target_synchronizer": "elsewhere::12"}, "target differs"),
        ("assignment", {"reassignment_counter": 77}, "counter differs"),
        ("assignment", {"contract_id": "00ff"}, "contract differs"),
        ("unassignment", {"unassign_id": "unheard"}, "assigned without unassignment"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_half_that_does_not_fit_is_found(normal, kind, change, anomaly):
    halves = normal.history.reassignments.copy()
    flows = lf.reassignment_flows(halves)
    unassign_id = flows[flows.status == "completed"].unassign_id.iloc[3]
    place = halves.index[(halves.unassign_id == unassign_id) & (halves.kind == kind)][0]
    before = set(map(tuple, lf.reassignment_anomalies(halves)[["anomaly", "update_id"]].to_numpy()))
    for name, value in change.items():
        halves.loc[place, name] = value
    found = set(map(tuple, lf.reassignment_anomalies(halves)[["anomaly", "update_id"]].to_numpy()))
    assert anomaly in {name for name, _ in found - before}


def test_a_counter_that_stands_still_is_found(normal):
    halves = normal.history.reassignments
    away = halves[halves.kind == "unassignment"].head(1)
    again = away.assign(record_time=away.record_time + pd.Timedelta("1s"), update_id="later", unassign_id="later")
    found = lf.reassignment_anomalies(pd.concat([halves, again], ignore_index=True))
    assert found[found.anomaly == "counter not increasing"].update_id.tolist() == ["later"]


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


@pytest.mark.parametrize(
    "spoil",
    [lambda times: times.dt.tz_localize(None), lambda times: times.astype(str)],
    ids=["without a zone", "as text"],
)
def test_times_that_do_not_say_their_zone_are_refused(normal, spoil):
    frame = normal.history.reassignments
    spoilt = frame.assign(record_time=spoil(frame.record_time))
    with pytest.raises(lf.errors.InputError, match=r"'record_time' .* not times with a zone"):
        lf.reassignment_flows(spoilt)
