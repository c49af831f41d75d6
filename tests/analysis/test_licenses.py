"""Licenses, their growth and supply over time, held against plain walks; first rounds are dated by known rounds."""

import json
from decimal import Decimal
from urllib.request import urlopen

import pandas as pd
import pyarrow as pa
import pytest

import ledgerframes as lf
from tests.economics.histories import WHOLE, frame_of
from tests.economics.items import archive, create, update
from tests.replay import replay


def test_activity_names_those_never_active_first_and_then_the_silent(normal):
    licenses = lf.load_licenses(normal.net)
    never = sorted(licenses.validator[licenses.last_active_at.isna()])
    activity = lf.license_activity(licenses, within="10min")

    first, others = activity[: len(never)], activity[len(never) :]
    assert first.validator.tolist() == never != []
    assert first[["active", "silent_for"]].isna().all(axis=None)
    assert others.active.notna().all()
    assert others.silent_for.is_monotonic_decreasing
    assert set(activity.validator) == set(licenses.validator)
    last_active = licenses.set_index("validator").last_active_at
    assert others.silent_for.tolist() == [last_active.max() - last_active[name] for name in others.validator]
    with pytest.raises(lf.errors.InputError, match="within='soon'"):
        lf.license_activity(licenses, within="soon")


def test_each_sync_adds_what_every_registry_states_then(tmp_path):
    store, told = lf.open_store(tmp_path / "lake"), []
    with lf.sandbox(updates=60) as ledger:
        urls = ledger.sandbox.registry_urls
        with lf.connect(scan_url=ledger.sandbox.scan_url, registry_url=[*urls.values()]) as net:
            for _ in range(3):
                ledger.sandbox.advance(updates=100)
                store.sync(net, tables=["instruments"], progress=False)
                for admin, url in urls.items():
                    with urlopen(f"{url}/registry/metadata/v1/instruments") as answer:
                        told += [(admin, one["id"], one) for one in json.load(answer)["instruments"]]

    supply = lf.instrument_supply(store)

    wanted = sorted((admin, name, one["totalSupplyAsOf"], one["totalSupply"]) for admin, name, one in told)
    assert len({(admin, name) for admin, name, *_ in wanted}) == 2
    assert [*zip(supply.instrument_admin, supply.instrument_id, supply.time, supply.total_supply, strict=True)] == [
        (admin, name, pd.Timestamp(time), Decimal(amount)) for admin, name, time, amount in wanted
    ]
    steps = supply.groupby("instrument_admin").total_supply.apply(lambda amounts: [None, *amounts.diff().iloc[1:]])
    assert [*supply.change] == [one for each in steps for one in each]
    assert any(supply.change.fillna(0))
    assert {*store.load("instruments").source} == {*urls.values()}


def instruments(**columns):
    """Rows of instruments, whose amounts are given as text and their times as days of a month."""
    columns["total_supply"] = [Decimal(amount) for amount in columns["total_supply"]]
    times = pd.to_datetime([f"2026-01-0{day}" for day in columns.pop("days")], utc=True)
    return pd.DataFrame({"instrument_id": "USD", "symbol": "USD", "total_supply_as_of": times} | columns)


def test_issuers_can_choose_the_same_id():
    sources = [f"https://{name}" for name in ("a", "b", "c", "moved")]
    rows = instruments(
        instrument_admin=["a", "b", None, "a"], source=sources, total_supply=["1", "20", "300", "4"], days="1112"
    )
    supply = lf.instrument_supply(rows).replace({float("nan"): None})
    assert supply[["instrument_admin", "total_supply", "change"]].to_numpy().tolist() == [
        ["a", 1, None], ["a", 4, 3], ["b", 20, None], [None, 300, None],
    ]  # fmt: skip
    assert lf.plot.instrument_supply(rows[:2]).child_axes


def test_a_change_of_38_digits_loses_none():
    rows = instruments(total_supply=["1" + "0" * 27 + ".0000000001", *["0.0000000002"] * 2], days="321")
    changes = lf.instrument_supply(rows).change.tolist()
    assert changes == [None, Decimal(0), Decimal("9" * 27 + ".9999999999")]
    assert str(changes[1]) == "0"


