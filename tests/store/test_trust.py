"""Two servers, or a store and a server, held against each other; a store proved by its own files."""

import json

import pandas as pd
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

import ledgerframes as lf
from ledgerframes.loaders.normalized import first_difference
from tests.rigs.servers import replica, simulated
from tests.store.conftest import BEGIN, adopt


@pytest.fixture
def filled(store, net):
    store.sync(net)
    return store


def of(sandbox):
    return lf.connect(scan_url=sandbox.scan_url)


@pytest.mark.parametrize("world", [{"updates": 600}, {"updates": 300, "hostile": True}], ids=["normal", "hostile"])
def test_two_servers_of_one_ledger_agree(world):
    with simulated(**world) as net, replica(net.sandbox, page_maximum=70) as other:
        found = lf.cross_check(net, of(other), start=BEGIN)
        assert found.agree
        assert found.compared == world["updates"]
        assert found.beyond == ""
        assert bool(found)


def test_a_server_that_lags_is_compared_as_far_as_it_goes():
    with lf.sandbox(updates=600) as net, replica(net.sandbox, lag=100) as other:
        for pair in ((net, of(other)), (of(other), net)):
            found = lf.cross_check(*pair)
            assert found.agree
            assert 490 <= found.compared <= 500
            assert "more than the other" in found.beyond


CHANGES = {
    "a payload": (lambda item: _created(item)["create_arguments"].update(note="<script>"), "/events/"),
    "a time": (lambda item: item.update(effective_at="2020-01-01T00:00:00Z"), "/effective_at"),
    "a party": (lambda item: _created(item)["signatories"].append("x::12"), "/events/"),
}
SAME = {
    "an unknown member": lambda item: item.update(unheard=1),
    "a null": lambda item: item.update(external_transaction_hash=None),
    "an offset": lambda item: item.update(offset="77"),
    "another spelling of a time": lambda item: item.update(record_time=item["record_time"].replace("Z", "+00:00")),
    "the order of members": lambda item: _created(item).update(
        create_arguments=dict(reversed(_created(item)["create_arguments"].items()))
    ),
}


def _created(item):
    return next(event for event in item["events_by_id"].values() if event["event_type"] == "created_event")


def change(world, changing, rank=40):
    """Change one transaction with a create; gives its update as it was."""
    fit = [n for n, one in enumerate(world.updates) if b"create_arguments" in one.rendered and b"root_" in one.rendered]
    place = fit[rank]
    update = world.updates[place]
    item = json.loads(update.rendered)
    changing(item)
    world.updates[place] = update._replace(rendered=json.dumps(item).encode())
    return place, update


@pytest.mark.long(quick=1)
@pytest.mark.parametrize(("changing", "pointer"), CHANGES.values(), ids=CHANGES)
def test_a_change_is_found_and_pointed_at(store, changing, pointer):
    with lf.sandbox(updates=400) as net, lf.sandbox(updates=400) as other:
        store.sync(net)
        _, update = change(other.sandbox.world, changing)
        found = lf.cross_check(net, other)
        assert not found
        (difference,) = found.differences
        assert difference.update_id == update.update_id
        assert difference.what == "differs"
        assert difference.pointer.startswith(pointer)
        assert difference.pointer in str(found)
        assert "<script>" not in found._repr_html_()
        checked = store.verify(other, sample=None)
        assert [one.update_id for one in checked.differences] == [update.update_id]
        whole, sampled = (store.verify(net, sample=sample, end="2100-01-01") for sample in (None, 1))
        assert whole.agree
        assert sampled.agree
        # It names what it compared, not what it was asked for.
        assert "sample" not in str(whole)
        assert "in all 50 updates compared: 1 sample from" in str(sampled)
        assert all(f"the last update compared is from {one.up_to[1]}" in str(one) for one in (whole, sampled))


def test_what_honest_servers_differ_in_is_no_difference():
    with lf.sandbox(updates=200) as net, lf.sandbox(updates=200) as other:
        for rank, changing in enumerate(SAME.values(), 5):
            change(other.sandbox.world, changing, rank)
        assert lf.cross_check(net, other).agree


@pytest.mark.long
def test_an_update_that_one_side_lacks_is_found(filled):
    with lf.sandbox(seed=7, updates=2000) as other, lf.sandbox(seed=7, updates=2000) as whole:
        gone = other.sandbox.world.updates.pop(300)
        found = filled.verify(other, sample=None)
        assert [(one.update_id, one.what) for one in found.differences] == [(gone.update_id, "only in a")]
        found = lf.cross_check(other, whole)
        assert [(one.update_id, one.what) for one in found.differences] == [(gone.update_id, "only in b")]


