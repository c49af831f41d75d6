"""Histories for the tests of the economics: captured updates, and updates that a test writes by hand."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

import msgspec
import pandas as pd
import pyarrow as pa
import pytest

from ledgerframes.decoding.history import decode_items
from ledgerframes.errors import IncompleteFiguresWarning
from ledgerframes.frames import shape
from ledgerframes.loaders.opening import Opening
from ledgerframes.tables.history import EVENTS
from tests.replay import read_capture

PACKAGE = "ab" * 32
SYNC = "sync-a::1220aa"
DSO = "DSO::1220dd"
RULES = "Splice.AmuletRules:AmuletRules"
#: Provenance of a history that begins where the ledger does.
WHOLE = {"complete": True, "from_beginning": True, "range": "ledger begin to now"}


def incomplete(test):
    """Mark a test of figures that lack something: it fails unless a warning says so."""

    @wraps(test)
    def run(*args, **kwargs):
        with pytest.warns(IncompleteFiguresWarning):
            test(*args, **kwargs)

    return run


def frame_of(items: list[dict[str, Any]], **attrs: Any) -> pd.DataFrame:
    """The events of update items as `load_events` gives them, so that what is computed from them stays exact."""
    frame = shape(table_of(items), EVENTS)
    frame.attrs.update({"decimals": "exact", **attrs})
    return frame


def table_of(items: list[dict[str, Any]]) -> pa.Table:
    """The same as Arrow."""
    if not items:
        return EVENTS.schema.empty_table()
    batch = decode_items([msgspec.json.encode(item) for item in items], endpoint="POST /v2/updates").batches["events"]
    return pa.Table.from_batches([batch])


def captured_items() -> list[dict[str, Any]]:
    """22 real updates of MainNet."""
    return [item["update"] for item in read_capture("scan-events-page").body["events"] if item.get("update")]


def captured_events() -> pd.DataFrame:
    """Their events."""
    return frame_of(captured_items())


def opening_of(contracts: list[tuple[str, str, dict[str, Any]]]) -> Opening:
    """An opening of whatever events, of contracts, each an id, a template's Module:Entity and its arguments."""
    created_at = pa.array([pd.Timestamp("2025-01-01", tz="UTC")] * len(contracts), pa.timestamp("us", "UTC"))
    rows = [
        {"contract_id": name, "template_name": template, "payload": json.dumps(arguments)}
        for name, template, arguments in contracts
    ]
    return Opening(pa.Table.from_pylist(rows).append_column("created_at", created_at))


@dataclass
class Node:
    """An event of a transaction that a test writes."""

    template: str
    contract: str
    arguments: Any
    choice: str | None = None
    result: Any = None
    consuming: bool = False
    interface: str | None = None
    children: list[Node] = field(default_factory=list)
    acting: list[str] = field(default_factory=lambda: [DSO])
    signatories: list[str] = field(default_factory=lambda: [DSO])


def create(template: str, contract: str, arguments: dict[str, Any], **more: Any) -> Node:
    """A create."""
    return Node(template, contract, arguments, **more)


def exercise(
    template: str, contract: str, choice: str, arguments: Any = None, result: Any = None, *children: Node, **more: Any
) -> Node:
    """An exercise with its consequences."""
    return Node(template, contract, arguments or {}, choice, result, children=list(children), **more)


def archive(
    template: str, contract: str, choice: str = "Archive", arguments: Any = None, result: Any = None, *children: Node
) -> Node:
    """A consuming exercise."""
    return exercise(template, contract, choice, arguments, {} if result is None else result, *children, consuming=True)