def test_a_store_is_read_like_the_frame_that_it_loads(store):
    with lf.sandbox(updates=60) as net:
        store.sync(net, start="begin", progress=False)
        for _ in range(2):
            store.sync(net, tables=["licenses", "instruments"], progress=False)

    for function, table in {
        lf.license_activity: "licenses", lf.license_versions: "licenses", lf.instrument_supply: "instruments",
        lf.license_growth: "events", lf.template_catalogue: "events",
    }.items():  # fmt: skip
        pd.testing.assert_frame_equal(function(store), function(store.load(table, decimals="exact")))


def test_a_wrong_frame_is_refused(normal):
    for function in (lf.license_growth, lf.license_activity, lf.license_versions, lf.instrument_supply):
        with pytest.raises(lf.errors.InputError, match="no column"):
            function(normal.history.updates)
        with pytest.raises(lf.errors.InputError, match="not a frame"):
            function([])


LICENSE = "Splice.ValidatorLicense:ValidatorLicense"
TIMES = pd.to_datetime(["2026-01-01T00:00:00Z", "2026-01-01T10:00:00Z", "2026-01-03T00:00:00Z"]).as_unit("us")
ROUNDS = pd.DataFrame({"round": [10, 20, 40], "opens_at": TIMES})


def licenses(**first_rounds):
    """One license per validator, all made anew just now."""
    created_at, rounds = pd.Timestamp("2026-01-30T08:39:28Z"), pd.array([*first_rounds.values()], dtype="Int64")
    return pd.DataFrame({"validator": [*first_rounds], "created_at": created_at, "first_round": rounds})


def test_a_captured_page_grows_in_the_months_that_the_first_rounds_tell(captures):
    assert captures
    with replay() as server, lf.connect(scan_url=server.scan_url) as net:
        captured = lf.load_licenses(net)
    # Two of the rounds whose times the captures tell: between them one takes 615 s on average.
    anchors = pd.DataFrame({
        "round": [66_481, 81_325],
        "opens_at": pd.to_datetime(["2025-10-16T09:26:02.147047Z", "2026-01-30T08:49:18.316438Z"]).as_unit("us"),
    })  # fmt: skip

    growth = lf.license_growth(captured[captured.first_round >= 66_481], rounds=anchors, period="MS")

    assert growth.time.dt.strftime("%Y-%m").tolist() == ["2025-10", "2025-11", "2025-12", "2026-01"]
    assert growth.new.tolist() == [7, 8, 12, 30]
    assert growth.validators.tolist() == [7, 15, 27, 57]
    assert (growth.attrs["interpolated"], growth.attrs["period"]) == (57, "month")
    assert "interpolated linearly" in growth.attrs["basis"]
    with pytest.raises(lf.errors.InputError, match=r"2 known rounds, 66481 to .* 243 of 300 validators"):
        lf.license_growth(captured, rounds=anchors)


def test_a_first_round_between_known_ones_lies_on_the_line_between_them():
    growth = lf.license_growth(licenses(a=15, b=20, c=30, d=40), rounds=ROUNDS, period="h")

    new = growth[growth.new > 0].time.dt.strftime("%dT%H").tolist()
    assert new == ["01T05", "01T10", "02T05", "03T00"]
    assert growth.attrs["interpolated"] == 2


def test_a_validator_counts_once_and_one_that_never_received_is_left_out_and_counted():
    growth = lf.license_growth(licenses(a=10, b=None), rounds=ROUNDS)
    assert growth.validators.tolist() == [1]
    assert growth.attrs["never_received"] == 1

    rows = pd.concat([licenses(a=None, b=20), licenses(a=40, b=20)], ignore_index=True)  # of several snapshots
    assert lf.license_growth(rows.assign(loaded_at=TIMES[0]), rounds=ROUNDS).new.tolist() == [1, 0, 1]


def test_rounds_come_in_other_forms_and_any_order():
    shuffled = ROUNDS.sample(frac=1, random_state=2).reset_index(drop=True)

    for rounds in (shuffled, pa.Table.from_pandas(shuffled)):
        assert lf.license_growth(licenses(a=10, b=40), rounds=rounds).validators.iloc[-1] == 2
    assert lf.license_growth(licenses().head(0)).empty
    with pytest.raises(lf.errors.InputError, match="period='often'"):
        lf.license_growth(licenses(a=10), rounds=ROUNDS, period="often")


