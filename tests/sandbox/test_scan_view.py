"""What a scan shows: to the DSO, of what it has not pruned, as objects; and where everything else is seen."""

import datetime as dt
import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from urllib.parse import quote

import pytest

import ledgerframes as lf
from ledgerframes.sandbox.server import start
from ledgerframes.sandbox.world import objects, timestamps
from ledgerframes.sandbox.world.objects import compressed
from ledgerframes.sandbox.world.templates import TOKEN
from tests.sandbox.asking import ask
from tests.sandbox.economy_books import entity_of, preorder

#: Templates that the DSO has no part in.
PRIVATE = {"Iou:Iou", "Splice.Wallet.TransferOffer:TransferOffer", "Harbor.Token:Holding"}


@pytest.fixture(scope="module")
def shown(hour):
    return ask(f"{hour.sandbox.scan_url}/v2/updates", {"page_size": 1_000}).json["transactions"]


def created(items):
    transactions = (item for item in items if "events_by_id" in item)
    return [event for item in transactions for event in preorder(item) if event["event_type"] == "created_event"]


def test_the_scan_shows_as_many_updates_as_asked_for_all_with_the_dso_and_all_of_the_coin(hour, shown):
    world, seen = hour.sandbox.world, created(shown)
    dso = world.scan_party
    every = created(world.items(private=True))
    legs = [item["event"]["created_event"] for item in shown if item.get("event", {}).get("created_event")]
    wanted = {"migration_id": 2, "record_time": hour.sandbox.snapshots(2)[-1], "page_size": 1_000}
    snapshot = ask(f"{hour.sandbox.scan_url}/v2/state/acs", wanted).json["created_events"]

    assert len(shown) == 600 < len(world.ledger_updates)
    assert len(legs) > 0
    assert len(snapshot) > 100
    assert all(dso in {*event["signatories"], *event["observers"]} for event in (*seen, *legs, *snapshot))
    assert not PRIVATE & {entity_of(event) for event in seen}
    assert {entity_of(event) for event in every} >= PRIVATE
    assert set(lf.load_ledger_contracts(hour, None).template_name) >= PRIVATE, "by the participant of their parties"
    ids = {event["contract_id"] for event in seen}
    assert all(one["contract_id"] in ids for one in every if dso in one["signatories"])


def test_what_the_scan_shows_of_an_update_is_a_tree_of_its_own(hour, shown):
    complete = {item["update_id"]: item for item in hour.sandbox.world.items(private=True)}
    less = [item for item in shown if item != complete[item["update_id"]]]

    def plain(item):
        return [{**event, "event_id": 0, "child_event_ids": 0} for event in preorder(item)]

    assert {item["events_by_id"][item["root_event_ids"][0]].get("choice") for item in less} >= {"AmuletRules_Transfer"}
    for item in less:
        of_all = plain(complete[item["update_id"]])
        assert all(event in of_all for event in plain(item))


def test_a_hidden_transaction_is_a_verdict_alone_and_not_found_by_id(hour):
    world, scan_url = hour.sandbox.world, hour.sandbox.scan_url
    ids = {update.update_id for update in world.updates}
    hidden = [update for update in world.ledger_updates if update.update_id not in ids]
    update = next(one for one in hidden if b'"events_by_id":' in one.rendered)
    signed = next(one for one in hidden if one.external_hash)
    events = ask(f"{scan_url}/v0/events", {"page_size": 500}).json["events"]
    by_id = {item["verdict"]["update_id"]: item for item in events if item["verdict"]}

    assert by_id[update.update_id]["update"] is None
    assert by_id[update.update_id]["verdict"]["verdict_result"] == "VERDICT_RESULT_ACCEPTED"
    assert ask(f"{scan_url}/v0/events/{update.update_id}").json["update"] is None
    assert {item["update"]["update_id"] for item in events if item["update"]} < ids
    for path in (update.update_id, f"hash/{signed.external_hash}"):
        assert ask(f"{scan_url}/v2/updates/{path}").status == 404


def test_each_issuers_registry_lists_its_tokens(hour):
    world, urls = hour.sandbox.world, hour.sandbox.registry_urls
    held = [one.payload["amount"] for one in world.contracts.of(TOKEN)]
    other = next(party for party in urls if party != world.scan_party)

    assert urls[world.scan_party] == hour.sandbox.registry_url
    with lf.connect(registry_url=urls[other]) as registry:
        rows = lf.load_instruments(registry, decimals="exact")
    assert list(rows.instrument_id) == ["HARBOR-SILVER"]
    assert rows.total_supply[0] == sum(map(Decimal, held)) > 0
    assert ask(f"{urls[other]}/registry/metadata/v1/info").json["adminId"] == other


#: Record times of migrations 1 and 2 overlap around it.
CUT = 795


@pytest.fixture(scope="module")
def long():
    with start(updates=1_200) as running:
        yield running


def pages_of(server, path="v2/updates"):
    """What pages show, as the ids of updates; rejected requests are left out."""
    ids, after = [], {}
    while page := next(iter(ask(f"{server.scan_url}/{path}", {"page_size": 90} | after).json.values())):
        items = page if path == "v2/updates" else [one["update"] for one in page if one["update"]]
        ids += [item["update_id"] for item in items]
        last = page[-1] if path == "v2/updates" else (page[-1]["update"] or page[-1]["verdict"])
        migration_id = last.get("event", last)["migration_id"]
        after = {"after": {"after_migration_id": migration_id, "after_record_time": last["record_time"]}}
    return ids


