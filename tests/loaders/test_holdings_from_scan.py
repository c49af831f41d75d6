"""Holdings summaries without a validator: scan's own route gives the same rows."""

import httpx
import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.config.settings import Settings
from tests.clocks import SkippingClock
from tests.transport.hostile_server import HostileServer, text


@pytest.fixture(scope="module")
def owners(net):
    coins = lf.load_active_contracts(net, templates=["splice-amulet:Splice.Amulet:Amulet"])
    return sorted({row[-1] for row in coins.signatories})


@pytest.mark.parametrize("release", ["contract", "0.5"])
def test_scan_gives_the_validators_rows_without_a_token(net, owners, release):
    place = {"record_time": "9999-01-01", "migration_id": net.sandbox.world.updates[-1].migration_id}
    with net.sandbox.replica(release=release) as server, lf.connect(scan_url=server.scan_url) as alone:
        found = lf.load_holdings_summary(alone, [*owners, "nobody::1220"], **place)
    wanted = lf.load_holdings_summary(net, [*owners, "nobody::1220"], **place)

    pd.testing.assert_frame_equal(found, wanted)
    assert found.attrs["source"] == server.scan_url
    assert wanted.attrs["source"] == net.sandbox.validator_url


def test_a_scan_without_the_routes_is_one_input_error():
    with HostileServer([text("The requested resource could not be found.", 404)]) as server:
        settings = Settings(scan_url=(f"{server.url}/api/scan",))
        wrong = pytest.raises(lf.errors.InputError, match=r"POST /v0/holdings/summary nor POST /v1.*validator_url=")
        with lf.types.Network(settings, clock=SkippingClock()) as net, wrong:
            lf.load_holdings_summary(net, ["a::1220"], record_time="2026-01-30", migration_id=4)


def test_without_scan_and_validator_it_says_what_is_missing():
    with (
        lf.connect(registry_url="http://127.0.0.1:9") as net,
        pytest.raises(lf.errors.ConfigurationError, match="validator"),
    ):
        lf.load_holdings_summary(net, ["a::1220"], record_time="2026-01-30", migration_id=4)


@pytest.mark.filterwarnings("ignore::ledgerframes.loaders.holdings.SnapshotWarning")  # of fees
def test_a_time_has_the_snapshot_of_the_newest_migration_that_has_one(net, owners):
    updates = lf.load_updates(net, columns=["migration_id", "record_time"], progress=False)
    times = updates.groupby("migration_id").record_time.nth(100)

    found = lf.load_holdings_summary(net, owners[:2], record_time=times.tolist(), columns=["party_id", "migration_id"])

    assert found.migration_id.tolist() == [0, 0, 1, 1, 2, 2]
    begun = updates[updates.migration_id == 1].record_time.min()
    (first,) = lf.load_holdings_summary(net, owners[:1], record_time=begun).migration_id
    assert first == 0
    early = updates.record_time.min() - pd.Timedelta("1D")
    with pytest.raises(lf.errors.NotFoundError, match=r"no snapshot of migration 0 at or before .*lf\.snapshot_times"):
        lf.load_holdings_summary(net, owners, record_time=early)


class Vanishing(httpx.HTTPTransport):
    """A server whose snapshots are gone after its first summary."""

    summaries = 0

    def handle_request(self, request):
        if request.url.path.endswith("/holdings/summary"):
            self.summaries += 1
            if self.summaries > 1:
                return httpx.Response(404, json={"error": "no snapshot"})
        return super().handle_request(request)


def test_a_snapshot_that_goes_while_it_is_read_is_not_replaced_by_one_of_an_earlier_migration(net):
    parties = [f"party-{number}::12" for number in range(1_001)]
    transport = Vanishing()
    with (
        lf.connect(scan_url=net.sandbox.scan_url, transport=transport) as alone,
        pytest.raises(lf.errors.NotFoundError),
    ):
        lf.load_holdings_summary(alone, parties)
    assert transport.summaries == 2
