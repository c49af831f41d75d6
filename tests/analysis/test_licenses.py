"""Licenses and supply over time, held against plain walks."""

import json
from decimal import Decimal
from urllib.request import urlopen

import pandas as pd
import pytest

import ledgerframes as lf


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


def test_a_store_is_read_like_the_frame_that_it_loads(tmp_path):
    store = lf.open_store(tmp_path / "lake")
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
