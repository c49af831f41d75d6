"""Every loader and call reads what the official files allow: the least, everything and more, nulls; exactly as sent.

Histories and loaders get the answers of a sandbox as the files allow them, too; typed calls get what is made up.
"""

from __future__ import annotations

import inspect
import json
from decimal import Decimal
from functools import partial

import msgspec
import pytest

import ledgerframes as lf
from ledgerframes.sandbox.world.templates import COIN, PREAPPROVAL
from ledgerframes.tables.catalogue import CATALOGUE
from tests.fuzz.frames import LISTS, check_row
from tests.official.allowed import LEAST, MOST, NULLS, STYLES, UNKNOWN, answering
from tests.official.conversations import admit
from tests.official.typed_calls import CALLS, EVERY
from tests.rigs.servers import started

pytestmark = [
    # The answers are of simulated times, long before the one that is asked for.
    pytest.mark.filterwarnings("ignore::ledgerframes.errors.SnapshotWarning"),
    pytest.mark.filterwarnings("ignore::ledgerframes.errors.BeginsLateWarning"),
    pytest.mark.filterwarnings("ignore::ledgerframes.errors.DeprecatedEndpointWarning"),
]


@pytest.fixture(scope="module")
def sandbox():
    with started(updates=80) as running:
        admit(running)
        yield running


def sent_for(turns, endpoint):
    """The answers of an endpoint, with exact numbers."""
    return [json.loads(one.answer, parse_float=Decimal) for one in turns if one.endpoint == endpoint]


#: The member of an answer where the items of a table lie.
LISTED = LISTS | {"name_rules": "ans_rules_update", "transfer_preapprovals": "transfer_preapproval"}
LISTED |= dict.fromkeys(("active_contracts", "coins"), "created_events")
# What the files allow and the contract forbids: the column that the error names.
FORBIDDEN = {("name_rules", LEAST): "contract_id", ("name_rules", NULLS): "contract_id"}


@pytest.mark.parametrize("style", STYLES)
def test_a_loader_gives_what_was_sent(sandbox, style):
    world = sandbox.world.contracts
    given = {
        "transfer_preapprovals": {"parties": [one.payload["receiver"] for one in world.of(PREAPPROVAL)][:3]},
        "holdings_summary": {"parties": sorted({one.payload["owner"] for one in world.of(COIN)})},
        "coins": {"owners": sorted({one.payload["owner"] for one in world.of(COIN)})},
    }
    with answering(sandbox, style) as (net, turns):
        for name, member in LISTED.items():
            turns.clear()
            load = getattr(lf, f"load_{name}")
            kept = {"blobs", "personal"} & inspect.signature(load).parameters.keys()
            loading = partial(load, net, **given.get(name, {}), as_="arrow", **dict.fromkeys(kept, True))
            if (name, style) in FORBIDDEN:
                with pytest.raises(lf.errors.DecodeError) as caught:
                    loading()
                assert caught.value.column == FORBIDDEN[name, style]
                continue
            frame, table = loading(), CATALOGUE[name]
            shown = [answer.get(member) or [] for answer in sent_for(turns, table.endpoints[0])]
            items = [item for one in shown for item in (one if isinstance(one, list) else [one])]
            items.sort(key=lambda one: one.get("party_id", ""))  # of a summary, whose parties were asked for so
            assert frame.schema.remove_metadata().equals(table.schema.remove_metadata())
            assert frame.num_rows == len(items) > 0 or (name == "users" and style != MOST)
            for row, item in zip(frame.to_pylist(), items, strict=True):
                check_row(table, row, item)


@pytest.mark.parametrize("style", STYLES)
def test_the_history_and_single_updates_are_rebuilt_as_they_were_sent(sandbox, style):
    world = sandbox.world
    ids = [next(one["update_id"] for one in world.items() if name in one) for name in ("event", "events_by_id")]
    signed = next(one.external_hash for one in world.updates if one.external_hash)
    asked = [("GET /v2/updates/hash/{hash}", {"hash": signed})]
    asked += [("GET /v1/updates/{update_id}", {"update_id": one}) for one in ids]
    with answering(sandbox, style) as (net, turns):
        history = lf.load_history(net, limit=1_000, progress=False)
        pages = sent_for(turns, "POST /v2/updates")
        items = {item["update_id"]: item for page in pages for item in page["transactions"]}
        assert {one["update_id"]: one for one in lf.rebuild_items(history)} == items
        assert len(items) == len(history.updates) == len([*world.items()])
        assert len({*history.updates.kind}) > 1
        assert [one.update_id for one in net.scan.updates().items] == history.updates.update_id.tolist()
        for endpoint, given in asked:
            (item,) = lf.rebuild_items(lf.load_update(net, **given))
            assert item == sent_for(turns, endpoint)[-1]


