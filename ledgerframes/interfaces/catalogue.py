"""All 20 endpoints of the contract with the call that sends each; the reference's table and tests are made from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ledgerframes.errors import InputError
from ledgerframes.interfaces import (
    ledger,
    ledger_pages,
    looking_up,
    page_source,
    registry,
    scan,
    scan_events,
    scan_now,
    scan_objects,
    scan_snapshots,
    validator,
)
from ledgerframes.tables.catalogue import CATALOGUE
from ledgerframes.transport import Endpoint

_MARKS: Final = ("<!-- endpoints -->", "<!-- /endpoints -->")


@dataclass(frozen=True)
class Served:
    """An endpoint and the call that sends it."""

    endpoint: Endpoint
    call: str

    @property
    def name(self) -> str:
        """Method and path, as tables name their endpoints."""
        return f"{self.endpoint.method} {self.endpoint.path}"


CALLS: Final = (
    Served(ledger.SUBMIT_REASSIGNMENT, "ledger.submit_reassignment"),
    Served(ledger.SUBMIT_AND_WAIT_FOR_REASSIGNMENT, "ledger.submit_and_wait_for_reassignment"),
    Served(ledger.SUBMIT_AND_WAIT_FOR_TREE, "ledger.submit_and_wait_for_transaction_tree"),
    Served(looking_up.TRANSACTION_BY_ID, "ledger.transaction_by_id"),
    Served(ledger.LIST_USERS, "ledger.list_users"),
    Served(ledger.CREATE_USER, "ledger.create_user"),
    Served(ledger.UPLOAD_PACKAGE, "ledger.upload_package"),
    Served(ledger.VALIDATE_DAR, "ledger.validate_dar"),
    Served(scan.UPDATE_BY_ID, "scan.update_by_id"),
    Served(page_source.UPDATES, "scan.updates"),
    Served(scan.UPDATE_BY_HASH, "scan.update_by_hash"),
    Served(scan.ANS_RULES, "scan.ans_rules"),
    Served(scan.LICENSES, "scan.validator_licenses"),
    Served(scan.EARLIEST_ROUND, "scan.earliest_available_round"),
    Served(validator.HOLDINGS_SUMMARY, "validator.holdings_summary"),
    Served(validator.TRANSFER_OFFERS, "validator.transfer_offers"),
    Served(validator.NAME_ENTRIES, "validator.name_entries"),
    Served(validator.TRANSFER_PREAPPROVAL, "validator.transfer_preapproval"),
    Served(registry.INSTRUMENTS, "registry.instruments"),
    Served(registry.ALLOCATION_FACTORY, "registry.allocation_factory"),
)

#: Further endpoints of the same servers, in addition to the contract's.
NEIGHBOURS: Final = (
    Served(scan_snapshots.SNAPSHOT_TIME, "scan.snapshot_time"),
    Served(scan_snapshots.ACTIVE_CONTRACTS, "scan.active_contracts"),
    Served(scan_snapshots.COINS, "scan.coins"),
    Served(scan_snapshots.HOLDINGS_SUMMARY, "scan.holdings_summary"),
    Served(page_source.EVENTS, "scan.events"),
    Served(scan_events.LATEST_RECORD_TIME, "scan.latest_event_record_time"),
    Served(scan_events.EVENT_BY_ID, "scan.event_by_id"),
    Served(scan_now.ROUNDS, "scan.open_and_issuing_rounds"),
    Served(scan_now.CLOSED_ROUNDS, "scan.closed_rounds"),
    Served(scan_now.TRAFFIC, "scan.traffic_status"),
    Served(scan_now.NAMES, "scan.ans_entries"),
    Served(scan_now.NAME_BY_PARTY, "scan.ans_entry_by_party"),
    Served(scan_now.NAME_BY_NAME, "scan.ans_entry_by_name"),
    Served(scan_now.FAUCETS, "scan.validator_faucets"),
    Served(scan_now.FEATURED_APPS, "scan.featured_apps"),
    Served(scan_now.FEATURED_APP, "scan.featured_app"),
    Served(scan_now.DSO, "scan.dso"),
    Served(scan_now.SCANS, "scan.scans"),
    Served(scan_now.VOTE_REQUESTS, "scan.vote_requests"),
    Served(scan_now.VOTE_REQUESTS_BY_ID, "scan.vote_requests_by_id"),
    Served(scan_now.VOTE_RESULTS, "scan.vote_results"),
    Served(scan_objects.UPDATE_OBJECTS, "scan.update_objects"),
    Served(scan_objects.SNAPSHOT_OBJECTS, "scan.snapshot_objects"),
    Served(looking_up.UPDATE_BY_ID, "ledger.update_by_id"),
    Served(looking_up.UPDATE_BY_HASH, "ledger.update_by_hash"),
    Served(looking_up.COMPLETION_BY_HASH, "ledger.completion_by_hash"),
    Served(ledger_pages.LEDGER_END, "ledger.ledger_end"),
    Served(ledger_pages.UPDATES_PAGE, "ledger.updates_page"),
    Served(ledger_pages.CONTRACTS_PAGE, "ledger.active_contracts_page"),
    Served(registry.INFO, "registry.info"),
    Served(registry.INSTRUMENT, "registry.instrument"),
)


def endpoints_text() -> str:
    """The reference's table of endpoints as Markdown: the contract's first."""
    lines = ["| endpoint | call | table |", "|---|---|---|"]
    for served in (*CALLS, *NEIGHBOURS):
        filled = [f"`{table.name}`" for table in CATALOGUE.values() if served.name in table.endpoints]
        lines.append(f"| `{served.name}` | `net.{served.call}` | {', '.join(filled)} |")
    return "\n".join(lines)


def with_endpoints(text: str) -> str:
    """A document with its table of endpoints, between the marks, made again.

    Raises:
        InputError: the marks are not there.
    """
    before, opening, rest = text.partition(_MARKS[0])
    _, closing, after = rest.partition(_MARKS[1])
    if not closing:
        raise InputError(f"the document has no marks {_MARKS[0]} and {_MARKS[1]} to put the table between")
    return f"{before}{opening}\n{endpoints_text()}\n{closing}{after}"
