"""A scan that prunes shows a history that begins later; its objects, and other scans of the ledger, have the rest."""

from __future__ import annotations

import datetime as dt
import json
from urllib.parse import quote

import pytest

from ledgerframes.sandbox.server import start
from ledgerframes.sandbox.world import timestamps
from tests.sandbox.asking import ask

#: Record times of migrations 1 and 2 overlap around it.
CUT = 795


@pytest.fixture(scope="module")
def sandbox():
    with start(updates=1_200) as running:
        yield running


def place(update):
    return update.migration_id, update.record_time


def text(update):
    return timestamps.exact(update.record_time)


def shown(server, path="updates"):
    """What pages show, as the ids of updates; rejected requests are left out."""
    ids, after = [], {}
    while True:
        answer = ask(f"{server.scan_url}/{'v0' if path == 'events' else 'v2'}/{path}", {"page_size": 90} | after).json
        page = answer["events" if path == "events" else "transactions"]
        if not page:
            return ids
        items = [one["update"] for one in page if one.get("update")] if path == "events" else page
        ids += [item["update_id"] for item in items]
        last = page[-1] if path == "updates" else (page[-1].get("update") or page[-1]["verdict"])
        migration_id = last.get("event", last)["migration_id"]
        after = {"after": {"after_migration_id": migration_id, "after_record_time": last["record_time"]}}


def soon(text):
    """A microsecond later."""
    return timestamps.exact(timestamps.parse(text) + 1)


@pytest.mark.parametrize("kind", ["pair", "datetime"])
def test_nothing_older_than_the_cut_is_shown_by_page_id_hash_or_event(sandbox, kind):
    updates = sandbox.world.updates
    cut = updates[CUT]
    before = {
        "pair": (cut.migration_id, text(cut)),
        "datetime": timestamps.EPOCH + dt.timedelta(microseconds=cut.record_time),
    }[kind]
    kept = [
        one for one in updates if (place(one) if kind == "pair" else place(one)[1:]) >= place(cut)[kind != "pair" :]
    ]
    gone = [one for one in updates if one not in kept]
    assert kind == "pair" or gone[-1] > kept[0], "a time cuts each migration, and theirs overlap"

    with sandbox.replica(prune_before=before) as scan:
        pages, events = shown(scan), shown(scan, "events")
        looked_up = {one: ask(f"{scan.scan_url}/v2/updates/{one.update_id}").status for one in (*gone[-3:], *kept[:3])}
        hashes = {
            ask(f"{scan.scan_url}/v2/updates/hash/{one.external_hash}").status for one in gone if one.external_hash
        }
        by_event = ask(f"{scan.scan_url}/v0/events/{gone[-1].update_id}").status

    assert pages[0] == events[0] == kept[0].update_id
    assert len(pages) > 0.9 * len(kept), "all but cut ties"
    assert set(pages) | set(events) <= {one.update_id for one in kept}
    assert list(looked_up.values()) == [404] * 3 + [200] * 3
    assert (hashes, by_event) == ({404}, 404)


def test_a_cursor_before_the_cut_leads_to_the_first_item_that_is_left(sandbox):
    updates = sandbox.world.updates
    cut = next(one for one in updates if one.migration_id == 2)
    with sandbox.replica(prune_before=(2, text(cut))) as scan:
        after = {"after_migration_id": 0, "after_record_time": text(updates[50])}
        page = ask(f"{scan.scan_url}/v2/updates", {"page_size": 2, "after": after}).json["transactions"]

    assert [item["update_id"] for item in page] == [one.update_id for one in updates if one.migration_id == 2][:2]


def test_snapshots_are_pruned_too(sandbox):
    old, new = sandbox.snapshots(2)[1], sandbox.snapshots(2)[5]
    token = sandbox.token("alice")
    wanted = {"migration_id": 2, "page_size": 1, "owner_party_ids": ["nobody::12"]}
    with sandbox.replica(prune_before=(2, new)) as scan:
        assert scan.snapshots(2)[0] == new
        statuses = {}
        for time in (old, new):
            query = f"/v0/state/acs/snapshot-timestamp?migration_id=2&before={quote(soon(time))}"
            statuses[time] = [
                ask(f"{scan.scan_url}{query}").status,
                ask(f"{scan.scan_url}/v2/state/acs", wanted | {"record_time": time}).status,
                ask(f"{scan.scan_url}/v2/holdings/state", wanted | {"record_time": time}).status,
                ask(f"{scan.scan_url}/v1/holdings/summary", wanted | {"record_time": time}).status,
                ask(
                    f"{scan.validator_url}/v1/scan-proxy/holdings/summary", wanted | {"record_time": time}, token=token
                ).status,
            ]

    assert statuses == {old: [404] * 5, new: [200] * 5}


def test_bulk_objects_and_other_scans_of_the_ledger_still_have_everything(sandbox):
    body = {"start_record_time": "0001-01-01T00:00:00Z", "end_record_time": "9999-01-01T00:00:00Z", "page_size": 1000}
    with sandbox.replica(prune="1m") as scan:
        objects = ask(f"{scan.scan_url}/v0/history/bulk/updates", body).json["object_refs"]

        assert len(shown(scan)) < 100
    with sandbox.replica() as whole:
        listed = ask(f"{whole.scan_url}/v0/history/bulk/updates", body).json["object_refs"]
        assert len(shown(whole)) > 1_100
    assert [one["digest"] for one in objects] == [one["digest"] for one in listed]
    assert len(objects) > 3


def test_a_window_moves_on_with_the_ledger_and_can_be_changed():
    with start(updates=300, prune="100s") as scan:
        first = shown(scan)
        scan.advance(updates=40)
        moved = shown(scan)
        newest = scan.world.now
        expected = [one.update_id for one in scan.world.updates if one.record_time >= newest - 100 * timestamps.SECOND]
        scan.prune(window="0s")
        assert shown(scan) == [scan.world.updates[-1].update_id]
        scan.prune()
        whole = shown(scan)

    assert moved[0] == expected[0] != first[0]
    assert first[0] not in moved
    assert whole[0] == json.loads(scan.world.updates[0].rendered)["update_id"]