#: The first rounds of licenses, the known rounds, and what is said of them.
REFUSED = {
    "before": (
        {"a": 9, "b": 3, "c": 12},
        ROUNDS,
        "rounds has 3 known rounds, 10 to 40, and 2 of 3 validators .* 3 to 9",
    ),
    "not given": ({"a": 10, "b": 11}, None, r"rounds= is needed.* 2 validators"),
    "none": ({"a": 10}, ROUNDS.head(0), "no known round, and 1 of 1 validators"),
    "no times": ({"a": 10}, ROUNDS.drop(columns="opens_at"), "no column.*opens_at"),
    "no zone": ({"a": 10}, ROUNDS.assign(opens_at=ROUNDS.opens_at.dt.tz_localize(None)), "not times with a zone"),
    "backwards": ({"a": 10}, ROUNDS.assign(opens_at=TIMES[::-1]), "round 10 opens after"),
    "two times": ({"a": 10}, pd.concat([ROUNDS, ROUNDS.assign(opens_at=TIMES[0])]), "round 20 has two times"),
    "words": ({"a": 10}, ROUNDS.assign(round=["ten", "20", "40"]), "not a whole number"),
    "a list": ({"a": 10}, [1, 2], "rounds is list, not a frame"),
}


@pytest.mark.parametrize(("first_rounds", "rounds", "words"), REFUSED.values(), ids=REFUSED)
def test_rounds_that_cannot_date_the_licenses_are_refused(first_rounds, rounds, words):
    with pytest.raises(lf.errors.InputError, match=words):
        lf.license_growth(licenses(**first_rounds), rounds=rounds)


def licensed(contract, validator):
    return create(LICENSE, contract, {"validator": validator})


def test_a_license_made_anew_is_no_newcomer():
    events = frame_of([
        update("u1", 0, licensed("a1", "a")),
        update("u2", 5 * 3600, archive(LICENSE, "a1"), licensed("a2", "a"), licensed("b1", "b")),
        update("u3", 9 * 3600, licensed("c1", "c"), archive(LICENSE, "c1"), licensed("c2", "c")),
    ], **WHOLE)  # fmt: skip
    growth = lf.license_growth(events, period="h")

    assert growth[growth.new > 0][["new", "validators"]].to_numpy().tolist() == [[1, 1], [1, 2], [1, 3]]
    assert growth.time.iloc[-1] - growth.time.iloc[0] == pd.Timedelta(hours=9)


def test_a_history_without_the_first_licenses_is_refused(normal):
    anew = update("u2", 3600, archive(LICENSE, "before"), licensed("b2", "b"))
    with pytest.raises(lf.errors.InputError, match="1 of 2 validators have no first license here"):
        lf.license_growth(frame_of([update("u1", 0, licensed("a1", "a")), anew], **WHOLE))
    with pytest.raises(lf.errors.PartialResultError, match=r"does not begin at ledger begin.*rounds="):
        lf.license_growth(lf.load_events(normal.net, start=(1, "0001-01-01")))
    with pytest.raises(lf.errors.InputError, match="rounds= is for licenses"):
        lf.license_growth(normal.history.events, rounds=ROUNDS)


def test_versions_of_those_active_lately_leave_the_silent_out(normal):
    rows = lf.load_licenses(normal.net)
    latest = rows.last_active_at.max()
    rows = rows.assign(last_active_at=[latest - pd.Timedelta(days=day) for day in range(len(rows))])
    versions = lf.license_versions(rows, active_within="2d")

    assert versions.validators.sum() == 3
    assert versions.share.sum() == pytest.approx(1)
    assert lf.license_versions(rows, active_within="2d", now=latest + pd.Timedelta(days=9)).empty
    every = lf.license_versions(rows)
    assert every.validators.sum() == len(rows)
    assert every.share.sum() == pytest.approx(1)
    for wrong, words in (({"active_within": "lately"}, "active_within='lately'"), ({"now": latest}, "active_within=")):
        with pytest.raises(lf.errors.InputError, match=words):
            lf.license_versions(rows, **wrong)
