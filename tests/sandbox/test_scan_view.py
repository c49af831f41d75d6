"""What a scan shows that sees with the DSO's eyes, and where everything else is seen."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

import ledgerframes as lf
from ledgerframes.sandbox.server import start
from ledgerframes.sandbox.world.templates import TOKEN
from tests.sandbox.asking import ask
from tests.sandbox.commanding import Desk
from tests.sandbox.economy_books import entity_of, preorder

IOU = "Iou:Iou"
PRIVATE = {IOU, "Settlement:Batch", "Splice.Wallet.TransferOffer:TransferOffer", "Harbor.Token:Holding"}


@pytest.fixture(scope="module")
def net():
    with lf.sandbox(seed=7, updates=600) as running:
        yield running


@pytest.fixture(scope="module")
def world(net):
    return net.sandbox.world


@pytest.fixture(scope="module")
def shown(net):
    return ask(f"{net.sandbox.scan_url}/v2/updates", {"page_size": 1_000}).json["transactions"]


def created(items):
    return [
        event
        for item in items
        if "events_by_id" in item
        for event in preorder(item)
        if event["event_type"] == "created_event"
    ]


def record_time(update):
    return json.loads(update.rendered)["record_time"]


def hidden(world):
    ids = {update.update_id for update in world.updates}
    return [update for update in world.ledger_updates if update.update_id not in ids]


def test_the_scan_shows_as_many_updates_as_asked_for_all_with_the_dso(world, shown):
    dso = world.scan_party

    assert len(shown) == 600 < len(world.ledger_updates)
    assert all(dso in {*event["signatories"], *event["observers"]} for event in created(shown))
    legs = [item["event"]["created_event"] for item in shown if item.get("event", {}).get("created_event")]
    assert legs
    assert all(dso in leg["signatories"] for leg in legs)
    assert not PRIVATE & {entity_of(event) for event in created(shown)}
    assert PRIVATE - {"Settlement:Batch"} <= {entity_of(event) for event in created(world.items(private=True))}


def test_what_the_scan_shows_of_an_update_is_a_tree_of_its_own(world, shown):
    complete = {item["update_id"]: item for item in world.items(private=True)}
    less = [item for item in shown if item != complete[item["update_id"]]]

    assert {item["events_by_id"][item["root_event_ids"][0]].get("choice") for item in less} >= {"AmuletRules_Transfer"}
    for item in less:
        events = list(preorder(item))
        of_all = [{**event, "event_id": 0, "child_event_ids": 0} for event in preorder(complete[item["update_id"]])]
        assert all({**event, "event_id": 0, "child_event_ids": 0} in of_all for event in events)


def test_nothing_of_the_coin_is_hidden(world, shown):
    seen = {event["contract_id"] for event in created(shown)}
    every = created(world.items(private=True))
    assert all(one["contract_id"] in seen for one in every if world.scan_party in one["signatories"])


def test_a_hidden_transaction_is_a_verdict_alone_and_not_found_by_id(net, world):
    update = next(one for one in hidden(world) if b'"events_by_id":' in one.rendered)
    events = ask(f"{net.sandbox.scan_url}/v0/events", {"page_size": 500}).json["events"]
    by_id = {item["verdict"]["update_id"]: item for item in events if item["verdict"]}

    assert by_id[update.update_id]["update"] is None
    assert by_id[update.update_id]["verdict"]["verdict_result"] == "VERDICT_RESULT_ACCEPTED"
    assert ask(f"{net.sandbox.scan_url}/v2/updates/{update.update_id}").status == 404
    assert ask(f"{net.sandbox.scan_url}/v0/events/{update.update_id}").json["update"] is None
    with_updates = [item["update"]["update_id"] for item in events if item["update"]]
    assert set(with_updates) < {one.update_id for one in world.updates}
    signed = next(one for one in hidden(world) if one.external_hash)
    assert ask(f"{net.sandbox.scan_url}/v2/updates/hash/{signed.external_hash}").status == 404


def test_snapshots_have_the_contracts_of_the_dso(net, world):
    snapshot = net.sandbox.snapshots(2)[-1]
    wanted = {"migration_id": 2, "record_time": snapshot, "page_size": 1_000}
    answer = ask(f"{net.sandbox.scan_url}/v2/state/acs", wanted).json

    assert len(answer["created_events"]) > 100
    assert all(world.scan_party in {*one["signatories"], *one["observers"]} for one in answer["created_events"])


def test_the_parties_of_a_private_contract_see_it_by_their_participant(net):
    assert PRIVATE - {"Settlement:Batch"} <= set(lf.load_ledger_contracts(net, None).template_name)


def test_each_issuers_registry_lists_its_tokens(net, world):
    held = [one.payload["amount"] for one in world.contracts.of(TOKEN)]
    urls = net.sandbox.registry_urls
    other = next(party for party in urls if party != world.scan_party)

    assert urls[world.scan_party] == net.sandbox.registry_url
    with lf.connect(registry_url=urls[other]) as registry:
        rows = lf.load_instruments(registry, decimals="exact")
    assert list(rows.instrument_id) == ["HARBOR-SILVER"]
    assert rows.total_supply[0] == sum(map(Decimal, held)) > 0
    assert ask(f"{urls[other]}/registry/metadata/v1/info").json["adminId"] == other


def test_commands_about_private_contracts_reach_the_participant_alone():
    with start(seed=7, updates=300) as sandbox:
        before = len(sandbox.world.updates)
        contract_id = Desk(sandbox).iou()

        assert len(sandbox.world.updates) == before
        assert contract_id in {event["contract_id"] for event in created([*sandbox.world.items(private=True)][-1:])}
        sandbox.advance(updates=20)
        assert len(sandbox.world.updates) == before + 20