@pytest.mark.parametrize("kind", ["pair", "datetime"])
def test_nothing_older_than_the_cut_is_shown_by_page_id_hash_or_event(long, kind):
    updates = long.world.updates
    cut = updates[CUT]
    before, stays = {
        "pair": ((cut.migration_id, timestamps.exact(cut.record_time)), lambda one: one[:2] >= cut[:2]),
        "datetime": (timestamps.EPOCH + dt.timedelta(microseconds=cut.record_time), lambda one: one[1] >= cut[1]),
    }[kind]
    kept, gone = [*filter(stays, updates)], [one for one in updates if not stays(one)]
    assert kind == "pair" or gone[-1] > kept[0], "a time cuts each migration, and theirs overlap"
    paths = {f"v2/updates/{one.update_id}": 404 for one in gone[-3:]}
    paths |= {f"v2/updates/{one.update_id}": 200 for one in kept[:3]}
    paths |= {f"v2/updates/hash/{one.external_hash}": 404 for one in gone if one.external_hash}
    paths |= {f"v0/events/{gone[-1].update_id}": 404}

    with long.replica(prune_before=before) as scan:
        pages, events = pages_of(scan), pages_of(scan, "v0/events")
        statuses = {path: ask(f"{scan.scan_url}/{path}").status for path in paths}

    assert pages[0] == events[0] == kept[0].update_id
    assert len(pages) > 0.9 * len(kept), "all but cut ties"
    assert set(pages) | set(events) <= {one.update_id for one in kept}
    assert statuses == paths


def test_snapshots_are_pruned_too(long):
    old, new = long.snapshots(2)[1], long.snapshots(2)[5]
    wanted = {"migration_id": 2, "page_size": 1, "owner_party_ids": ["nobody::12"]}
    token, statuses = long.token("alice"), {}
    with long.replica(prune_before=(2, new)) as scan:
        assert scan.snapshots(2)[0] == new
        urls = [f"{scan.scan_url}{path}" for path in ("/v2/state/acs", "/v2/holdings/state", "/v1/holdings/summary")]
        urls.append(f"{scan.validator_url}/v1/scan-proxy/holdings/summary")
        for time in (old, new):
            later = quote(timestamps.exact(timestamps.parse(time) + 1))
            before = ask(f"{scan.scan_url}/v0/state/acs/snapshot-timestamp?migration_id=2&before={later}")
            found = (ask(url, wanted | {"record_time": time}, token=token) for url in urls)
            statuses[time] = [before.status, *(one.status for one in found)]

    assert statuses == {old: [404] * 5, new: [200] * 5}


def test_a_window_moves_on_with_the_ledger_and_can_be_changed():
    with start(updates=300, prune="100s") as scan:
        first = pages_of(scan)
        scan.advance(updates=40)
        moved, newest = pages_of(scan), scan.world.now
        expected = [one.update_id for one in scan.world.updates if one.record_time >= newest - 100 * timestamps.SECOND]
        scan.prune(window="0s")
        assert pages_of(scan) == [scan.world.updates[-1].update_id]
        scan.prune()
        assert pages_of(scan)[0] == scan.world.updates[0].update_id

    assert moved[0] == expected[0] != first[0]
    assert first[0] not in moved


SNAPSHOT = "/v0/history/bulk/acs?at_or_before_record_time=2100-01-01T00:00:00Z"
LIST = "/v0/history/bulk/updates"
ALL = {"start_record_time": "1970-01-01T00:00:00Z", "end_record_time": "2100-01-01T00:00:00Z", "page_size": 1_000}


def urls(server, path, body=None):
    return [ref["url"] for ref in ask(server.scan_url + path, body).json["object_refs"]]


@pytest.mark.parametrize("route", ["updates", "snapshot", "download"])
def test_others_are_answered_while_an_object_is_written(long, monkeypatch, route):
    writing, answered = threading.Event(), threading.Event()

    def write(items):
        writing.set()
        assert answered.wait(60)
        return compressed(items)

    url, *_ = urls(long, LIST, ALL)
    with long.replica() as other, ThreadPoolExecutor(1) as pool:
        monkeypatch.setattr(objects, "compressed", write)
        asked = {
            "updates": (other.scan_url + LIST, ALL),
            "snapshot": (other.scan_url + SNAPSHOT, None),
            "download": (url.replace(long.url, other.url), None),
        }
        answer = pool.submit(ask, *asked[route])
        assert writing.wait(60)
        with long.world.lock:
            pass
        assert ask(other.scan_url + "/v2/updates", {"page_size": 1}).status == 200
        answered.set()
        assert answer.result().status == 200


def test_an_object_is_found_though_it_was_not_listed_and_objects_of_a_scan_that_prunes_have_everything(long):
    chosen = (urls(long, LIST, ALL)[0], urls(long, SNAPSHOT)[0])
    with long.replica() as other:
        assert all(ask(url.replace(long.url, other.url)).body == ask(url).body for url in chosen)
    with long.replica(prune="1min") as scan:
        assert len(pages_of(scan)) < 100
        listed = [ask(one.scan_url + LIST, ALL).json["object_refs"] for one in (scan, long)]
    assert [one["digest"] for one in listed[0]] == [one["digest"] for one in listed[1]]
    assert len(listed[0]) > 3
