"""Every loader and call of the client against a sandbox, and what went over the wire; the tests beside call it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx

import ledgerframes as lf
from ledgerframes.interfaces.commands import (
    AssignCommand,
    CreateAndExerciseCommand,
    CreateCommand,
    DeduplicationDuration,
    DeduplicationOffset,
    DisclosedContract,
    Duration,
    EmptyCommand,
    EmptyDeduplication,
    ExerciseByKeyCommand,
    ExerciseCommand,
    PrefetchContractKey,
    UnassignCommand,
)
from ledgerframes.interfaces.event_formats import (
    SHAPES,
    EmptyFilter,
    EventFormat,
    Filters,
    InterfaceFilter,
    TemplateFilter,
    TransactionFormat,
    WildcardFilter,
)
from ledgerframes.interfaces.users import (
    CanActAs,
    CanActAsAnyParty,
    CanExecuteAs,
    CanExecuteAsAnyParty,
    CanReadAs,
    CanReadAsAnyParty,
    EmptyRight,
    IdentityProviderAdmin,
    ObjectMeta,
    ParticipantAdmin,
    User,
)
from ledgerframes.sandbox.world.parties import Right
from ledgerframes.sandbox.world.parties import User as Account
from tests.official.scan_conversations import SUMMARY_OF_SCAN, neighbours, summary_of_scan
from tests.sandbox.asking import party_of
from tests.sandbox.dars import dar

USER = "all_of_alice"
SUMMARY = "/v0/scan-proxy/holdings/summary"

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
        interface, base = self.place(str(request.url))
        self.turns.append(
            Turn(
                interface, request.method, url.path.removeprefix(urlsplit(base).path),
                dict(parse_qsl(url.query, keep_blank_values=True, strict_parsing=bool(url.query))),
                request.headers.get("Content-Type", ""), request.content,
                received.status_code, received.headers.get("content-type", "").partition(";")[0], body,
            )
        )  # fmt: skip
        return httpx.Response(received.status_code, headers=received.headers, stream=httpx.ByteStream(body))

    def place(self, url: str) -> tuple[str, str]:
        """The interface with the longest base that the URL begins with."""
        fitting = [(name, base) for name, base in self._bases.items() if url.startswith(base)]
        return max(fitting, key=lambda one: len(one[1]))


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
    calls = [
        lf.plan,
        *loaders(sandbox, alice),
        *neighbours(sandbox, alice),
        *reads(sandbox, alice),
        *commands(sandbox, alice),
    ]
    newer = {"record_time": "9999-01-01", "migration_id": sandbox.world.updates[-1].migration_id}
    return [
        *record(sandbox, calls, refused=refused),
        *record(
            sandbox, [lambda net: lf.load_holdings_summary(net, [alice], **newer)], hidden=SUMMARY, refused=refused
        ),
        *record(sandbox, [lambda net: summary_of_scan(net, alice, newer)], hidden=SUMMARY_OF_SCAN, refused=refused),
    ]


def short_conversation(sandbox: Any) -> list[Turn]:
    """The same for what differs from release to release."""
    update = sandbox.world.updates[0].update_id
    half = next(one["update_id"] for one in sandbox.world.items() if "event" in one)
    calls: list[Call] = [
        lambda net: net.scan.earliest_available_round(),
        *neighbours(sandbox, party_of(sandbox, "alice")),
    ]
    for one in (update, half):
        calls += [
            lambda net, one=one: lf.load_update(net, one),
            lambda net, one=one: lf.load_ledger_transaction(net, one),
        ]
    return record(sandbox, calls)


def record(
    sandbox: Any, calls: Iterable[Call], *, hidden: str = "", refused: type[Exception] = lf.errors.RequestError
) -> list[Turn]:
    """What goes over the wire in these calls; refusals are answers, too."""
    bases = {name: getattr(sandbox, f"{name}_url") for name in ("scan", "validator", "registry", "ledger")}

    token = sandbox.token(USER)
    settings = lf.connect(**{f"{name}_url": base for name, base in bases.items()}, token=token).settings
    recorder = Recorder(bases, hidden)
    with lf.types.Network(settings, transport=recorder) as net:
        for call in calls:
            with suppress(refused):
                call(net)
    return recorder.turns


def loaders(sandbox: Any, alice: str) -> Iterator[Call]:
    """Every loader of the package."""
    updates = sandbox.world.updates
    half = next(one["update_id"] for one in sandbox.world.items() if "event" in one)
    first, signed = updates[0].update_id, next(one.external_hash for one in updates if one.external_hash)
    views = ["#splice-api-token-holding-v1:Splice.Api.Token.HoldingV1:Holding"]
    snapshot = {"record_time": "9999-01-01", "migration_id": updates[-1].migration_id}
    yield lambda net: lf.load_history(net, limit=60, page_size=40)
    yield lambda net: lf.load_updates(net, start=(1, "2020-01-01"), limit=5)
    yield lambda net: lf.load_events(net, limit=1, page_size=1)
    yield lambda net: lf.load_reassignments(net, last="1h")
    for one in (first, half, "1220ab"):
        yield lambda net, one=one: lf.load_update(net, one)
        yield lambda net, one=one: lf.load_ledger_transaction(net, one)
        yield lambda net, one=one: lf.load_ledger_transaction(net, one, parties=[alice], interfaces=views)
    yield lambda net: lf.load_update(net, hash=signed)
    yield lambda net: lf.load_update(net, hash="00")
    yield lambda net: lf.load_licenses(net, personal=True, blobs=True)
    yield lambda net: lf.load_name_rules(net, blobs=True)
    yield lf.load_transfer_offers
    yield lambda net: lf.load_transfer_preapprovals(net, [alice, party_of(sandbox, "bob"), "nobody::1220"])
    yield lambda net: lf.load_holdings_summary(net, [alice], **snapshot)
    yield lambda net: lf.load_holdings_summary(net, [alice], **snapshot, match="exact")
    yield lambda net: lf.load_holdings_summary(net, [alice, "nobody::1220"], as_of_round=[3, 4])
    yield lf.load_instruments
    yield lambda net: lf.load_instruments(net, ids=["Amulet"])
    yield lambda net: net.registry.instrument("nonesuch")
    yield lambda net: net.registry.info()
    yield lambda net: lf.load_ledger_history(net, [alice], page_size=7, interfaces=views)
    yield lambda net: lf.load_ledger_history(net, None, start=3, end=9)
    yield lambda net: lf.load_ledger_contracts(net, [alice], page_size=5, interfaces=views)
    yield lambda net: lf.load_ledger_contracts(net, None, at=40)
    yield lambda net: net.ledger.updates_page(descending=True, page_size=3)
    yield lf.load_name_entries
    yield lf.load_users
    yield lambda net: net.scan.earliest_available_round()


def reads(sandbox: Any, alice: str) -> Iterator[Call]:
    """The calls that change nothing, with every argument."""
    update = sandbox.world.updates[0].update_id
    rules = sandbox.world.rules["Splice.Ans:AnsRules"]
    for encoding in ("compact_json", "protobuf_json"):
        yield lambda net, encoding=encoding: net.scan.update_by_id(update, value_encoding=encoding)
        yield lambda net, encoding=encoding: net.scan.update_by_hash("00", value_encoding=encoding)
        yield lambda net, encoding=encoding: net.scan.updates(
            after=(0, "2020-01-01"), page_size=3, value_encoding=encoding
        )
    yield lambda net: net.scan.ans_rules(cached_contract_id=rules.contract_id, cached_domain_id=rules.synchronizer_id)
    yield lambda net: net.scan.validator_licenses(after=5, limit=2)
    yield lambda net: list(net.scan.iter_validator_licenses(limit=20))
    yield lambda net: net.scan.updates(page_size=2_000)
    for wanted in formats(alice):
        yield lambda net, wanted=wanted: net.ledger.transaction_by_id(update, transaction_format=wanted)
        yield lambda net, wanted=wanted: net.ledger.update_by_id(update, transaction_format=wanted)
    yield lambda net: net.ledger.update_by_hash("00", requesting_parties=[alice])
    yield lambda net: net.ledger.completion_by_hash("00")
    yield lambda net: net.ledger.list_users(page_size=2, page_token="")
    yield lambda net: list(net.ledger.iter_users(page_size=3))
    yield lambda net: net.registry.instruments(page_size=1, page_token="Q09JTg==")
    yield lambda net: list(net.registry.iter_instruments(page_size=1))
    leg = {"allocation": {"transferLeg": {"instrumentId": {"id": "Amulet"}}}}
    for extra in (False, True):
        arguments = {**leg, "extraArgs": {"context": {}, "meta": {}}}
        yield lambda net, arguments=arguments, extra=extra: net.registry.allocation_factory(
            arguments, exclude_debug_fields=extra
        )
    newest = {"record_time": "9999-01-01", "migration_id": sandbox.world.updates[-1].migration_id}
    summary = {**newest, "owner_party_ids": [alice], "record_time_match": "at_or_before", "as_of_round": 7}
    yield lambda net: net.validator.holdings_summary(**summary)


def formats(alice: str) -> Iterator[TransactionFormat]:
    """Every shape and every filter."""
    filters = (
        TemplateFilter("#iou-app:Iou:Iou", include_created_event_blob=True),
        InterfaceFilter(
            "#splice-api-token-holding-v1:Splice.Api.Token.HoldingV1:Holding",
            include_interface_view=True,
            include_created_event_blob=True,
        ),
        WildcardFilter(include_created_event_blob=True),
        EmptyFilter(),
    )
    for shape in SHAPES:
        shown = EventFormat(filters_by_party={alice: Filters(filters)}, filters_for_any_party=Filters(), verbose=True)
        yield TransactionFormat(event_format=shown, transaction_shape=shape)


def commands(sandbox: Any, alice: str) -> Iterator[Call]:
    """The calls that change something, each carried out where the sandbox can, and with every argument."""
    iou = {"issuer": alice, "owner": alice, "currency": "USD", "amount": "7.5", "observers": [], "reference": None}
    template, seen = "#iou-app:Iou:Iou", {"viewer": alice}
    create = CreateCommand(template_id=template, create_arguments=iou)
    both = CreateAndExerciseCommand(
        template_id=template, create_arguments=iou, choice="Iou_GetBalance", choice_argument=seen
    )
    submit = attrgetter("ledger.submit_and_wait_for_transaction_tree")
    settle = attrgetter("ledger.submit_and_wait_for_reassignment")
    here, there = sandbox.world.synchronizers[:2]
    made: list[str] = []

    def make(net: lf.types.Network) -> None:
        tree = submit(net)([create, both], command_id="first", act_as=[alice], user_id=USER, synchronizer_id=here).item
        made.append(tree.events_by_id["0"].contract_id or "")

    yield make
    periods = (DeduplicationDuration(60, 5), DeduplicationOffset(0), EmptyDeduplication())
    for number, period in enumerate(periods):
        yield lambda net, number=number, period=period: submit(net)(
            [
                ExerciseCommand(
                    template_id=template, contract_id=made[0], choice="Iou_GetBalance", choice_argument=seen
                )
            ],
            command_id=f"c-{number}", act_as=[alice], read_as=[alice], workflow_id="w", submission_id=f"s-{number}",
            deduplication_period=period, min_ledger_time_abs="2020-01-01", taps_max_passes=3,
            package_id_selection_preference=["ab"],
            prefetch_contract_keys=[PrefetchContractKey(template_id=template, contract_key={"a": 1}, limit=1)],
        )  # fmt: skip
    yield lambda net: submit(net)(
        [ExerciseByKeyCommand(template_id=template, contract_key="k", choice="Archive", choice_argument={})],
        command_id="by key", act_as=[alice], min_ledger_time_rel=Duration(1, 2),
        disclosed_contracts=[
            DisclosedContract(
                template_id=template, contract_id="00", created_event_blob="AA==", synchronizer_id=here,
                debug_payload={"a": 1},
            )
        ],
    )  # fmt: skip
    yield lambda net: submit(net)([create], command_id="first", act_as=[alice], user_id=USER, synchronizer_id=here)
    anyone = EventFormat(filters_for_any_party=Filters([WildcardFilter()]), verbose=True)

    def move(net: lf.types.Network) -> None:
        leave = UnassignCommand(contract_id=made[0], source=here, target=there)
        whole = {"user_id": USER, "workflow_id": "w", "submission_id": "s"}
        left = settle(net)([leave], command_id="m-1", submitter=alice, event_format=anyone, **whole)
        arrive = AssignCommand(reassignment_id=left.item.events[0].reassignment_id or "", source=here, target=there)
        net.ledger.submit_reassignment([arrive], command_id="m-2", submitter=alice)
        settle(net)(
            [UnassignCommand(contract_id=made[0], source=there, target=here)], command_id="m-3", submitter=alice
        )

    yield move
    yield lambda net: settle(net)([EmptyCommand()], command_id="m-4", submitter=alice)
    rights = (
        *(CanActAs(alice), CanExecuteAs(alice), CanExecuteAsAnyParty(), CanReadAs(alice), CanReadAsAnyParty()),
        *(CanActAsAnyParty(), IdentityProviderAdmin(), ParticipantAdmin(), EmptyRight()),
    )
    nora = User(
        id="nora", primary_party=alice, is_deactivated=False,
        metadata=ObjectMeta(resource_version="", annotations={"a": "b"}),
        identity_provider_id="", primary_party_authentication=False,
    )  # fmt: skip
    yield lambda net: net.ledger.create_user(nora, rights=rights[:-1])
    yield lambda net: net.ledger.create_user(nora, rights=rights)
    yield lambda net: net.ledger.create_user(User(id="nora"))
    for vet in (True, False):
        yield lambda net, vet=vet: net.ledger.upload_package(dar(), vet_all_packages=vet, synchronizer_id=here)
    yield lambda net: net.ledger.upload_package(b"nonsense")
    yield lambda net: net.ledger.validate_dar(dar(), synchronizer_id=here)
