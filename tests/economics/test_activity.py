"""`lf.active_parties`, `lf.template_activity` and `lf.validator_liveness`: who is active."""

import json
from collections import defaultdict

import pandas as pd
import pytest

import ledgerframes as lf
from tests.economics.histories import WHOLE, frame_of, known, opening_of
from tests.economics.items import DSO, archive, create, exercise, update

LICENSE = "Splice.ValidatorLicense:ValidatorLicense"
LIVENESS = "Splice.ValidatorLicense:ValidatorLivenessActivityRecord"
FAUCET, OPEN = "Splice.ValidatorLicense:ValidatorFaucetCoupon", "Splice.Round:OpenMiningRound"
NOON = pd.Timestamp("2026-01-01 12:00", tz="UTC")
EVENTS = frame_of([
    update("a", 1, create("A:A", "1", {}, signatories=["alice", "bob"])),
    update("b", 2, exercise("A:A", "1", "Look", {}, {}, acting=["alice", "alice"])),
    update("c", 59, archive("A:A", "1", "Go"), create("B:B", "2", {}, signatories=["carol"])),
    update("d", 180, exercise("B:B", "2", "Look", {}, {}, acting=["bob"])),
])  # fmt: skip


def test_parties_are_counted_once_per_interval():
    """The governing party archives; it acts in the first minute only."""
    rows = lf.active_parties(EVENTS, every="1min", seen=[]).to_dict("records")

    assert [row["time"] for row in rows] == [NOON, NOON + pd.Timedelta(minutes=3)]
    assert [(row["parties"], row["acting"], row["new"]) for row in rows] == [(4, 2, 4), (1, 1, 0)]
    assert json.loads(rows[0]["by_template"]) == {"A:A": 3, "B:B": 1}
    assert json.loads(rows[1]["by_template"]) == {"B:B": 1}


def test_activity_is_counted_by_choice():
    rows = lf.template_activity(EVENTS, every="1min")

    columns = ("template_name", "choice", "creates", "exercises", "archives", "parties")
    assert [(time.minute, *row) for time, *row in known(rows, "time", *columns)] == [
        (0, "A:A", "Go", 0, 1, 1, 1), (0, "A:A", "Look", 0, 1, 0, 1), (0, "A:A", None, 1, 0, 0, 2),
        (0, "B:B", None, 1, 0, 0, 1), (3, "B:B", "Look", 0, 1, 0, 1),
    ]  # fmt: skip

    assert lf.template_activity(EVENTS).time.unique().tolist() == [pd.Timestamp("2026-01-01", tz="UTC")]
    odd = EVENTS.copy()
    odd.loc[0, "event_type"] = "divulged_event"
    found = lf.template_activity(odd, every="1min")
    assert found.attrs["not_understood"] == {"divulged_event": 1}
    assert found.creates.sum() == 1


def test_in_a_simulated_history_the_counts_are_those_of_a_plain_count_and_cut_intervals_are_marked(net):
    events = lf.load_events(net, start="begin", progress=False)
    activity, parties = lf.template_activity(events, every="5min"), lf.active_parties(events, every="5min")

    assert activity.creates.sum() == (events.event_type == "created_event").sum()
    assert activity.exercises.sum() == events.choice.notna().sum()
    assert activity.archives.sum() == events.consuming.fillna(value=False).sum()
    seen, acting = defaultdict(set), defaultdict(set)
    for event in events.itertuples():
        time = event.record_time.floor("5min")
        for named in (event.acting_parties, event.signatories, event.observers):
            seen[time].update(named or ())
        acting[time].update(event.acting_parties or ())
    counted = {row.time: (row.parties, row.acting) for row in parties.itertuples()}
    assert counted == {time: (len(own), len(acting[time])) for time, own in seen.items()}
    assert parties.new.sum() == len(set().union(*seen.values()))

    times = events.record_time.drop_duplicates().iloc[[700, 1500]]
    part = lf.load_events(net, start=times.iloc[0], end=times.iloc[1], progress=False)
    for table, whole in ((lf.active_parties, parties), (lf.template_activity, activity)):
        marked = table(part, every="5min").groupby("time").whole.all()
        assert marked.tolist() == [False, *[True] * (len(marked) - 2), False]
        marked = whole.groupby("time").whole.all()
        assert marked.tolist() == [*[True] * (len(marked) - 1), False]
    assert lf.template_activity(EVENTS).whole.isna().all()


def licensed(validator, first=None, last=None, missed=0, version="0.5.0"):
    numbers = {"firstReceivedFor": {"number": str(first)}, "lastReceivedFor": {"number": str(last)}}
    state = None if first is None else numbers | {"numCouponsMissed": str(missed)}
    return {
        "validator": validator, "sponsor": "sv-1", "dso": "DSO", "faucetState": state, "lastActiveAt": None,
        "metadata": None if version is None else {"version": version, "contactPoint": "me@example.com"},
    }  # fmt: skip


