"""All 20 endpoints of the contract with the call that sends each; the README's table and tests are made from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ledgerframes.interfaces import ledger, registry, scan, validator
from ledgerframes.transport import Endpoint


@dataclass(frozen=True)
class Served:
    """An endpoint, the call that sends it, and whether the sandbox serves it yet."""

    endpoint: Endpoint
    call: str
    in_sandbox: bool

    @property
    def name(self) -> str:
        """Method and path, as tables name their endpoints."""
        return f"{self.endpoint.method} {self.endpoint.path}"


CALLS: Final = (
    Served(ledger.SUBMIT_REASSIGNMENT, "ledger.submit_reassignment", in_sandbox=True),
    Served(ledger.SUBMIT_AND_WAIT_FOR_REASSIGNMENT, "ledger.submit_and_wait_for_reassignment", in_sandbox=True),
    Served(ledger.SUBMIT_AND_WAIT_FOR_TREE, "ledger.submit_and_wait_for_transaction_tree", in_sandbox=True),
    Served(ledger.TRANSACTION_BY_ID, "ledger.transaction_by_id", in_sandbox=True),
    Served(ledger.LIST_USERS, "ledger.list_users", in_sandbox=True),
    Served(ledger.CREATE_USER, "ledger.create_user", in_sandbox=True),
    Served(ledger.UPLOAD_PACKAGE, "ledger.upload_package", in_sandbox=True),
    Served(ledger.VALIDATE_DAR, "ledger.validate_dar", in_sandbox=True),
    Served(scan.UPDATE_BY_ID, "scan.update_by_id", in_sandbox=True),
    Served(scan.UPDATES, "scan.updates", in_sandbox=True),
    Served(scan.UPDATE_BY_HASH, "scan.update_by_hash", in_sandbox=True),
    Served(scan.ANS_RULES, "scan.ans_rules", in_sandbox=True),
    Served(scan.LICENSES, "scan.validator_licenses", in_sandbox=True),
    Served(scan.EARLIEST_ROUND, "scan.earliest_available_round", in_sandbox=True),
    Served(validator.HOLDINGS_SUMMARY, "validator.holdings_summary", in_sandbox=True),
    Served(validator.TRANSFER_OFFERS, "validator.transfer_offers", in_sandbox=True),
    Served(validator.NAME_ENTRIES, "validator.name_entries", in_sandbox=True),
    Served(validator.TRANSFER_PREAPPROVAL, "validator.transfer_preapproval", in_sandbox=True),
    Served(registry.INSTRUMENTS, "registry.instruments", in_sandbox=True),
    Served(registry.ALLOCATION_FACTORY, "registry.allocation_factory", in_sandbox=True),
)