def update(name: str, second: float, *roots: Node) -> dict[str, Any]:
    """An update item, recorded so many seconds after noon."""
    numbers = itertools.count()
    events: dict[str, Any] = {}
    time = pd.Timestamp("2026-01-01 12:00:00", tz="UTC") + pd.Timedelta(seconds=second)
    text = time.strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def add(node: Node) -> str:
        key = f"{name}:{next(numbers)}"
        base = {
            "contract_id": node.contract, "template_id": f"{PACKAGE}:{node.template}", "package_name": "splice-amulet",
        }  # fmt: skip
        events[key] = {}
        if node.choice is None:
            events[key] |= base | {
                "event_type": "created_event", "create_arguments": node.arguments, "created_at": text,
                "signatories": node.signatories, "observers": [],
            }  # fmt: skip
        else:
            events[key] |= base | {
                "event_type": "exercised_event", "choice": node.choice, "choice_argument": node.arguments,
                "exercise_result": node.result, "consuming": node.consuming, "acting_parties": node.acting,
                "interface_id": node.interface, "child_event_ids": [add(child) for child in node.children],
            }  # fmt: skip
        return key

    roots_of = [add(root) for root in roots]
    return {
        "update_id": name, "migration_id": 0, "workflow_id": "", "record_time": text, "synchronizer_id": SYNC,
        "effective_at": text, "root_event_ids": roots_of, "events_by_id": events,
    }  # fmt: skip


def apart(name: str, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same items with contracts of their own, so that those of another case may have the same ids."""
    text = json.dumps(items)
    for contract in {event["contract_id"] for item in items for event in item["events_by_id"].values()}:
        text = text.replace(f'"{contract}"', f'"{contract} of {name}"')
    found: list[dict[str, Any]] = json.loads(text)
    return found


def coin(owner: str, amount: str, *, number: int = 1, rate: str = "0.1000000000") -> dict[str, Any]:
    """The arguments of a coin."""
    return {
        "dso": DSO, "owner": owner,
        "amount": {"initialAmount": amount, "createdAt": {"number": str(number)}, "ratePerRound": {"rate": rate}},
    }  # fmt: skip


def locked(owner: str, amount: str, *, holders: tuple[str, ...] = ("bob",), number: int = 1) -> dict[str, Any]:
    """The arguments of a locked coin."""
    lock = {"holders": list(holders), "expiresAt": "2026-02-01T00:00:00Z", "optContext": None}
    return {"amulet": coin(owner, amount, number=number), "lock": lock}


def result(number: int = 7, *, meta: dict[str, str] | None = None, **values: Any) -> dict[str, Any]:
    """What a transfer returns; what is not given of its summary is 0."""
    inputs = (
        f"input{name}Amount" for name in ("AppReward", "ValidatorReward", "ValidatorFaucet", "SvReward", "Amulet")
    )
    none = dict.fromkeys((*inputs, "holdingFees", "senderChangeFee", "senderChangeAmount"), "0E-10")
    summary = none | {"outputFees": [], "balanceChanges": [], "amuletPrice": "0.0050000000"} | values
    found = {"round": {"number": str(number)}, "summary": summary, "createdAmulets": []}
    return found | {"senderChangeAmulet": None, "meta": None if meta is None else {"values": meta}}


def transfer(
    sender: str, inputs: list[tuple[str, str]], outputs: list[dict[str, Any]], provider: str = "app"
) -> dict[str, Any]:
    """The argument of a transfer."""
    listed = [{"tag": tag, "value": value} for tag, value in inputs]
    return {"transfer": {"sender": sender, "provider": provider, "inputs": listed, "outputs": outputs}, "context": {}}


def paid(
    *children: Node, inputs: Iterable[tuple[str, str]] = (("InputAmulet", "in"),), outputs: Iterable[Any] = (),
    sender: str = "alice", number: int = 7, meta: dict[str, str] | None = None, **values: Any,
) -> Node:  # fmt: skip
    """A transfer with its result, whose summary states these values."""
    given = result(number, meta=meta, **values)
    return exercise(RULES, "rules", "AmuletRules_Transfer", transfer(sender, [*inputs], [*outputs]), given, *children)


def output(receiver: str, amount: str, ratio: str = "0.0000000000", lock: Any = None) -> dict[str, Any]:
    """An output of a transfer."""
    return {"receiver": receiver, "amount": amount, "receiverFeeRatio": ratio, "lock": lock}


def known(rows: pd.DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    """Rows as tuples, with None for what is null."""
    return [tuple(None if value is pd.NA or value is pd.NaT or value != value else value for value in row)
            for row in rows[[*columns]].itertuples(index=False)]  # fmt: skip