def test_however_many_updates_are_read_at_once_all_are_compared(parted, small, monkeypatch):
    filled, net = parted, small
    monkeypatch.setattr("ledgerframes.store.checks.verify._TOGETHER", 7)
    found = filled.verify(net, sample=None, start="2025-03-03T09:10:00Z", end="2025-03-03T09:40:00Z")
    wanted = filled.load("updates", start="2025-03-03T09:10:00Z", end="2025-03-03T09:40:00Z")
    assert found.agree
    assert found.compared == len(wanted) > 30


@pytest.mark.long
def test_a_sample_is_drawn_again_by_its_seed(filled, net):
    first = filled.verify(net, sample=5, seed=3)
    again = filled.verify(net, sample=5, seed=3)
    assert first.agree
    assert 0 < first.compared == again.compared < 2000
    places = [filled.verify(net, sample=1, seed=seed).up_to for seed in range(3)]
    assert len(set(places)) > 1
    reached = [filled.verify(net, sample=number, seed=3).up_to for number in range(1, 9)]
    assert reached == sorted(reached)
    with pytest.raises(lf.errors.InputError, match="sample=0"):
        filled.verify(net, sample=0)


def test_an_update_in_several_samples_is_counted_once(store, net):
    store.sync(net, end=(0, "2025-03-03T09:20:00Z"))
    stored = len(store.load("updates", columns=["update_id"]))
    for sample in (1, 5, 20, 100):
        assert 0 < store.verify(net, sample=sample).compared <= stored


def test_pointers_name_the_first_difference():
    assert first_difference({"a": [1, {"b/c": 2}]}, {"a": [1, {"b/c": 3}]}) == ("/a/1/b~1c", 2, 3)
    assert first_difference({"a": 1}, {"a": 1}) is None
    assert first_difference({"a": 1}, {}) == ("/a", 1, None)
    assert first_difference([1], [1, 2])[0] == "/"


def test_a_sound_store_is_sound(copied, small):
    copied.sync(small, tables=["licenses"])
    found = copied.check()
    assert found
    assert found.findings == ()
    assert found.rows["updates"] == 240
    assert "is sound" in str(found)
    assert json.loads(found.to_json())["sound"] is True


def spoil(store, name, changed):
    """Write a table's rows anew, changed, its coverage kept."""
    table = store._lake.table(name).refresh()
    rows = changed(table.handle.to_pyarrow_dataset().to_table())
    write_deltalake(DeltaTable(table.url), rows, mode="overwrite")
    adopt(store)


def altered(rows, name, value):
    column = rows[name].to_pylist()
    column[5] = value(column[5])
    return rows.set_column(rows.column_names.index(name), rows.schema.field(name), pa.array(column, rows[name].type))


HARMS = {
    "an update twice": ("updates", lambda rows: pa.concat_tables([rows, rows.slice(7, 1)]), "updates: the key"),
    "an event twice": ("events", lambda rows: pa.concat_tables([rows, rows.slice(7, 1)]), "events: the key"),
    "an event gone": ("events", lambda rows: rows.slice(1), "number of events"),
    "an update gone": ("updates", lambda rows: rows.slice(1), "their update is missing"),
    "a half gone": ("reassignments", lambda rows: rows.slice(1), "row is missing"),
    "another month": ("updates", lambda rows: altered(rows, "record_month", lambda _: "2025-02"), "record_month"),
    "a counter": (
        "reassignments", lambda rows: altered(rows, "reassignment_counter", lambda one: one + 50), "counter differs",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("name", "harm", "said"), HARMS.values(), ids=HARMS)
def test_every_harm_is_found(copied, name, harm, said):
    spoil(copied, name, harm)
    found = copied.check()
    assert not found
    assert any(said in one.name for one in found.findings), str(found)
    assert all(one.count and one.example and one.advice for one in found.findings)


def test_what_a_stopped_sync_left_is_a_note(copied):
    filled, rows = copied, copied._lake.table("events").refresh()
    batch = pa.RecordBatch.from_pylist(
        [rows.handle.to_pyarrow_dataset().head(1).to_pylist()[0] | {"record_time": pd.Timestamp("2099-01-01", tz="UTC"),
         "migration_id": 2, "record_month": "2099-01"}], rows.table.schema.remove_metadata(),
    )  # fmt: skip
    rows.append([batch], {})
    assert filled.check().findings == ()
    adopt(filled)
    found = filled.check()
    assert found
    assert found.findings[0].severity == "note"


def test_a_store_of_an_empty_ledger_is_sound(store):
    with lf.sandbox(updates=0) as empty:
        store.sync(empty)
    assert store.check()
    assert store.tables().empty
