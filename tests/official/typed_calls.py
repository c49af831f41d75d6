"""Every typed call of the client, each once; for answers of another making, as ids and parties are of no ledger."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import ledgerframes as lf
from ledgerframes.interfaces.commands import CreateCommand, UnassignCommand
from ledgerframes.interfaces.users import User

SNAPSHOT: Final[dict[str, Any]] = {"record_time": "2999-01-30T06:00:00Z", "migration_id": 4}
PARTIES: Final = ["alice::1220ab", "bob::1220cd"]
ARGUMENTS: Final[dict[str, Any]] = {"command_id": "c", "submitter": "alice::12"}
UNASSIGN: Final = UnassignCommand(contract_id="00c", source="a::12", target="b::12")
CALLS: dict[str, Callable[[lf.types.Network], Any]] = {
    "submit_reassignment": lambda net: net.ledger.submit_reassignment([UNASSIGN], **ARGUMENTS),
    "submit_and_wait_for_reassignment": lambda net: net.ledger.submit_and_wait_for_reassignment(
        [UNASSIGN], **ARGUMENTS
    ),
    "submit_and_wait_for_transaction_tree": lambda net: net.ledger.submit_and_wait_for_transaction_tree(
        [CreateCommand(template_id="p:M:E", create_arguments={})], command_id="c", act_as=["alice::12"]
    ),
    "transaction_by_id": lambda net: net.ledger.transaction_by_id("u"),
    "ledger_end": lambda net: net.ledger.ledger_end(),
    "updates_page": lambda net: [one.item for one in net.ledger.updates_page().updates],
    "active_contracts_page": lambda net: [one.created_event for one in net.ledger.active_contracts_page().contracts],
    "users": lambda net: list(net.ledger.iter_users()),
    "create_user": lambda net: net.ledger.create_user(User(id="u")),
    "upload_package": lambda net: net.ledger.upload_package(b"PK"),
    "validate_dar": lambda net: net.ledger.validate_dar(b"PK"),
    "update_by_id": lambda net: net.scan.update_by_id("u").item,
    "updates": lambda net: net.scan.updates().items,
    "update_by_hash": lambda net: net.scan.update_by_hash("ab").item,
    "ans_rules": lambda net: net.scan.ans_rules(),
    "licenses": lambda net: list(net.scan.iter_validator_licenses()),
    "earliest_available_round": lambda net: net.scan.earliest_available_round(),
    "holdings_summary": lambda net: net.validator.holdings_summary(owner_party_ids=PARTIES, **SNAPSHOT),
    "transfer_offers": lambda net: net.validator.transfer_offers(),
    "name_entries": lambda net: net.validator.name_entries(),
    "transfer_preapproval": lambda net: net.validator.transfer_preapproval(PARTIES[0]),
    "instruments": lambda net: list(net.registry.iter_instruments()),
    "instrument": lambda net: net.registry.instrument("Amulet"),
    "info": lambda net: net.registry.info(),
    "allocation_factory": lambda net: net.registry.allocation_factory({"extraArgs": {"context": {}, "meta": {}}}),
}
