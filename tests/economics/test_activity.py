"""`lf.active_parties`, `lf.template_activity` and `lf.validator_liveness`: who is active."""

import json

import pandas as pd
import pytest

import ledgerframes as lf
from tests.economics.histories import DSO, WHOLE, archive, create, exercise, frame_of, opening_of, update

LICENSE = "Splice.ValidatorLicense:ValidatorLicense"
LIVENESS = "Splice.ValidatorLicense:ValidatorLivenessActivityRecord"
FAUCET = "Splice.ValidatorLicense:ValidatorFaucetCoupon"
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


def test_an_interval_of_a_day_begins_at_midnight():
    assert lf.active_parties(EVENTS).time.tolist() == [pd.Timestamp("2026-01-01", tz="UTC")]
    assert lf.template_activity(EVENTS).time.unique().tolist() == [pd.Timestamp("2026-01-01", tz="UTC")]


def test_activity_is_counted_by_choice():
    rows = lf.template_activity(EVENTS, every="1min").to_dict("records")

    columns = ("template_name", "choice", "creates", "exercises", "archives", "parties")
    plain = [row | {"choice": None if pd.isna(row["choice"]) else row["choice"]} for row in rows]
    assert [(row["time"].minute, *(row[name] for name in columns)) for row in plain] == [
        (0, "A:A", "Go", 0, 1, 1, 1), (0, "A:A", "Look", 0, 1, 0, 1), (0, "A:A", None, 1, 0, 0, 2),
        (0, "B:B", None, 1, 0, 0, 1), (3, "B:B", "Look", 0, 1, 0, 1),
    ]  # fmt: skip


def test_an_event_of_an_unknown_kind_is_counted():
    odd = EVENTS.copy()
    odd.loc[0, "event_type"] = "divulged_event"

    found = lf.template_activity(odd, every="1min")

    assert found.attrs["not_understood"] == {"divulged_event": 1}
    assert found.creates.sum() == 1


def test_in_a_made_up_history_the_counts_are_those_of_a_plain_count(net):
    events = lf.load_events(net, start="begin", progress=False)
    activity, parties = lf.template_activity(events, every="5min"), lf.active_parties(events, every="5min")

    assert activity.creates.sum() == (events.event_type == "created_event").sum()
    assert activity.exercises.sum() == events.choice.notna().sum()
    assert activity.archives.sum() == events.consuming.fillna(value=False).sum()
    named = events.assign(time=events.record_time.dt.floor("5min"))
    for row in parties.itertuples():
        own = named[named.time == row.time]
        seen = {
            party
            for name in ("acting_parties", "signatories", "observers")
            for cell in own[name].dropna()
            for party in cell
        }
        assert row.parties == len(seen)
        assert row.acting == len({party for cell in own.acting_parties.dropna() for party in cell})
    everybody = {
        p for name in ("acting_parties", "signatories", "observers") for cell in events[name].dropna() for p in cell
    }
    assert parties.new.sum() == len(everybody)


def licensed(validator, first=None, last=None, missed=0, version="0.5.0"):
    state = None
    if first is not None:
        state = {
            "firstReceivedFor": {"number": str(first)},
            "lastReceivedFor": {"number": str(last)},
            "numCouponsMissed": str(missed),
        }
    return {
        "validator": validator, "sponsor": "sv-1", "dso": "DSO", "faucetState": state, "lastActiveAt": None,
        "metadata": None if version is None else {"version": version, "contactPoint": "me@example.com"},
    }  # fmt: skip


def test_the_latest_license_of_a_validator_counts():
    """From 3 to 10 are 8 rounds, of which 2 were missed; the latest round of all is 12."""
    anew = create(LICENSE, "2", licensed("val", 3, 10, 2, "0.5.1"))
    events = frame_of([
        update("a", 1, create(LICENSE, "1", licensed("val", 3, 5)), create(LICENSE, "s", licensed("z", version=None))),
        update("b", 2, archive(LICENSE, "1", "ValidatorLicense_UpdateMetadata", {}, {}, anew)),
        update("c", 3, create("Splice.Round:OpenMiningRound", "r", {"round": {"number": "12"}})),
    ])  # fmt: skip

    found = lf.validator_liveness(events, opening="nothing")
    assert "example.com" not in found.to_csv()
    row, silent = sorted(found.to_dict("records"), key=lambda row: row["validator"])
    assert silent["sponsor"] == "sv-1"
    names = ("first_round", "last_round", "collected", "missed", "silent_for", "version")
    assert all(pd.isna(silent[name]) for name in names)

    assert row == {
        "validator": "val", "sponsor": "sv-1", "first_round": 3, "last_round": 10, "collected": 6, "missed": 2,
        "silent_for": 2, "version": "0.5.1",
    }  # fmt: skip


