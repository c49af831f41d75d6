"""Two servers, or a store and a server, held against each other."""

import pytest

import ledgerframes as lf
from ledgerframes.loaders.normalized import first_difference
from tests.rigs.servers import replica, simulated
from tests.store.conftest import BEGIN
from tests.store.test_rejects import spoil


def of(sandbox):
    return lf.connect(scan_url=sandbox.scan_url)


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("world", [{"updates": 300}, {"updates": 300, "hostile": True}], ids=["normal", "hostile"])
def test_two_servers_of_one_ledger_agree_as_far_as_one_that_lags_goes(world, tmp_path):
    with simulated(**world) as net, replica(net.sandbox, page_maximum=70) as other:
        with pytest.raises(lf.errors.InputError, match="agrees with itself"):
            lf.cross_check(net, of(net.sandbox))
        with lf.record(tmp_path / "earlier", net) as recorded:
            lf.cross_check(recorded, of(other))
        with lf.replay(tmp_path / "earlier") as earlier:
            assert lf.cross_check(earlier, net).compared == world["updates"]
        found = lf.cross_check(net, of(other), start=BEGIN)
        assert (found.agree, bool(found), found.compared, found.beyond) == (True, True, world["updates"], "")
        lake = lf.open_store(tmp_path / "lake")
        lake.sync(net, progress=False)
        with replica(net.sandbox, lag=100) as lagging:
            late = of(lagging)
            for found in (lf.cross_check(net, late), lf.cross_check(late, net), lake.verify(late, sample=None)):
                assert found.agree
                assert world["updates"] - 110 <= found.compared <= world["updates"] - 100
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
    return spoil(world, fit[rank], changing)


@pytest.mark.long(quick=1)
@pytest.mark.parametrize(("changing", "pointer"), CHANGES.values(), ids=CHANGES)
def test_a_change_is_found_and_pointed_at(store, changing, pointer):
    with lf.sandbox(updates=400) as net, lf.sandbox(updates=400) as other:
        store.sync(net)
        update = change(other.sandbox.world, changing)
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


def test_an_update_that_one_side_lacks_is_found(parted, small):
    with lf.sandbox(seed=5, updates=240) as other:
        gone = other.sandbox.world.updates.pop(100)
        found = parted.verify(other, sample=None)
        assert [(one.update_id, one.what) for one in found.differences] == [(gone.update_id, "only in a")]
        found = lf.cross_check(other, small)
        assert [(one.update_id, one.what) for one in found.differences] == [(gone.update_id, "only in b")]


def test_a_sample_is_drawn_again_by_its_seed(parted, small):
    first = parted.verify(small, sample=2, seed=3)
    again = parted.verify(small, sample=2, seed=3)
    assert first.agree
    assert 0 < first.compared == again.compared < 240
    places = [parted.verify(small, sample=1, seed=seed).up_to for seed in range(3)]
    assert len(set(places)) > 1
    reached = [parted.verify(small, sample=number, seed=3).up_to for number in (1, 2, 4, 8)]
    assert reached == sorted(reached)
    with pytest.raises(lf.errors.InputError, match="sample=0"):
        parted.verify(small, sample=0)


def test_however_many_updates_are_read_at_once_or_drawn_each_is_compared_once(parted, small, monkeypatch):
    stored = len(parted.load("updates", columns=["update_id"]))
    for sample in (1, 5, 20, 100):
        assert 0 < parted.verify(small, sample=sample).compared <= stored
    monkeypatch.setattr("ledgerframes.store.checks.verify._TOGETHER", 7)
    part = {"start": "2025-03-03T09:10:00Z", "end": "2025-03-03T09:40:00Z"}
    found = parted.verify(small, sample=None, **part)
    assert found.agree
    assert found.compared == len(parted.load("updates", **part)) > 30


def test_pointers_name_the_first_difference():
    assert first_difference({"a": [1, {"b/c": 2}]}, {"a": [1, {"b/c": 3}]}) == ("/a/1/b~1c", 2, 3)
    assert first_difference({"a": 1}, {"a": 1}) is None
    assert first_difference({"a": 1}, {}) == ("/a", 1, None)
    assert first_difference([1], [1, 2])[0] == "/"
