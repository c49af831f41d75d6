"""Every table from the embedded ledger, in agreement with its history."""

import json

import pytest

import ledgerframes as lf


def test_parties_without_a_preapproval_are_not_found(net):
    parties = lf.load_users(net).primary_party.dropna().head(12)
    preapprovals = lf.load_transfer_preapprovals(net, list(parties))
    assert set(preapprovals.found) == {True, False}
    assert preapprovals.provider[~preapprovals.found].isna().all()
    assert preapprovals.contract_id[preapprovals.found].notna().all()


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("release", ["0.5", "contract", "0.7", "0.9"])
def test_a_ledger_transaction_is_read_on_old_and_new_releases(release):
    with lf.sandbox(updates=200, release=release) as net:
        history = lf.load_history(net, limit=1_000, progress=False)
        exercise = history.events[history.events.event_type == "exercised_event"].iloc[-1]
        legs = history.reassignments.head(2)
        assert len(legs) > 1
        for wanted in (history.updates.iloc[0], exercise, *(row for _, row in legs.iterrows())):
            transactions, events = lf.load_ledger_transaction(net, wanted.update_id)
            assert lf.load_update(net, wanted.update_id).updates.update_id.tolist() == [wanted.update_id]
            assert transactions.update_id.tolist() == [wanted.update_id]
            assert transactions.record_time[0] == wanted.record_time
            assert len(events) == transactions.event_count[0] > 0
            assert events.node_id.is_monotonic_increasing
            if "choice" in wanted:
                (party, *_) = events.acting_parties[events.choice == wanted.choice].iloc[0]
                assert len(lf.load_ledger_transaction(net, wanted.update_id, parties=[party]).events) > 0
            if "reassignment_counter" in wanted:
                assert events.kind[0] in {"JsAssignmentEvent", "JsUnassignedEvent"}
                assert events.contract_id[0] == wanted.contract_id
                assert events.reassignment_counter[0] == wanted.reassignment_counter


def test_a_ledger_transaction_shows_the_views_of_the_interfaces_asked_for(net):
    holding = "#splice-api-token-holding-v1:Splice.Api.Token.HoldingV1:Holding"
    history = lf.load_events(net, limit=400, progress=False)
    created = history[(history.template_name == "Splice.Amulet:Amulet") & (history.event_type == "created_event")]
    wanted = created.iloc[0]
    events = lf.load_ledger_transaction(net, wanted.update_id, interfaces=[holding]).events
    event = events[events.contract_id == wanted.contract_id].iloc[0]
    payload = json.loads(wanted.payload)
    (view,) = json.loads(event.interface_views)
    assert [one.partition(":")[2] for one in event.view_interfaces] == ["Splice.Api.Token.HoldingV1:Holding"]
    assert (view["viewStatus"]["code"], view["viewValue"]["owner"]) == (0, payload["owner"])
    assert view["viewValue"]["amount"] == payload["amount"]["initialAmount"]
    assert "interfaceViews" not in (event.extra or "")

    plain = lf.load_ledger_transaction(net, wanted.update_id).events
    # The same update may archive the coin, too.
    views = plain.interface_views[plain.contract_id == wanted.contract_id]
    assert views.iloc[0] == "[]"
    assert views.iloc[1:].isna().all()
