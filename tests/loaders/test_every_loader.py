"""What holds for every loader: who answered, how amounts are held, when a limit ends the requests, what is text."""

from decimal import Decimal

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.sandbox.faults import Faults
from ledgerframes.tables.catalogue import CATALOGUE
from ledgerframes.tables.kinds import AMOUNT
from tests.asking import answering, asking_one
from tests.interfaces.served_answers import NOWHERE
from tests.loaders.every_loader import GIVEN, NAMES, World, load, parameters
from tests.rigs.servers import replica
from tests.transport.hostile_server import HostileServer, text

pytestmark = pytest.mark.filterwarnings("ignore::ledgerframes.errors.DeprecatedEndpointWarning")


RANGED = [name for name in NAMES if "start" in parameters(name)]
LIMITED = [name for name in NAMES if "limit" in parameters(name)]


@pytest.fixture(scope="module")
def world():
    with lf.sandbox(updates=80, migrations=1) as base:
        yield World(base)


def frames(loaded):
    return [loaded] if hasattr(loaded, "attrs") else [frame for frame in loaded if hasattr(frame, "attrs")]


@pytest.mark.parametrize("name", NAMES)
def test_faults_on_the_way_change_nothing_and_the_source_is_the_server_that_answered(name, world):
    # Registries are of several issuers: none of them answers for another.
    dead = None if name == "load_instruments" else NOWHERE
    # A 404 that is cut off cannot be told from a path that the server does not know.
    kinds = () if name == "load_transfer_preapprovals" else ("429", "503", "reset", "truncated", "empty")
    with world.box.replica() as box, world.connected(box, dead=dead, attempts=20) as net:
        wanted = frames(load(name, net, world, page_size=40))
        box.faults = Faults(rates=dict.fromkeys(kinds, 0.1), seed=3)
        for frame, sound in zip(frames(load(name, net, world, page_size=40)), wanted, strict=True):
            pd.testing.assert_frame_equal(frame, sound)
            assert NOWHERE not in frame.attrs["source"]
            assert frame.attrs["source"].startswith("http://")