def test_the_latest_license_of_a_validator_counts_and_one_that_ended_for_good_is_counted():
    """From 3 to 10 are 8 rounds, of which 2 were missed; the latest round of all is 12."""
    anew = create(LICENSE, "2", licensed("val", 3, 10, 2, "0.5.1"))
    ends = ("ValidatorLicense_Cancel", "ValidatorLicense_Withdraw")
    events = frame_of([
        update("a", 1, create(LICENSE, "1", licensed("val", 3, 5)), create(LICENSE, "s", licensed("z", version=None)),
               *(create(LICENSE, choice, licensed(choice, 3, 5)) for choice in ends)),
        update("b", 2, archive(LICENSE, "1", "ValidatorLicense_UpdateMetadata", {}, {}, anew),
               *(archive(LICENSE, choice, choice) for choice in ends)),
        update("c", 3, create(OPEN, "r", {"round": {"number": "12"}})),
    ])  # fmt: skip

    found = lf.validator_liveness(events, opening="nothing")

    assert "example.com" not in found.to_csv()
    columns = ("validator", "sponsor", "first_round", "last_round", "collected", "missed", "silent_for", "version")
    assert known(found.sort_values("validator"), *columns) == [
        ("val", "sv-1", 3, 10, 6, 2, 2, "0.5.1"), ("z", "sv-1", *[None] * 6),
    ]  # fmt: skip
    assert found.attrs["ended"] == 2


def test_a_validator_is_known_by_its_records_too():
    events = frame_of([
        update("a", 1, *(
            create(template, f"{template} {number}", {"validator": template, "round": {"number": number}})
            for template in (LIVENESS, FAUCET) for number in ("8", "7")
        )),
        update("b", 2, create(LIVENESS, "x", {"validator": "new", "round": {"number": "11"}})),
    ])  # fmt: skip
    opening = opening_of([("l", LICENSE, licensed(LIVENESS, 2, 6, 1))])

    without, licensed_ = (lf.validator_liveness(events, opening=one).set_index("validator")
                          for one in ("nothing", opening))  # fmt: skip

    assert without.last_round.to_dict() == {"new": 11, LIVENESS: 8, FAUCET: 8}
    assert without.silent_for.to_dict() == {"new": 0, LIVENESS: 3, FAUCET: 3}
    assert without[["sponsor", "first_round", "collected"]].isna().all(axis=None)
    assert licensed_.loc[LIVENESS, ["first_round", "last_round", "collected"]].tolist() == [2, 8, 6]


def test_in_a_simulated_history_liveness_is_that_of_the_licenses(net, exact_history):
    rows = lf.validator_liveness(exact_history).set_index("validator")
    loaded = lf.load_licenses(net).set_index("validator")

    assert set(rows.index) == set(loaded.index)
    for name in ("first_round", "last_round", "missed", "version"):
        column = loaded["coupons_missed" if name == "missed" else name]
        pd.testing.assert_series_equal(rows[name].sort_index(), column.sort_index(), check_names=False)


@pytest.mark.parametrize(("phase", "until"), [(OPEN, "00:30"), (OPEN.replace("Open", "Issuing"), "30:00")])
def test_a_validator_has_until_a_round_is_to_close(phase, until):
    """Rounds 4 and 5 are open; 3 is to have closed by the last event, so its report is late and theirs are not.
    A round that issues is closed to reports, whenever it is to stop issuing."""
    closes = {"3": (phase, until), "4": (OPEN, "10:00"), "5": (OPEN, "20:00")}
    rounds = [
        create(template, number, {"round": {"number": number}, "targetClosesAt": f"2026-01-01T12:{time}Z"})
        for number, (template, time) in closes.items()
    ]
    licenses = [
        create(LICENSE, name, licensed(name, 1, last)) for name, last in {"val": 3, "ahead": 5, "late": 1}.items()
    ]
    events = frame_of([update("a", 1, *rounds, *licenses), update("b", 60, create("A:A", "1", {}))])

    rows = lf.validator_liveness(events, opening="nothing").set_index("validator")
    assert rows.silent_for.to_dict() == {"ahead": 0, "late": 2, "val": 0}


def test_who_is_new_in_a_range_depends_on_who_was_seen_before():
    assert lf.active_parties(EVENTS, every="1min").new.isna().all()
    assert lf.active_parties(EVENTS, every="1min", seen=["alice", DSO]).new.tolist() == [2, 0]
    whole = frame_of([], **WHOLE)
    assert lf.active_parties(whole).new.tolist() == []
