"""Every call of the client, as it needs to be and with each form of each argument; the conversations make them."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any, Final

import ledgerframes as lf
from ledgerframes import commands as sent
from ledgerframes.interfaces.catalogue import CALLS, NEIGHBOURS
from ledgerframes.interfaces.event_formats import SHAPES
from tests.official.typed_calls import ARGUMENTS
from tests.sandbox.dars import dar

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
#: Forms of arguments that mean the same in every sandbox; the first is the one that goes with the forms of others.
FORMS: Final[dict[str, list[Any]]] = {
    "after": ["2020-01-01"],
    "as_of_round": [7],
    "at": ["9999-01-01"],
    "at_offset": [40],
    "before": ["2999-01-01", "2000-01-01"],
    "begin_exclusive": [3],
    "choice_arguments": [
        {"allocation": {"transferLeg": {"instrumentId": {"id": "Amulet"}}}, "extraArgs": {"context": {}, "meta": {}}}
    ],
    "dar": [dar(), b"nonsense"],
    "deduplication_period": [sent.DeduplicationDuration(60, 5), sent.DeduplicationOffset(0), sent.EmptyDeduplication()],
    "descending": [True],
    "end_inclusive": [9],
    "exclude_debug_fields": [True],
    "instrument_id": ["Amulet", "nonesuch"],
    "limit": [2],
    "min_ledger_time_abs": ["2020-01-01"],
    "min_ledger_time_rel": [sent.Duration(1, 2)],
    "name": ["dso.cns"],
    "package_id_selection_preference": [["ab"]],
    "page_size": [3],
    "page_token": ["Q09JTg=="],
    "prefetch_contract_keys": [[sent.PrefetchContractKey(template_id=IOU, contract_key={"a": 1}, limit=1)]],
    "prefix": ["a"],
    "record_time_match": ["at_or_before"],
    "requests": [["nothing"]],
    "route": ["v0", "v1", "v2"],
    "taps_max_passes": [3],
    "templates": [[COIN]],
    "up_to": ["2030-01-01"],
    "value_encoding": ["compact_json", "protobuf_json"],
    "vet_all_packages": [True, False],
    # Where a call takes another kind of the same name.
    **{name: [(0, "2025-03-03T09:00:05Z")] for name in ("scan.updates.after", "scan.events.after")},
    "scan.updates.page_size": [3, 2_000],
    "scan.validator_licenses.after": [5],
    **{name: [3, "Mw=="] for name in ("scan.active_contracts.after", "scan.coins.after")},
    "scan.vote_results.page_token": [3],
    "scan.update_objects.page_token": ["9"],
}


def forms_in(sandbox: Any, alice: str) -> dict[str, list[Any]]:
    """The forms of arguments that a sandbox knows something of."""
    world = sandbox.world
    here, there = world.synchronizers[:2]
    newest = world.updates[-1].migration_id
    rules = world.rules["Splice.Ans:AnsRules"]
    shown = sent.EventFormat(filters_by_party={alice: FILTERS}, filters_for_any_party=FILTERS, verbose=True)
    iou = {"issuer": alice, "owner": alice, "currency": "USD", "amount": "7.5", "observers": [], "reference": None}
    contract = next(one for one in world.contracts.active.values() if one.template.entity == "Iou:Iou")
    asked = {"choice": "Iou_GetBalance", "choice_argument": {"viewer": alice}}
    create = sent.CreateCommand(template_id=IOU, create_arguments=iou)
    moves = [
        [sent.UnassignCommand(contract_id=contract.contract_id, source=here, target=there)],
        [sent.AssignCommand(reassignment_id="00", source=here, target=there)],
        [sent.EmptyCommand()],
    ]
    blob = {"created_event_blob": "AA==", "synchronizer_id": here, "debug_payload": {"a": 1}}
    rights = [
        *(kind(alice) for kind in (sent.CanActAs, sent.CanExecuteAs, sent.CanReadAs)),
        *(sent.CanExecuteAsAnyParty(), sent.CanReadAsAnyParty(), sent.CanActAsAnyParty()),
        *(sent.IdentityProviderAdmin(), sent.ParticipantAdmin()),
    ]
    nora = sent.User(
        id="nora", primary_party=alice, is_deactivated=False, identity_provider_id="",
        metadata=sent.ObjectMeta(resource_version="", annotations={"a": "b"}), primary_party_authentication=False,
    )  # fmt: skip
    return {
        **{name: [one] for name, one in ARGUMENTS.items()},
        **FORMS,
        **{name: [alice] for name in ("party", "provider", "submitter")},
        **{name: [[alice]] for name in ("act_as", "read_as", "requesting_parties", "parties", "owner_party_ids")},
        **{name: ["x"] for name in ("workflow_id", "submission_id")},
        **{name: [here] for name in ("synchronizer", "synchronizer_id")},
        "cached_contract_id": [rules.contract_id],
        "cached_domain_id": [rules.synchronizer_id],
        "disclosed_contracts": [[sent.DisclosedContract(template_id=IOU, contract_id="00", **blob)]],
        "event_format": [shown, sent.EventFormat(filters_by_party={alice: FILTERS})],
        "hash": [next(one.external_hash for one in world.updates if one.external_hash), "00"],
        "member": ["PAR::nobody::1220"],
        "migration_id": [newest],
        "owners": [[alice, "nobody::1220"]],
        "record_time": [sandbox.snapshots(newest)[-1]],
        "rights": [rights, [sent.EmptyRight()]],
        "transaction_format": [sent.TransactionFormat(event_format=shown, transaction_shape=one) for one in SHAPES],
        "update_id": [world.updates[0].update_id],
        "user": [nora],
        "user_id": ["all_of_alice"],
        "ledger.submit_reassignment.commands": moves,
        "ledger.submit_and_wait_for_reassignment.commands": moves,
        "commands": [
            [create],
            [sent.CreateAndExerciseCommand(template_id=IOU, create_arguments=iou, **asked)],
            [sent.ExerciseCommand(template_id=IOU, contract_id=contract.contract_id, **asked)],
            [sent.ExerciseByKeyCommand(template_id=IOU, contract_key="k", **asked)],
        ],
    }


def every_argument(sandbox: Any, alice: str) -> Iterator[Callable[[lf.types.Network], Any]]:
    """Every call as it needs to be, then with each form of each of its arguments; commands each under an id."""
    forms, numbers = forms_in(sandbox, alice), itertools.count()
    kinds = lf.connect(**{f"{name}_url": "http://127.0.0.1:9" for name in ("scan", "validator", "registry", "ledger")})
    for served in (*CALLS, *NEIGHBOURS):
        parameters = inspect.signature(attrgetter(served.call)(kinds)).parameters.values()
        known = {one.name: forms.get(f"{served.call}.{one.name}") or forms[one.name] for one in parameters}
        needed = {one.name: known[one.name][0] for one in parameters if one.default is one.empty}
        for option, value in [(None, None), *((option, one) for option, given in known.items() for one in given)]:
            given = needed | ({option: value} if option else {})
            given |= {"command_id": f"c-{next(numbers)}"} if "command_id" in needed else {}
            yield lambda net, call=served.call, given=given: attrgetter(call)(net)(**given)