@pytest.mark.parametrize("template", [LIVENESS, FAUCET], ids=["record", "coupon"])
def test_a_validator_without_a_license_is_known_by_its_records(template):
    record = create(template, "r", {"validator": "val", "round": {"number": "8"}})
    older = create(template, "o", {"validator": "val", "round": {"number": "7"}})
    events = frame_of(
        [
            update("a", 1, record, older),
            update("b", 2, create(template, "x", {"validator": "new", "round": {"number": "11"}})),
        ]
    )

    rows = lf.validator_liveness(events, opening="nothing").set_index("validator")

    assert rows.last_round.to_dict() == {"new": 11, "val": 8}
    assert rows.silent_for.to_dict() == {"new": 0, "val": 3}
    assert rows[["sponsor", "first_round", "collected"]].isna().all(axis=None)

    known = lf.validator_liveness(events, opening=opening_of([("l", LICENSE, licensed("val", 2, 6, 1))])).set_index(
        "validator"
    )
    assert known.loc["val", ["first_round", "last_round", "collected"]].tolist() == [2, 8, 6]


@pytest.mark.parametrize("choice", ["ValidatorLicense_Cancel", "ValidatorLicense_Withdraw"])
def test_a_license_that_ended_for_good_is_counted(choice):
    events = frame_of([
        update("a", 1, create(LICENSE, "1", licensed("val", 3, 5))), update("b", 2, archive(LICENSE, "1", choice)),
    ])  # fmt: skip

    found = lf.validator_liveness(events, opening="nothing")

    assert found.empty
    assert found.attrs["ended"] == 1


def test_in_a_made_up_history_liveness_is_that_of_the_licenses(net, exact_history):
    rows = lf.validator_liveness(exact_history).set_index("validator")
    loaded = lf.load_licenses(net).set_index("validator")

    assert set(rows.index) == set(loaded.index)
    for name, column in (
        ("first_round", "first_round"),
        ("last_round", "last_round"),
        ("missed", "coupons_missed"),
        ("version", "version"),
    ):
        pd.testing.assert_series_equal(rows[name].sort_index(), loaded[column].sort_index(), check_names=False)


def test_in_a_range_those_that_were_there_before_it_are_listed_or_it_is_refused(net, exact_history):
    start = exact_history.updates["record_time"][1200].as_py()
    part = lf.load_history(net, start=start, progress=False)
    whole = lf.validator_liveness(exact_history)

    assert lf.validator_liveness(part, opening=lf.load_opening(net, at=start)).equals(whole)
    with pytest.raises(lf.errors.PartialResultError, match="opening="):
        lf.validator_liveness(part)


def test_a_validator_has_until_a_round_is_to_close():
    """Rounds 4 and 5 are open; 3 is to have closed by the last event, so its report is late and theirs are not."""
    rounds = [
        create("Splice.Round:OpenMiningRound", str(number), {"round": {"number": number}, "targetClosesAt": closes})
        for number, closes in (
            ("3", "2026-01-01T12:00:30Z"),
            ("4", "2026-01-01T12:10:00Z"),
            ("5", "2026-01-01T12:20:00Z"),
        )
    ]
    licenses = [
        create(LICENSE, name, licensed(name, 1, last)) for name, last in (("val", 3), ("ahead", 5), ("late", 1))
    ]

    events = frame_of([update("a", 1, *rounds, *licenses), update("b", 60, create("A:A", "1", {}))])

    rows = lf.validator_liveness(events, opening="nothing").set_index("validator")
    assert rows.silent_for.to_dict() == {"ahead": 0, "late": 2, "val": 0}


def test_who_is_new_in_a_range_depends_on_who_was_seen_before():
    assert lf.active_parties(EVENTS, every="1min").new.isna().all()
    assert lf.active_parties(EVENTS, every="1min", seen=["alice", DSO]).new.tolist() == [2, 0]
    whole = frame_of([], **WHOLE)
    assert lf.active_parties(whole).new.tolist() == []


def test_intervals_that_the_range_cuts_are_marked(net):
    times = lf.load_updates(net, start="begin").record_time
    cut = lf.load_events(net, start=times[700], end=times[1500], progress=False)
    whole = lf.load_events(net, start="begin", progress=False)

    for table in (lf.active_parties, lf.template_activity):
        marked = table(cut, every="5min").groupby("time").whole.all()
        assert marked.tolist() == [False, *[True] * (len(marked) - 2), False]
        marked = table(whole, every="5min").groupby("time").whole.all()
        assert marked.tolist() == [*[True] * (len(marked) - 1), False]
    assert lf.template_activity(EVENTS).whole.isna().all()
