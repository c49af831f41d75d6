"""The scan interface in the OpenAPI document (contract: Scan interface; Resources, Scan update history items)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ledgerframes.sandbox.http.openapi.refusals import refusals, with_unknown_route
from ledgerframes.sandbox.http.openapi.shapes import (
    JSON,
    Operation,
    Schema,
    anything,
    boolean,
    found,
    in_path,
    in_query,
    integer,
    listing,
    mapping,
    nullable,
    record,
    ref,
    text,
    time,
)

_ENCODING: Final = text("How values are written; compact where it is left out.", enum=["compact_json", "protobuf_json"])
_ENCODED: Final = in_query("daml_value_encoding", _ENCODING)
_PARTIES: Final = listing(text("A party id."))

_MOVE: Final = {
    "submitter": text("A party id."),
    "source_synchronizer": text(),
    "target_synchronizer": text(),
    "migration_id": integer(64, "Of the synchronizer where this half was sequenced."),
    "unassign_id": text("Common to both halves."),
    "reassignment_counter": integer(64, "Common to both halves; a creation counts as 0."),
}

SHAPES: Final[Mapping[str, Schema]] = MappingProxyType(
    {
        "Contract": record(
            "A contract as scan and validator send it.",
            needs={
                "template_id": text(),
                "contract_id": text(),
                "payload": {"type": "object"},
                "created_event_blob": text(),
                "created_at": text("ISO 8601, with up to nine fractional digits."),
            },
        ),
        "CreatedEvent": record(
            "A creation.",
            needs={
                "event_type": text(const="created_event"),
                "event_id": text(),
                "contract_id": text(),
                "template_id": text(),
                "package_name": text(),
                "create_arguments": anything("The contract's payload."),
                "created_at": text(),
                "signatories": _PARTIES,
                "observers": _PARTIES,
            },
        ),
        "ExercisedEvent": record(
            "An exercise of a choice.",
            needs={
                "event_type": text(const="exercised_event"),
                "event_id": text(),
                "contract_id": text(),
                "template_id": text(),
                "package_name": text(),
                "choice": text(),
                "choice_argument": anything(),
                "child_event_ids": listing(text()),
                "exercise_result": anything(),
                "consuming": boolean("It ends the contract."),
                "acting_parties": _PARTIES,
            },
            may={"interface_id": nullable(text())},
        ),
        "UnknownEvent": record(
            "An event of a kind that is not described here; readers should be ready for it.",
            needs={"event_type": {"type": "string", "not": {"enum": ["created_event", "exercised_event"]}}},
            may={"child_event_ids": listing(text())},
        ),
        "Transaction": record(
            "A transaction; events are reached from the roots.",
            needs={
                "update_id": text(),
                "migration_id": integer(64),
                "workflow_id": text("Empty for none."),
                "record_time": time("With six fractional digits."),
                "synchronizer_id": text(),
                "effective_at": text(),
                "root_event_ids": listing(text()),
                "events_by_id": mapping({"oneOf": [ref("CreatedEvent"), ref("ExercisedEvent"), ref("UnknownEvent")]}),
            },
            may={
                "external_transaction_hash": nullable(text("What an external party signed.")),
                "offset": text("In the v1 form only; the same for all."),
            },
        ),
        "Reassignment": record(
            "One half of a reassignment.",
            needs={
                "update_id": text(),
                "offset": text("The same for all."),
                "record_time": time("With six fractional digits."),
                "event": {"oneOf": [ref("Assignment"), ref("Unassignment")]},
            },
        ),
        "Assignment": record(needs={**_MOVE, "created_event": ref("CreatedEvent")}),
        "Unassignment": record(needs={**_MOVE, "contract_id": text()}),
        "Update": {"oneOf": [ref("Transaction"), ref("Reassignment")]},
    }
)

_PAGE: Final = record(
    needs={"page_size": integer(32, "At most so many updates; the server has a maximum.", minimum=1, maximum=1_000)},
    may={
        "after": nullable(
            record(
                "Updates of this migration after this time, and all of later migrations.",
                needs={"after_migration_id": integer(64), "after_record_time": time()},
            )
        ),
        "daml_value_encoding": nullable(_ENCODING),
    },
)
_CACHED: Final = record(
    needs={},
    may={
        "cached_ans_rules_contract_id": anything("The contract is left out if this and the next are still right."),
        "cached_ans_rules_domain_id": anything(),
    },
)
_RULES: Final = record(
    needs={"ans_rules_update": record(needs={}, may={"contract": ref("Contract"), "domain_id": text()})}
)
_LICENSES: Final = record(
    needs={
        "validator_licenses": listing(ref("Contract")),
        "next_page_token": nullable(integer(64, "Null where nothing follows.")),
    }
)
_ROUND: Final = record(needs={"earliest_round": integer(64)})
_LOOKED_UP: Final = with_unknown_route({**found(ref("Update")), **refusals(400, 404)})
_EARLIEST: Final = {**found(_ROUND), **refusals(404)}

OPERATIONS: Final = (
    Operation(
        "POST",
        "/v2/updates",
        "A page of the update history, the oldest first.",
        {**found(record(needs={"transactions": listing(ref("Update"))})), **refusals(400)},
        body={JSON: _PAGE},
    ),
    Operation(
        "GET",
        "/v2/updates/hash/{hash}",
        "The update whose prepared transaction has this hash.",
        _LOOKED_UP,
        (in_path("hash", "What the external party signed."), _ENCODED),
    ),
    Operation(
        "GET", "/v1/updates/{update_id}", "An update by id.", _LOOKED_UP, (in_path("update_id", "Its id."), _ENCODED)
    ),
    Operation(
        "GET", "/v2/updates/{update_id}", "An update by id.", _LOOKED_UP, (in_path("update_id", "Its id."), _ENCODED)
    ),
    Operation(
        "POST",
        "/v0/ans-rules",
        "The rules of the name service.",
        {**found(_RULES), **refusals(400, 404)},
        body={JSON: _CACHED},
    ),
    Operation(
        "GET",
        "/v0/admin/validator/licenses",
        "A page of validator licenses, the newest first; it may be shorter than asked for though more follow.",
        {**found(_LICENSES), **refusals(400)},
        (
            in_query("after", integer(64, "The token of the page before.")),
            in_query("limit", integer(32, minimum=1, maximum=1_000)),
        ),
    ),
    Operation(
        "GET",
        "/v0/internal/reward-accounting-process/rounds/earliest-available",
        "The earliest round with complete reward records.",
        _EARLIEST,
    ),
    Operation(
        "GET",
        "/v0/reward-accounting-process/rounds/earliest-available",
        "The same where an older release has it.",
        _EARLIEST,
    ),
)
