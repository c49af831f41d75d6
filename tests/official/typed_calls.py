"""Every typed call of the client, as it has to be and with each form of each argument; tests and the fuzz call it."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from operator import attrgetter
from typing import Any, Final

import ledgerframes as lf
from docs import endpoints
from docs.endpoints import Served
from ledgerframes import commands as sent
from ledgerframes.interfaces.event_formats import SHAPES
from ledgerframes.interfaces.ledger import Ledger
from ledgerframes.interfaces.registry import Registry
from ledgerframes.interfaces.scan import Scan
from ledgerframes.interfaces.validator import Validator
from tests.sandbox.dars import dar

EVERY: Final = (*endpoints.CALLS, *endpoints.NEIGHBOURS)
IOU, COIN = "#iou-app:Iou:Iou", "splice-amulet:Splice.Amulet:Amulet"
HOLDING: Final = "#splice-api-token-holding-v1:Splice.Api.Token.HoldingV1:Holding"
FILTERS: Final = sent.Filters(
    [
        sent.TemplateFilter(IOU, include_created_event_blob=True),
        sent.InterfaceFilter(HOLDING, include_interface_view=True, include_created_event_blob=True),
        sent.WildcardFilter(include_created_event_blob=True),
        sent.EmptyFilter(),
    ]
)


@dataclass(frozen=True)
class Known:
    """What a server knows, as calls name it; by default it is nothing that one has."""

    party: str = "alice::1"
    synchronizers: tuple[str, ...] = ("global::1", "b::1")
    migration_id: int = 0
    record_time: str = "2026-01-01"
    update_id: str = "ab"
    hash: str = "ab"
    iou: str = "00"
    rules: str = "00"

    @classmethod
    def of(cls, sandbox: Any, party: str) -> Known:
        """What a sandbox knows."""
        world = sandbox.world
        newest = world.updates[-1].migration_id
        return cls(
            party, tuple(world.synchronizers), newest, sandbox.snapshots(newest)[-1], world.updates[0].update_id,
            next(one.external_hash for one in world.updates if one.external_hash),
            next(one.contract_id for one in world.contracts.active.values() if one.template.entity == "Iou:Iou"),
            world.rules["Splice.Ans:AnsRules"].contract_id,
        )  # fmt: skip


@cache
def forms(known: Known) -> dict[str, list[Any]]:
    """The forms of every argument; the first is the one that goes with the forms of others."""
    party, (here, there, *_) = known.party, known.synchronizers
    shown = sent.EventFormat(filters_by_party={party: FILTERS}, filters_for_any_party=FILTERS, verbose=True)
    iou = {"issuer": party, "owner": party, "currency": "USD", "amount": "7.5", "observers": [], "reference": None}
    asked = {"choice": "Iou_GetBalance", "choice_argument": {"viewer": party}}
    moves = [
        [sent.UnassignCommand(contract_id=known.iou, source=here, target=there)],
        [sent.AssignCommand(reassignment_id="00", source=here, target=there)],
        [sent.EmptyCommand()],
    ]
    blob = {"created_event_blob": "AA==", "synchronizer_id": here, "debug_payload": {"a": 1}}
    rights = [
        *(kind(party) for kind in (sent.CanActAs, sent.CanExecuteAs, sent.CanReadAs)),
        *(sent.CanExecuteAsAnyParty(), sent.CanReadAsAnyParty(), sent.CanActAsAnyParty()),
        *(sent.IdentityProviderAdmin(), sent.ParticipantAdmin()),
    ]
    nora = sent.User(
        id="nora", primary_party=party, is_deactivated=False, identity_provider_id="",
        metadata=sent.ObjectMeta(resource_version="", annotations={"a": "b"}), primary_party_authentication=False,
    )  # fmt: skip
    leg = {"transferLeg": {"instrumentId": {"id": "Amulet"}}}
    return {
        **{name: [party] for name in ("party", "provider", "submitter")},
        **{name: [[party]] for name in ("act_as", "read_as", "requesting_parties", "parties")},
        **{name: [[party, "nobody::1220"]] for name in ("owners", "owner_party_ids", "validators")},
        **{name: ["x"] for name in ("workflow_id", "submission_id", "command_id")},
        **{name: [here] for name in ("synchronizer", "synchronizer_id", "cached_domain_id")},
        "after": ["2020-01-01"],
        "as_of_round": [7],
        "at": ["9999-01-01"],
        "at_offset": [40],
        "before": ["2999-01-01", "2000-01-01"],
        "begin_exclusive": [3],
        "cached_contract_id": [known.rules],
        "choice_arguments": [{"allocation": leg, "extraArgs": {"context": {}, "meta": {}}}],
        "commands": [
            [sent.CreateCommand(template_id=IOU, create_arguments=iou)],
            [sent.CreateAndExerciseCommand(template_id=IOU, create_arguments=iou, **asked)],
            [sent.ExerciseCommand(template_id=IOU, contract_id=known.iou, **asked)],
            [sent.ExerciseByKeyCommand(template_id=IOU, contract_key="k", **asked)],
        ],
        "dar": [dar(), b"nonsense"],
        "deduplication_period": [
            *(sent.DeduplicationDuration(60, 5), sent.DeduplicationOffset(0), sent.EmptyDeduplication())
        ],
        "descending": [True],
        "disclosed_contracts": [[sent.DisclosedContract(template_id=IOU, contract_id="00", **blob)]],
        "end_inclusive": [9],
        "event_format": [shown, sent.EventFormat(filters_by_party={party: FILTERS})],
        "exclude_debug_fields": [True],
        "hash": [known.hash, "00"],
        "instrument_id": ["Amulet", "nonesuch"],
        "keys": [["2026-01-01T00:00:00Z~2026-01-02T00:00:00Z/updates_compact_json_0.zstd"]],
        "limit": [2],
        "member": ["PAR::nobody::1220"],
        "migration_id": [known.migration_id],
        "min_ledger_time_abs": ["2020-01-01"],
        "min_ledger_time_rel": [sent.Duration(1, 2)],
        "name": ["dso.cns"],
        "package_id_selection_preference": [["ab"]],
        "page_size": [3],
        "page_token": ["Q09JTg=="],
        "prefetch_contract_keys": [[sent.PrefetchContractKey(template_id=IOU, contract_key={"a": 1}, limit=1)]],
        "prefix": ["a"],
        "record_time": [known.record_time],
        "record_time_match": ["at_or_before"],
        "requests": [["nothing"]],
        "rights": [rights, [sent.EmptyRight()]],
        "route": ["v0", "v1", "v2"],
        "taps_max_passes": [3],
        "templates": [[COIN]],
        "transaction_format": [sent.TransactionFormat(event_format=shown, transaction_shape=one) for one in SHAPES],
        "up_to": ["2030-01-01"],
        "update_id": [known.update_id],
        "user": [nora],
        "user_id": ["all_of_alice"],
        "value_encoding": ["compact_json", "protobuf_json"],
        "vet_all_packages": [True, False],
        # Where a call takes another kind of the same name.
        **{f"ledger.{name}.commands": moves for name in ("submit_reassignment", "submit_and_wait_for_reassignment")},
        **{name: [(0, "2025-03-03T09:00:05Z")] for name in ("scan.updates.after", "scan.events.after")},
        "scan.updates.page_size": [3, 2_000],
        "scan.validator_licenses.after": [5],
        **{name: [3, "Mw=="] for name in ("scan.active_contracts.after", "scan.coins.after")},
        "scan.vote_results.page_token": [3],
        "scan.update_objects.page_token": ["9"],
    }


def arguments(served: Served, known: Known) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """The arguments without which a call is not valid, and the forms of each that it takes."""
    interface, _, name = served.call.partition(".")
    kind = {one.interface: one for one in (Scan, Validator, Registry, Ledger)}[interface]
    (_, *parameters) = inspect.signature(getattr(kind, name)).parameters.values()
    table = forms(known)
    taken = {one.name: table.get(f"{served.call}.{one.name}") or table[one.name] for one in parameters}
    return {one.name: taken[one.name][0] for one in parameters if one.default is one.empty}, taken


def needed(served: Served) -> dict[str, Any]:
    """The arguments without which a call is not valid."""
    return arguments(served, Known())[0]


def make(served: Served, net: lf.types.Network) -> Any:
    """Make a call and decode what its answer leaves undecoded; its answer."""
    answer = attrgetter(served.call)(net)(**needed(served))
    _ = getattr(answer, "items", None), getattr(answer, "item", None)
    return answer


#: But for one: what it reads hangs together in ways that no file states.
CALLS: Final[dict[str, Callable[[lf.types.Network], Any]]] = {
    one.call: partial(make, one) for one in EVERY if one.call != "scan.events"
}


def every_argument(known: Known) -> Iterator[Callable[[lf.types.Network], Any]]:
    """Every call as it needs to be, then with each form of each of its arguments; commands each under an id."""
    numbers = itertools.count()
    for served in EVERY:
        least, taken = arguments(served, known)
        for changed in ({}, *({name: one} for name, given in taken.items() for one in given)):
            given = least | changed | ({"command_id": f"c-{next(numbers)}"} if "command_id" in least else {})
            yield lambda net, call=served.call, given=given: attrgetter(call)(net)(**given)