#: What the error of a scan or participant without the route names: other ways to the same rows.
WAYS_OUT = {
    "load_active_contracts": r"POST /v2/state/acs nor .*0\.5\.5.*lf\.active_contracts",
    "load_coins": r"POST /v2/holdings/state nor .*0\.5\.5.*load_active_contracts",
    "load_featured_apps": r"GET /v0/featured-apps.*0\.5\.5.*load_active_contracts",
    "load_ledger_contracts": r"/v2/state/active-contracts-page.* 3\.5\.10.*ledger_url=.*load_active_contracts",
    "load_ledger_history": r"/v2/updates/get-updates-page.* 3\.5\.14.*ledger_url=.*load_ledger_transaction",
    "load_names": r"GET /v0/ans-entries.*0\.5\.5.*load_name_entries",
    "load_rounds": r"POST /v0/open-and-issuing-mining-rounds.*0\.5\.5.*load_events",
    "load_scans": r"GET /v0/scans.*0\.5\.5.*load_super_validators",
    "load_super_validators": r"GET /v0/dso.*0\.5\.5.*load_active_contracts",
    "load_traffic": r"GET /v0/dso.*0\.5\.5.*synchronizer=",
    "load_validator_faucets": r"GET /v0/validators/validator-faucets.*0\.5\.5.*load_licenses",
    "load_verdicts": r"POST /v0/events.*0\.5\.5.*lf\.load_history",
    "load_votes": r"GET /v0/admin/sv/voterequests.*0\.5\.5.*lf\.votes",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_server_without_the_route_says_so_and_what_else_to_do(name, world):
    told = (lf.errors.InputError, WAYS_OUT[name]) if name in WAYS_OUT else (lf.errors.NotFoundError, "know this path")
    partial = {"allow_partial": True} if name in WAYS_OUT and "allow_partial" in parameters(name) else {}
    with HostileServer([text("The requested resource could not be found.", 404)]) as server:
        for options in ({}, partial):
            with asking_one(server.url) as net, pytest.raises(told[0], match=told[1]):
                load(name, net, world, **options)


#: What the other interfaces give.
NOT_OF_A_SCAN = {
    "load_instruments", "load_ledger_contracts", "load_ledger_history", "load_ledger_transaction", "load_name_entries",
    "load_transfer_offers", "load_transfer_preapprovals", "load_users",
}  # fmt: skip


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("release", ["0.5", "0.9", "0.7"])
def test_every_loader_of_a_scan_gives_rows_of_every_release(tmp_path, release):
    with lf.sandbox(updates=80, release=release) as net, lf.connect(scan_url=net.sandbox.scan_url) as scan:
        world = World(net)
        loaded = {name: load(name, scan, world) for name in {*NAMES} - NOT_OF_A_SCAN}
        opening = lf.load_opening(scan, at=lf.snapshot_times(scan, limit=1).record_time[0]).contracts
        report = lf.open_store(tmp_path / "lake").sync(scan, tables=["active_contracts"], progress=False)

    assert [name for name, one in loaded.items() if not len(frames(one)[0])] == []
    assert len(opening) > 0
    assert report.rows == {"active_contracts": len(loaded["load_active_contracts"])}


# The limit of a history counts updates or verdicts.
@pytest.mark.parametrize("name", [name for name in LIMITED if "columns" in parameters(name) and name not in RANGED])
def test_columns_and_rows_are_those_asked_for(name, world):
    with world.connected() as net:
        whole = load(name, net, world, as_="arrow")
        frame = load(name, net, world, columns=whole.column_names[:1:-1], limit=1)
        assert list(frame.columns) == whole.column_names[:1:-1]
        assert len(frame) == min(1, whole.num_rows)
        with pytest.raises(lf.errors.InputError, match="no column"):
            load(name, net, world, columns=["nonsense"])


def amounts(frame):
    """The columns of a frame that some table declares as amounts."""
    declared = {column.name for table in CATALOGUE.values() for column in table.columns if column.kind is AMOUNT}
    return declared & set(frame.columns)


@pytest.mark.parametrize("name", NAMES)
def test_each_comes_in_every_form_with_amounts_and_personal_data_as_the_network_says(name, world):
    with world.connected(decimals="exact", personal=True) as net:
        exact, arrow, polars = (load(name, net, world, as_=form) for form in ("pandas", "arrow", "polars"))
    with world.connected(personal=False) as net:
        plain = load(name, net, world)
    tables, others = ([got] if not isinstance(got, tuple) else [*got] for got in (arrow, polars))
    for frame, floats, table, other in zip(frames(exact), frames(plain), tables, others, strict=True):
        assert (frame.attrs["decimals"], frame.attrs["personal"]) == ("exact", True)
        assert (floats.attrs["decimals"], floats.attrs.get("personal", False)) == ("float", False)
        for column in amounts(frame):
            assert all(isinstance(value, Decimal) for value in frame[column].dropna())
            assert floats[column].dtype == "float64"
        assert all(field.metadata[b"description"] for field in table.schema)
        assert b"complete" in table.schema.metadata[b"ledgerframes"]
        assert frame.shape == other.shape == (table.num_rows, table.num_columns)
        assert len(floats) == len(frame)


# Without an answer it is unknown which snapshot the contracts would be of.
PARTIAL = [name for name in NAMES if "allow_partial" in parameters(name) and name != "load_active_contracts"]


@pytest.mark.parametrize("name", [name for name in PARTIAL if name not in GIVEN])
def test_a_fault_that_stays_is_an_error_or_an_empty_part(name):
    with HostileServer([text("busy", 503)]) as server, asking_one(server.url, attempts=1) as net:
        with pytest.raises(lf.errors.ServerError):
            getattr(lf, name)(net)
        loaded = getattr(lf, name)(net, allow_partial=True)
    for frame in loaded if isinstance(loaded, tuple) else [loaded]:
        assert (len(frame), frame.attrs["complete"]) == (0, False)


@pytest.mark.parametrize("name", LIMITED)
def test_a_limit_ends_the_requests_and_a_frame_that_it_ends_says_so(name, world):
    with world.connected() as net:
        limited = frames(load(name, net, world, page_size=5, limit=1))
        assert net.stats.requests <= 5
        assert all(frame.attrs.get("limit") == 1 or not len(frame) for frame in limited)
        assert not any("limit" in frame.attrs for frame in frames(load(name, net, world, limit=10**6)))


def test_a_limit_ends_the_requests_for_names(world):
    """Their route has no pages, so a full answer is split."""
    with replica(world.box, page_maximum=5) as server, lf.connect(scan_url=server.scan_url) as net:
        lf.load_names(net, limit=1)
        assert net.stats.requests <= 2  # the first is refused, and names the maximum


PARTIES, MEMBER, TIMES = ["a::1", "a::1", "a/b"], "PAR::alice::1220ab", ["2026-01-30T01:00Z", "2026-01-30T02:00Z"]
#: What breaks a rule, and what the error says of it.
REFUSED = [
    ("load_active_contracts", {"templates": ["Harbor.Token:Holding"]}, "'package-name:Harbor.Token:Holding'.*column"),
    ("load_active_contracts", {"templates": ["Amulet"]}, "Module:Entity"),
    ("load_active_contracts", {"templates": [f"{'ab' * 32}:A:B"]}, "package-name:Module:Entity"),
    ("load_active_contracts", {"templates": []}, "templates is empty"),
    ("load_active_contracts", {"parties": PARTIES}, r"parties\[2\]='a/b'.*party id"),
    ("load_active_contracts", {"page_size": 2**31}, "page_size="),
    ("load_active_contracts", {"source": "object"}, "source='object'"),
    ("load_active_contracts", {"source": "auto"}, "source='auto'"),
    ("load_active_contracts", {"source": "objects", "at": "soon"}, "at='soon'"),
    ("load_coins", {"owners": PARTIES}, r"owners\[2\]='a/b'"),
    ("load_holdings_summary", {"parties": PARTIES}, r"parties\[2\]='a/b'; give a party id"),
    ("load_holdings_summary", {"match": "exact"}, "give record_time="),
    ("load_holdings_summary", {"record_time": TIMES, "as_of_round": [1, 2, 3]}, "3 rounds for 2 times"),
    ("load_holdings_summary", {"as_of_round": []}, "no round"),
    ("load_holdings_summary", {"record_time": []}, "no time"),
    ("load_holdings_summary", {"as_of_round": {TIMES[0]: 1}}, "as_of_round='2026.*' is not valid"),
    ("load_holdings_summary", {"as_of_round": [1.5]}, "as_of_round=1.5 is not valid"),
    ("load_history", {"start": "2026-01-02", "end": "2026-01-01"}, "is not after start"),
    ("load_history", {"start": (1, "2026-01-02"), "end": (1, "2026-01-02")}, "is not after start"),
    ("load_history", {"last": "1h", "start": "2026-01-02"}, "both say where to begin"),
    ("load_history", {"columns": {"updates": ["upd_id"]}}, "did you mean 'update_id'"),
    ("load_history", {"columns": {"licenses": ["x"]}}, "licenses"),
    ("load_history", {"columns": {"updates": "update_id"}}, "give a list"),
    ("load_history", {"lists": "list"}, "lists='list' is not valid"),
    ("load_ledger_history", {"start": 9, "end": 8}, "start=9 is after end=8"),
    ("load_ledger_transaction", {"update_id": None}, "give exactly one of them"),
    ("load_ledger_transaction", {"update_id": "u", "hash": "h"}, "give exactly one of them"),
    ("load_traffic", {"members": ["alice::1220"]}, "PAR::"),
    ("load_traffic", {"members": [MEMBER, MEMBER, "x"]}, r"members\[2\]='x'"),
    ("load_update", {"update_id": None}, "give one of them"),
    ("load_update", {"update_id": "u", "hash": "h"}, "give one of them"),
    ("load_validator_faucets", {"validators": PARTIES}, "party id"),
    ("load_verdicts", {"columns": {"updates": ["x"]}}, "updates"),
]


@pytest.mark.parametrize(("name", "options", "words"), REFUSED, ids=str)
def test_what_breaks_a_rule_is_refused_unsent(world, name, options, words):
    given = {key: getattr(world, GIVEN[name]) for key in [*parameters(name)][1:2] if name in GIVEN}
    with world.connected() as net:
        with pytest.raises(lf.errors.InputError, match=words):
            getattr(lf, name)(net, **given | options)
        assert net.stats.requests == 0


# Without its list a page of users says that there are none, as an end without an offset says that nothing has happened.
@pytest.mark.parametrize("name", [name for name in NAMES if name not in {"load_ledger_history", "load_users"}])
@pytest.mark.parametrize(
    "body", [[], dict.fromkeys(["rounds", "entries", "dso_rules", "summaries", "event"], 5)], ids=str
)
def test_an_answer_of_another_shape_is_an_error_of_the_package(name, body, world):
    with answering(body) as net, pytest.raises((lf.errors.DecodeError, lf.errors.PagingError, lf.errors.InputError)):
        load(name, net, world)
