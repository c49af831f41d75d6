"""Every loader and call of the client against a sandbox, and what went over the wire; the tests beside call it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

import httpx

import ledgerframes as lf
from ledgerframes.config.settings import INTERFACES
from ledgerframes.interfaces.scan_objects import key_of
from ledgerframes.sandbox.world.parties import Right
from ledgerframes.sandbox.world.parties import User as Account
from tests.loaders.every_loader import NAMES, World, load
from tests.official.interface_files import Operation, operation
from tests.official.typed_calls import COIN, IOU, Known, every_argument
from tests.sandbox.asking import party_of

USER = "all_of_alice"
Call = Callable[[lf.types.Network], Any]
#: Makes the JSON that the client gets of an operation and of what was answered; None if that was a refusal.
Rewriting = Callable[[Operation, Any], bytes]


@dataclass(frozen=True)
class Turn:
    """A request and its answer.

    Attributes:
        path: below the interface's base, percent-encoded, without the query.
        described: what the official files have of it.
    """

    interface: str
    method: str
    path: str
    described: Operation | None
    query: dict[str, str]
    content_type: str
    sent: bytes
    status: int
    answered_type: str
    answer: bytes

    @property
    def endpoint(self) -> str:
        """Method and path as the official files write it, and else as it was sent."""
        return f"{self.method} {self.described.path if self.described else self.path}"


class Recorder(httpx.HTTPTransport):
    """Sends, and keeps what went over the wire.

    Args:
        bases: the base URLs by interface.
        hidden: how the path ends of a route that these servers are not to have.
        rewritten: makes the answers that the client gets; without it, it gets what was answered.
    """

    def __init__(self, bases: dict[str, str], hidden: str, rewritten: Rewriting | None) -> None:
        super().__init__(trust_env=False)
        self._bases, self._hidden, self._rewritten = bases, hidden, rewritten
        self.turns: list[Turn] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = str(request.url)
        if self._hidden and url.endswith(self._hidden):
            return httpx.Response(404, text="The requested resource could not be found.")
        received = super().handle_request(request)
        body = received.read()
        fitting = [(name, base) for name, base in self._bases.items() if url.startswith(base)]
        interface, base = max(fitting, key=lambda one: len(one[1]))
        path, _, query = url.removeprefix(base).partition("?")
        found = operation(interface, request.method, path)
        if self._rewritten and found:
            body = self._rewritten(found, json.loads(body) if received.status_code == 200 and body else None)
            received = httpx.Response(200, headers={"Content-Type": "application/json"})
        self.turns.append(
            Turn(
                interface, request.method, path, found,
                dict(parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))),
                request.headers.get("Content-Type", ""), request.content,
                received.status_code, received.headers.get("content-type", "").partition(";")[0], body,
            )
        )  # fmt: skip
        return httpx.Response(received.status_code, headers=received.headers, stream=httpx.ByteStream(body))


@contextmanager
def recorded(
    sandbox: Any, *, hidden: str = "", rewritten: Rewriting | None = None
) -> Iterator[tuple[lf.types.Network, list[Turn]]]:
    """A network of a sandbox, and what goes over the wire."""
    bases = {name: getattr(sandbox, f"{name}_url") for name in INTERFACES}
    recorder = Recorder(bases, hidden, rewritten)
    urls = {f"{name}_url": base for name, base in bases.items()}
    with lf.connect(**urls, token=sandbox.token(USER), transport=recorder) as net:
        yield net, recorder.turns


def record(
    sandbox: Any, calls: Iterable[Call], *, hidden: str = "", refused: type[Exception] = lf.errors.RequestError
) -> list[Turn]:
    """What goes over the wire in these calls; refusals are answers, too."""
    with recorded(sandbox, hidden=hidden) as (net, turns):
        for call in calls:
            with suppress(refused):
                call(net)
    return turns


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
    known = Known.of(sandbox, alice)
    place, parties = {"record_time": "9999-01-01", "migration_id": known.migration_id}, [alice]
    turns = record(sandbox, [*loaders(sandbox), *every_argument(known), *moves(known)], refused=refused)
    for hidden, call in {
        "/v0/scan-proxy/holdings/summary": lambda net: lf.load_holdings_summary(net, parties, **place),
        "/api/scan/v0/holdings/summary": lambda net: net.scan.holdings_summary(
            **place, owner_party_ids=parties, record_time_match="at_or_before"
        ),
    }.items():
        turns += record(sandbox, [call], hidden=hidden, refused=refused)
    return turns


def short_conversation(sandbox: Any) -> list[Turn]:
    """The same for what is asked by other routes from release to release; an older one lacks some."""
    world = World(lf.connect(scan_url=sandbox.scan_url), sandbox)
    names = ("update", "coins", "active_contracts", "ledger_contracts", "ledger_history")
    calls: list[Call] = [partial(load, f"load_{name}", world=world, page_size=40) for name in names]
    calls += [narrow(world), lambda net: net.scan.earliest_available_round()]
    return record(sandbox, calls, refused=lf.LedgerframesError)


def narrow(world: World) -> Call:
    """A snapshot of some templates and parties."""
    return partial(lf.load_active_contracts, templates=[COIN], parties=world.parties, page_size=7)


def loaders(sandbox: Any) -> Iterator[Call]:
    """Every loader of the package, a plan and a download."""
    world = World(lf.connect(scan_url=sandbox.scan_url), sandbox)
    snapshot = {"record_time": "9999-01-01", "migration_id": sandbox.world.updates[-1].migration_id}
    half = next(one["update_id"] for one in sandbox.world.items() if "event" in one)
    yield lf.plan
    # The frames of a history come of the same requests.
    for name in (one for one in NAMES if one not in ("load_updates", "load_events", "load_reassignments")):
        yield partial(load, name, world=world, page_size=40)
    for one in (half, "1220ab"):
        yield lambda net, one=one: lf.load_update(net, one)
        yield lambda net, one=one: lf.load_ledger_transaction(net, one)
    yield lambda net: lf.load_update(net, hash=world.hash)
    yield lambda net: lf.load_reassignments(net, last="1h")
    yield lambda net: lf.load_holdings_summary(net, world.parties, **snapshot, match="exact")
    yield lambda net: net.registry.instrument("Amulet")
    yield narrow(world)
    yield lambda net: lf.snapshot_times(net, limit=2)
    yield lambda net: net.scan.object_checksums([key_of(first_object(net)), "none~none/none.zstd"])


def first_object(net: lf.types.Network) -> str:
    """The first object of the history, downloaded; its address."""
    refs = net.scan.update_objects(after="2020-01-01", up_to="2030-01-01").object_refs
    with tempfile.TemporaryDirectory() as folder:
        net.scan.download_object(refs[0], f"{folder}/first")
    return refs[0].url


def moves(known: Known) -> Iterator[Call]:
    """A contract of a command's goes to another synchronizer and back."""
    alice, (here, there, *_) = known.party, known.synchronizers
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
