"""Every loader and call of the client against a sandbox, and what went over the wire; the tests beside call it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx

import ledgerframes as lf
from ledgerframes.interfaces.scan_objects import key_of
from ledgerframes.sandbox.world.parties import Right
from ledgerframes.sandbox.world.parties import User as Account
from tests.loaders.every_loader import NAMES, World, load
from tests.official.every_argument import COIN, IOU, every_argument
from tests.sandbox.asking import party_of

USER = "all_of_alice"
SUMMARY, SUMMARY_OF_SCAN = "/v0/scan-proxy/holdings/summary", "/api/scan/v0/holdings/summary"

Call = Callable[[lf.types.Network], Any]


@dataclass(frozen=True)
class Turn:
    """A request and its answer.

    Attributes:
        path: below the interface's base, percent-encoded, without the query.
    """

    interface: str
    method: str
    path: str
    query: dict[str, str]
    content_type: str
    sent: bytes
    status: int
    answered_type: str
    answer: bytes

    @property
    def name(self) -> str:
        return f"{self.interface} {self.method} {self.path} -> {self.status}"

    @property
    def body(self) -> Any:
        return json.loads(self.sent)


class Recorder(httpx.HTTPTransport):
    """Sends, and keeps what went over the wire.

    Args:
        bases: the base URLs by interface.
        hidden: how the path ends of a route that these servers are not to have.
    """

    def __init__(self, bases: dict[str, str], hidden: str) -> None:
        super().__init__(trust_env=False)
        self._bases = bases
        self._hidden = hidden
        self.turns: list[Turn] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if self._hidden and str(request.url).endswith(self._hidden):
            return httpx.Response(404, text="The requested resource could not be found.")
        received = super().handle_request(request)
        body = received.read()
        url = urlsplit(str(request.url))
        fitting = [(name, base) for name, base in self._bases.items() if str(request.url).startswith(base)]
        interface, base = max(fitting, key=lambda one: len(one[1]))
        self.turns.append(
            Turn(
                interface, request.method, url.path.removeprefix(urlsplit(base).path),
                dict(parse_qsl(url.query, keep_blank_values=True, strict_parsing=bool(url.query))),
                request.headers.get("Content-Type", ""), request.content,
                received.status_code, received.headers.get("content-type", "").partition(";")[0], body,
            )
        )  # fmt: skip
        return httpx.Response(received.status_code, headers=received.headers, stream=httpx.ByteStream(body))


def admit(sandbox: Any) -> str:
    """Add the user who makes the calls; returns the party that it acts as."""
    alice = party_of(sandbox, "alice")
    rights = frozenset({Right("ParticipantAdmin"), Right("CanReadAsAnyParty"), Right("CanActAs", alice)})
    sandbox.world.accounts[USER] = Account(USER, primary_party=alice, rights=rights)
    return alice


def conversation(sandbox: Any, *, refused: type[Exception] = lf.errors.RequestError) -> list[Turn]:
    """What goes over the wire when every loader and every call is used once in each way they have.

    Args:
        sandbox: answers.
        refused: how a call may end.
    """
    alice = admit(sandbox)
    calls = [lf.plan, *loaders(sandbox), *every_argument(sandbox, alice), *moves(sandbox, alice)]
    newer = {"record_time": "9999-01-01", "migration_id": sandbox.world.updates[-1].migration_id}
    match = {"owner_party_ids": [alice], "record_time_match": "at_or_before"}
    turns = record(sandbox, calls, refused=refused)
    for hidden, call in {
        SUMMARY: lambda net: lf.load_holdings_summary(net, [alice], **newer),
        SUMMARY_OF_SCAN: lambda net: net.scan.holdings_summary(**newer, **match),
    }.items():
        turns += record(sandbox, [call], hidden=hidden, refused=refused)
    return turns


def short_conversation(sandbox: Any) -> list[Turn]:
    """The same for what differs from release to release; an older one lacks some routes."""
    calls = [lambda net: net.scan.earliest_available_round(), *loaders(sandbox)]
    return record(sandbox, calls, refused=lf.LedgerframesError)


def record(
    sandbox: Any, calls: Iterable[Call], *, hidden: str = "", refused: type[Exception] = lf.errors.RequestError
) -> list[Turn]:
    """What goes over the wire in these calls; refusals are answers, too."""
    bases = {name: getattr(sandbox, f"{name}_url") for name in ("scan", "validator", "registry", "ledger")}

    token = sandbox.token(USER)
    recorder = Recorder(bases, hidden)
    with lf.connect(**{f"{name}_url": base for name, base in bases.items()}, token=token, transport=recorder) as net:
        for call in calls:
            with suppress(refused):
                call(net)
    return recorder.turns


def loaders(sandbox: Any) -> Iterator[Call]:
    """Every loader of the package, and a download."""
    world = World(lf.connect(scan_url=sandbox.scan_url), sandbox)
    snapshot = {"record_time": "9999-01-01", "migration_id": sandbox.world.updates[-1].migration_id}
    half = next(one["update_id"] for one in sandbox.world.items() if "event" in one)
    for name in NAMES:
        yield lambda net, name=name: load(name, net, world, page_size=40)
    for one in (half, "1220ab"):
        yield lambda net, one=one: lf.load_update(net, one)
        yield lambda net, one=one: lf.load_ledger_transaction(net, one)
    yield lambda net: lf.load_update(net, hash=world.hash)
    yield lambda net: lf.load_reassignments(net, last="1h")
    yield lambda net: lf.load_holdings_summary(net, world.parties, **snapshot, match="exact")
    yield lambda net: lf.load_instruments(net, ids=["Amulet"])
    yield lambda net: lf.load_active_contracts(net, templates=[COIN], parties=world.parties, page_size=7)
    yield lambda net: lf.snapshot_times(net, limit=2)
    yield lambda net: list(net.scan.iter_validator_licenses(limit=20))
    yield lambda net: net.scan.event_by_id(net.scan.events(page_size=9).page_index.update_ids[8])
    yield lambda net: net.scan.object_checksums([key_of(first_object(net)), "none~none/none.zstd"])


def first_object(net: lf.types.Network) -> str:
    """The first object of the history, downloaded; its address."""
    refs = net.scan.update_objects(after="2020-01-01", up_to="2030-01-01").object_refs
    with tempfile.TemporaryDirectory() as folder:
        net.scan.download_object(refs[0], f"{folder}/first")
    return refs[0].url


def moves(sandbox: Any, alice: str) -> Iterator[Call]:
    """A contract of a command's goes to another synchronizer and back."""
    here, there = sandbox.world.synchronizers[:2]
    iou = {"issuer": alice, "owner": alice, "currency": "USD", "amount": "7.5"}
    create = lf.commands.CreateCommand(template_id=IOU, create_arguments=iou)
    anyone = lf.commands.EventFormat(filters_for_any_party=lf.commands.Filters([lf.commands.WildcardFilter()]))

    def move(net: lf.types.Network) -> None:
        submit, settle = net.ledger.submit_and_wait_for_transaction_tree, net.ledger.submit_and_wait_for_reassignment
        tree = submit([create], command_id="m-0", act_as=[alice], synchronizer_id=here).item
        contract = tree.events_by_id["0"].contract_id or ""
        leave = lf.commands.UnassignCommand(contract_id=contract, source=here, target=there)
        left = settle([leave], command_id="m-1", submitter=alice, event_format=anyone).item.events[0]
        arrive = lf.commands.AssignCommand(reassignment_id=left.reassignment_id or "", source=here, target=there)
        net.ledger.submit_reassignment([arrive], command_id="m-2", submitter=alice)
        back = lf.commands.UnassignCommand(contract_id=contract, source=there, target=here)
        settle([back], command_id="m-3", submitter=alice)

    yield from (move, move)  # the second time under ids that have been carried out