NEWER, OLDER = "/v2/updates/update-by-id", "/v2/updates/transaction-by-id"
#: What an update is, the route that answers, where the update lies in the answer, and the route that is not served.
LEDGER_PATHS = {
    "transaction": ("Transaction", NEWER, lambda sent: sent["update"]["Transaction"]["value"], OLDER),
    "transaction of an older release": ("Transaction", OLDER, lambda sent: sent["transaction"], NEWER),
    "reassignment": ("Reassignment", NEWER, lambda sent: sent["update"]["Reassignment"]["value"], OLDER),
}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("case", LEDGER_PATHS)
def test_a_ledger_update_is_read_as_it_was_sent(sandbox, style, case):
    kind, path, item_of, missing = LEDGER_PATHS[case]
    for seed in range(2):
        with answering(sandbox, style, made_up={kind}, seed=seed, hidden=missing) as (net, turns):
            typed = net.ledger.update_by_id("u").item
            transactions, events = lf.load_ledger_transaction(net, "u", as_="arrow")
            item = item_of(sent_for(turns, f"POST {path}")[-1])
        (row,) = transactions.to_pylist()
        check_row(CATALOGUE["ledger_transactions"], row, {k: v for k, v in item.items() if k != "events"})
        assert type(typed).__name__ == ("LedgerTransaction" if kind == "Transaction" else "Reassignment")
        assert row["event_count"] == events.num_rows == len(item["events"]) > 0
        for found, sent in zip(events.to_pylist(), item["events"], strict=True):
            check_event(found, sent)


def check_event(row, sent):
    """A row against its event, whether that lies flat, under `value`, or has a contract's creation inside."""
    (kind, members), *more = sent.items()
    assert more == []
    members = dict(members)
    members |= members.pop("value", {})
    members = members.pop("createdEvent", {}) | members
    assert row["kind"] == kind
    payload = members.pop("createArgument" if "createArgument" in members else "choiceArgument", None)
    assert payload == (None if row["payload"] is None else json.loads(row["payload"], parse_float=Decimal))
    views = members.get("interfaceViews")
    assert row["view_interfaces"] == (None if views is None else [view["interfaceId"] for view in views])
    check_row(CATALOGUE["ledger_events"], row, members)


@pytest.mark.parametrize("style", STYLES)
def test_a_typed_call_gives_what_was_sent(sandbox, style):
    for seed in range(2):
        with answering(sandbox, style, made_up={"Transaction", "events_by_id"}, seed=seed) as (net, turns):
            for served in EVERY:
                value = CALLS[served.call](net) if served.call in CALLS else None
                if value is not None and served.call not in PAGES:
                    (*_, sent) = sent_for(turns, served.name)
                    assert list(differences(value, sent)) == [], served.call


#: What these give has other members than what was sent; the tests of the history and of the ledger's pages hold it.
PAGES = {"scan.updates", "ledger.updates_page", "ledger.active_contracts_page"}
#: Members of the contract that the files of today no longer describe.
FORMER = {"rootNodeIds", "offset"}


def differences(value, sent, place="$"):
    """Where a typed value is not what was sent; what only wraps it there is not a difference."""
    value = getattr(value, "item", value)
    if isinstance(value, msgspec.Raw):
        value = json.loads(bytes(value), parse_float=Decimal)
    if isinstance(value, msgspec.Struct):
        names = {one.encode_name: getattr(value, one.name) for one in msgspec.structs.fields(value)}
        # An event has the members of every kind.
        kind = names.pop("kind", getattr(value, "event_type", None))
        sent = unwrapped(sent, names, kind)
        whole = kind is None and UNKNOWN in sent
        for name, member in names.items():
            if name in sent:
                yield from differences(member, sent[name], f"{place}.{name}")
            elif (whole and name not in FORMER) or member not in (None, [], (), {}):
                yield f"{place}.{name}={member!r:.60} was not sent"
    elif isinstance(value, list | tuple):
        listed = sent if isinstance(sent, list) else next((one for one in (sent or {}).values() if one), [])
        yield from () if len(value) == len(listed) else [f"{place} has {len(value)} of {len(listed)}"]
        for one, other in zip(value, listed, strict=False):
            yield from differences(one, other, f"{place}[]")
    elif isinstance(value, dict) and isinstance(sent, dict) and value.keys() == sent.keys():
        for name, member in value.items():
            yield from differences(member, sent[name], f"{place}.{name}")
    elif value != sent and [value] != [one for name, one in (sent or {}).items() if name != UNKNOWN]:
        yield f"{place}={value!r:.60} for {sent!r:.60}"


def unwrapped(sent, names, kind):
    """The object that has one of the names, inside of objects with a single member that the files know."""
    sent = sent.get(kind, sent)
    while not names.keys() & sent.keys() and (known := [one for one in sent if one != UNKNOWN]):
        sent = sent[known[0]]
    return sent
