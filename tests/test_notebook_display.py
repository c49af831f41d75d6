"""What a notebook shows of a network, a history and a store: sizes and places, never a token."""

import ledgerframes as lf


def test_a_notebook_shows_a_network_without_its_tokens():
    net = lf.connect(scan_url="https://scan.example.com/api/scan", scan_token="hush-hush", decimals="float")

    shown = net._repr_html_()

    assert "https://scan.example.com/api/scan" in shown
    assert "not connected" in shown
    assert "float" in shown
    assert "hush" not in shown


def test_an_interface_shows_its_servers_or_that_it_has_none():
    net = lf.connect(scan_url="https://scan.example.com/api/scan")
    assert repr(net.scan) == "<Scan https://scan.example.com/api/scan>"
    assert repr(net.ledger) == "<Ledger not connected>"


def test_pages_and_disclosed_contracts_show_what_they_are_not_all_they_hold():
    with lf.sandbox(updates=50) as net:
        taken = lf.snapshot_times(net, limit=1).iloc[0]
        users, licenses = net.ledger.list_users(), net.scan.validator_licenses()
        snapshot = net.scan.active_contracts(record_time=taken.record_time, migration_id=int(taken.migration_id))

    assert repr(users) == f"UsersPage({len(users.users)} users, next_page_token={users.next_page_token!r})"
    assert repr(licenses).startswith(f"LicensesPage({len(licenses.validator_licenses)} validator_licenses, next")
    assert f"migration_id={taken.migration_id}, {len(snapshot.created_events)} created_events" in repr(snapshot)
    disclosed = lf.commands.DisclosedContract(
        template_id="1f:M:T", contract_id="00" * 40, created_event_blob="QUJD", synchronizer_id="s::1"
    )
    assert repr(disclosed) == f"DisclosedContract(M:T {'00' * 8}…)"


def test_a_notebook_shows_a_history_and_flows_as_tables():
    with lf.sandbox(updates=50) as net:
        shown = net._repr_html_()
        history = lf.load_history(net, progress=False)
        verdicts = lf.load_verdicts(net, progress=False)

    assert "simulated ledger" in shown
    assert "<td>updates</td><td>50</td>" in history._repr_html_()
    assert "ledger begin to 2025" in history._repr_html_()
    assert f"<td>verdicts</td><td>{len(verdicts.verdicts)}</td>" in verdicts._repr_html_()
    assert "<td>events</td>" in lf.types.History(*(frame.head(0) for frame in history))._repr_html_()
    assert "<table" in lf.reassignment_flows(history.reassignments)._repr_html_()


def test_a_notebook_shows_a_store_before_and_after_its_first_sync(tmp_path):
    store = lf.open_store(tmp_path / "<lake>")
    assert "<lake>" not in store._repr_html_()
    with lf.sandbox(updates=50) as net:
        store.sync(net, progress=False)

    shown = store._repr_html_()

    assert "<td>updates</td><td>50</td>" in shown
    assert "its start" in shown
    assert "<lake>" not in shown
