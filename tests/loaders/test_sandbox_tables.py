"""Every table from the embedded ledger, in agreement with its history."""

import json

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.sandbox.http.routes import RELEASES
from tests.rigs.servers import replica


@pytest.fixture(scope="module")
def history(net):
    return lf.load_history(net, limit=5000, progress=False)


@pytest.fixture(scope="module")
def owners(net):
    """The owners of coins, one for each coin."""
    coins = lf.load_active_contracts(net, templates=["splice-amulet:Splice.Amulet:Amulet"])
    return sorted(signatories[-1] for signatories in coins.signatories)


def test_a_party_list_that_is_too_long_is_split(net, owners):
    most, owners = len(owners), sorted({*owners})
    whole = lf.load_holdings_summary(net, owners, record_time="2100-01-01")
    with replica(net.sandbox, holdings_limit=max(30, most // 4)) as small:
        token = small.token("validator_operator")
        with lf.connect(scan_url=small.scan_url, validator_url=small.validator_url, token=token) as other:
            split = lf.load_holdings_summary(other, owners, record_time="2100-01-01")
            assert other.stats.statuses[400] > 0
    pd.testing.assert_frame_equal(split, whole)


def test_an_exact_snapshot_needs_its_instant(net, owners):
    instant = net.sandbox.snapshots(1)[3]
    owner = owners[0]
    exact = lf.load_holdings_summary(net, [owner], record_time=instant, migration_id=1, match="exact")
    assert exact.migration_id[0] == 1
    later = pd.Timestamp(instant) + pd.Timedelta(1, "us")
    with pytest.raises(lf.errors.NotFoundError):
        lf.load_holdings_summary(net, [owner], record_time=later, migration_id=1, match="exact")
    with pytest.raises(lf.errors.InputError, match="give record_time="):
        lf.load_holdings_summary(net, [owner], match="exact")


def test_licenses_are_the_newest_of_each_validator(net, history):
    licenses = lf.load_licenses(net)
    assert licenses.validator.is_unique
    created = history.events[
        (history.events.template_name == "Splice.ValidatorLicense:ValidatorLicense")
        & (history.events.event_type == "created_event")
    ]
    newest = created.assign(validator=[json.loads(text)["validator"] for text in created.payload])
    newest = newest.sort_values("created_at").groupby("validator").contract_id.last()
    assert dict(zip(licenses.validator, licenses.contract_id, strict=True)) == newest.to_dict()


def test_all_users_are_read_over_their_pages(net):
    users = lf.load_users(net)
    assert users.user_id.is_unique
    assert len(users) > 300
    assert users.is_deactivated.any()


def test_names_offers_and_preapprovals_are_the_tokens_users(net):
    names = lf.load_name_entries(net)
    assert len(names) == 1
    assert names.expires_at[0].year >= 2025
    assert len(lf.load_transfer_offers(net)) >= 1
    parties = lf.load_users(net).primary_party.dropna().head(12)
    preapprovals = lf.load_transfer_preapprovals(net, list(parties))
    assert set(preapprovals.found) == {True, False}
    assert preapprovals.provider[~preapprovals.found].isna().all()
    assert preapprovals.contract_id[preapprovals.found].notna().all()


@pytest.mark.parametrize("release", RELEASES)
def test_a_ledger_transaction_is_read_on_old_and_new_releases(release):
    with lf.sandbox(updates=60, release=release) as net:
        update = lf.load_updates(net, limit=1, progress=False)
        assert lf.load_update(net, update.update_id[0]).updates.update_id.tolist() == update.update_id.tolist()
        transactions, events = lf.load_ledger_transaction(net, update.update_id[0])
        assert transactions.update_id[0] == update.update_id[0]
        assert transactions.record_time[0] == update.record_time[0]
        assert len(events) == transactions.event_count[0] > 0
        assert events.node_id.is_monotonic_increasing


@pytest.mark.parametrize("release", ["0.7", "0.9"])
def test_a_reassignment_of_the_ledger_is_read_on_old_and_new_releases(release):
    with lf.sandbox(updates=200, release=release) as net:
        halves = lf.load_reassignments(net, limit=1_000, progress=False)
        assert len(halves) > 1
        for wanted in halves.head(2).to_dict("records"):
            transactions, events = lf.load_ledger_transaction(net, wanted["update_id"])
            assert transactions.update_id.tolist() == [wanted["update_id"]]
            assert transactions.record_time[0] == wanted["record_time"]
            assert events.kind[0] in {"JsAssignmentEvent", "JsUnassignedEvent"}
            assert events.contract_id[0] == wanted["contract_id"]
            assert events.reassignment_counter[0] == wanted["reassignment_counter"]


@pytest.mark.parametrize("release", ["0.7", "0.9"])
def test_the_exercises_of_a_ledger_transaction_are_shown_unasked(release):
    with lf.sandbox(updates=200, release=release) as net:
        events = lf.load_events(net, limit=200, progress=False)
        exercise = events[events.event_type == "exercised_event"].iloc[-1]
        shown = lf.load_ledger_transaction(net, exercise.update_id).events
        assert exercise.choice in set(shown.choice)
        party = shown.acting_parties[shown.choice == exercise.choice].iloc[0][0]
        assert len(lf.load_ledger_transaction(net, exercise.update_id, parties=[party]).events) > 0


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


def test_without_the_right_token_nothing_is_given(net):
    sandbox = net.sandbox
    with (
        lf.connect(ledger_url=sandbox.ledger_url, token=sandbox.token("mallory")) as other,
        pytest.raises(lf.errors.NotAuthorizedError),
    ):
        lf.load_users(other)
    with (
        lf.connect(ledger_url=sandbox.ledger_url) as other,
        pytest.raises(lf.errors.NotAuthorizedError, match="requires a token, and none was given"),
    ):
        lf.load_users(other)


@pytest.mark.parametrize(
    ("parties", "options", "words"),
    [
        ([], {}, "parties is empty"),
        ("a::b", {}, "give a list"),
        ([""], {}, "give a list"),
        (["a::b", "a::b", "a/b"], {}, "parties[2]='a/b'; give a party id"),
        (["a::b"], {"missing": "nan"}, "missing='nan'"),
        (["a::b"], {"match": "near"}, "near"),
        (["a::b"], {"record_time": "soon"}, "record_time='soon'"),
    ],
    ids=str,
)
def test_wrong_arguments_are_refused_by_name(net, parties, options, words):
    with pytest.raises(lf.errors.InputError) as caught:
        lf.load_holdings_summary(net, parties, **options)
    assert words in str(caught.value)
