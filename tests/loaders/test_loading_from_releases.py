"""Everything that a scan can give is loaded from each release of it that the sandbox serves."""

import pytest

import ledgerframes as lf

#: What the other interfaces give.
NOT_OF_A_SCAN = {
    "instruments", "ledger_contracts", "ledger_history", "ledger_transaction", "name_entries", "transfer_offers",
    "transfer_preapprovals", "users",
}  # fmt: skip


@pytest.mark.parametrize("release", ["0.9", "0.7", "0.5"])
def test_every_loader_of_a_scan_works_on_every_release(tmp_path, release):
    with lf.sandbox(updates=150, release=release) as net, lf.connect(scan_url=net.sandbox.scan_url) as scan:
        update_id = lf.load_updates(scan, progress=False).update_id[0]
        parties = lf.load_licenses(scan).validator
        loaded = {
            "history": lf.load_history(scan, progress=False).events,
            "updates": lf.load_updates(scan, progress=False),
            "events": lf.load_events(scan, progress=False),
            "reassignments": lf.load_reassignments(scan, progress=False),
            "update": lf.load_update(scan, update_id).updates,
            "verdicts": lf.load_verdicts(scan, progress=False).verdicts,
            "active_contracts": lf.load_active_contracts(scan, page_size=20),
            "coins": lf.load_coins(scan, parties, page_size=3),
            "holdings_summary": lf.load_holdings_summary(scan, parties),
            "opening": lf.load_opening(scan, at=lf.snapshot_times(scan, limit=1).record_time[0]).contracts,
            "licenses": lf.load_licenses(scan),
            "super_validators": lf.load_super_validators(scan),
            "rounds": lf.load_rounds(scan),
            "names": lf.load_names(scan),
            "name_rules": lf.load_name_rules(scan),
            "traffic": lf.load_traffic(scan, lf.load_super_validators(scan).participant_id),
            "validator_faucets": lf.load_validator_faucets(scan, parties),
            "featured_apps": lf.load_featured_apps(scan),
            "scans": lf.load_scans(scan),
            "votes": lf.load_votes(scan),
        }
        report = lf.open_store(tmp_path / "lake").sync(scan, tables=["active_contracts"], progress=False)

    every = {name.removeprefix("load_") for name in lf.__all__ if name.startswith("load_")}
    assert loaded.keys() == every - NOT_OF_A_SCAN
    assert [name for name, frame in loaded.items() if not len(frame)] == []
    assert report.rows == {"active_contracts": len(loaded["active_contracts"])}
