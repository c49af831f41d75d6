"""Every loader and call of scan's routes beside the contract's, with every argument; the conversations use it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import ledgerframes as lf
from ledgerframes.interfaces.scan_objects import key_of

SUMMARY_OF_SCAN = "/api/scan/v0/holdings/summary"
COIN = "splice-amulet:Splice.Amulet:Amulet"


def neighbours(sandbox: Any, alice: str) -> Iterator[Callable[[lf.types.Network], Any]]:
    """Every loader and call, with every argument."""
    migration_id = sandbox.world.updates[-1].migration_id
    snapshot = {"record_time": sandbox.snapshots(migration_id)[-1], "migration_id": migration_id}
    yield lambda net: lf.snapshot_times(net, limit=2)
    yield lambda net: lf.load_active_contracts(net, templates=[COIN], parties=[alice], page_size=7)
    yield lambda net: lf.load_active_contracts(net, page_size=50)
    yield lambda net: lf.load_coins(net, [alice, "nobody::1220"], page_size=1)
    owners = {"owner_party_ids": [alice], "record_time_match": "at_or_before", "as_of_round": 7}
    yield lambda net: net.scan.holdings_summary(**{**snapshot, **owners})
    yield lf.load_rounds
    yield lf.load_names
    yield lambda net: lf.load_names(net, prefix="a")
    yield lambda net: net.scan.ans_entry_by_party(alice)
    yield lambda net: net.scan.ans_entry_by_name("dso.cns")
    yield lambda net: lf.load_traffic(net, ["PAR::nobody::1220", *lf.load_super_validators(net).participant_id[:2]])
    yield lambda net: lf.load_validator_faucets(net, lf.load_licenses(net).validator)
    yield lf.load_featured_apps
    yield lambda net: net.scan.featured_app(alice)
    yield lf.load_scans
    yield lambda net: lf.load_votes(net, page_size=2)
    yield lambda net: lf.load_votes(net, requests=["nothing"])
    yield lambda net: lf.load_verdicts(net, limit=40, page_size=30)
    yield lambda net: net.scan.events(after=(0, "2025-03-03T09:00:05Z"), page_size=5, value_encoding="protobuf_json")
    yield lambda net: net.scan.event_by_id(
        net.scan.events(page_size=9).page_index.update_ids[8], value_encoding="protobuf_json"
    )
    yield lambda net: net.scan.snapshot_time(before="2000-01-01", migration_id=0)
    yield lambda net: net.scan.active_contracts(**snapshot, templates=[COIN], parties=[alice], after=3, page_size=5)
    yield lambda net: net.scan.latest_event_record_time()
    yield first_object
    yield lambda net: net.scan.update_objects(after="2020-01-01", up_to="2030-01-01", page_token="9", page_size=900)
    yield lambda net: net.scan.snapshot_objects(at="9999-01-01")
    yield lambda net: net.scan.object_checksums([key_of(first_object(net)), "none~none/none.zstd"])
    yield lambda net: net.scan.coins(**snapshot, owners=[alice, "nobody::1220"], after=3, page_size=5)


def first_object(net: lf.types.Network) -> str:
    """The first object of the history, downloaded; its address."""
    refs = net.scan.update_objects(after="2020-01-01", up_to="2030-01-01").object_refs
    with tempfile.TemporaryDirectory() as folder:
        net.scan.download_object(refs[0], f"{folder}/first")
    return refs[0].url


def summary_of_scan(net: lf.types.Network, alice: str, snapshot: dict[str, Any]) -> Any:
    """A holdings summary by scan's own route."""
    return net.scan.holdings_summary(**snapshot, owner_party_ids=[alice], record_time_match="at_or_before")
