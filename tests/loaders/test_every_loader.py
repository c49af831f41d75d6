"""What holds for every loader: who answered, how amounts are held, when a limit ends the requests, what is text."""

import inspect
import socket
from decimal import Decimal

import msgspec
import pytest

import ledgerframes as lf
from ledgerframes.config.settings import Settings
from ledgerframes.decoding.records import read_records
from ledgerframes.tables.catalogue import CATALOGUE
from ledgerframes.tables.kinds import AMOUNT, TEXT
from ledgerframes.tables.table import EXTRA, Table
from tests.clocks import SkippingClock
from tests.rigs.servers import replica
from tests.transport.hostile_server import HostileServer, answer, text

pytestmark = pytest.mark.filterwarnings("ignore::ledgerframes.transport.DeprecatedEndpointWarning")
#: Texts of which the contract says that empty means "none".
EMPTY_IS_UNSET = {
    "users": {"primary_party", "identity_provider_id", "resource_version"},
    "ledger_transactions": {
        "command_id",
        "workflow_id",
        "synchronizer_id",
        "external_transaction_hash",
        "transaction_hash",
    },
    "ledger_events": {"interface_id"},
    "views": {"view_hash"},
}


class World:
    """A sandbox behind servers that do not answer, and what loaders have to be told of it."""

    def __init__(self, base):
        self.box = base.sandbox
        self.validators = lf.load_licenses(base).validator.to_list()
        self.any_party = None
        self.parties = ["nobody::1220", *self.validators[:9]]
        self.members = lf.load_super_validators(base).participant_id.to_list()
        self.update_id = lf.load_updates(base, limit=5).update_id.iloc[4]
        self.hash = lf.load_updates(base).external_transaction_hash.dropna().iloc[0]

    def connected(self, *, dead=None, **settings):
        def urls(interface):
            url = getattr(self.box, f"{interface}_url")
            return (url,) if dead is None else (dead, url)

        return lf.types.Network(
            Settings(
                **{f"{interface}_url": urls(interface) for interface in ("scan", "validator", "registry", "ledger")},
                ledger_token=self.box.token("validator_operator"), validator_token=self.box.token("validator_operator"),
                **settings,
            ),
            clock=SkippingClock(),
        )  # fmt: skip


# An opening is no frame.
NAMES = [name for name in lf.__all__ if name.startswith("load_") and name != "load_opening"]
#: What a loader is given besides the network, by the name that the world has for it.
GIVEN = {
    "load_coins": "validators",
    "load_holdings_summary": "validators",
    "load_ledger_contracts": "any_party",
    "load_ledger_history": "any_party",
    "load_ledger_transaction": "update_id",
    "load_traffic": "members",
    "load_transfer_preapprovals": "parties",
    "load_update": "update_id",
    "load_validator_faucets": "validators",
}


def parameters(name):
    return inspect.signature(getattr(lf, name)).parameters


def load(name, net, world, page_size=100, **form):
    """What a loader gives, over several pages."""
    given = [getattr(world, GIVEN[name])] if name in GIVEN else []
    size = {"page_size": page_size} if "page_size" in parameters(name) else {}
    return getattr(lf, name)(net, *given, **size | form)


RANGED = [name for name in NAMES if "start" in parameters(name)]
LIMITED = [name for name in NAMES if "limit" in parameters(name)]


@pytest.fixture(scope="module")
def world():
    with lf.sandbox(updates=150, migrations=1) as base:
        yield World(base)


@pytest.fixture(scope="module")
def dead():
    """The address of a server that is not there; its port stays taken."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"


def frames(loaded):
    return [loaded] if hasattr(loaded, "attrs") else [frame for frame in loaded if hasattr(frame, "attrs")]


# Registries are of several issuers: none of them answers for another.
@pytest.mark.parametrize("name", [name for name in NAMES if name != "load_instruments"])
def test_the_source_is_the_server_that_answered(name, world, dead):
    with world.connected(dead=dead) as net:
        for frame in frames(load(name, net, world)):
            assert dead not in frame.attrs["source"]
            assert frame.attrs["source"].startswith("http://")


@pytest.mark.parametrize("name", NAMES)
def test_each_comes_in_every_form_with_its_columns_and_provenance(name, world):
    with world.connected() as net:
        arrow, polars = (load(name, net, world, as_=form) for form in ("arrow", "polars"))
    tables, others = ([got] if not isinstance(got, tuple) else [*got] for got in (arrow, polars))
    for table in tables:
        assert all(field.metadata[b"description"] for field in table.schema)
        assert b"complete" in table.schema.metadata[b"ledgerframes"]
    assert [frame.shape for frame in others] == [(table.num_rows, table.num_columns) for table in tables]


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
        with pytest.raises(lf.errors.InputError, match="limit=0"):
            load(name, net, world, limit=0)
        with pytest.raises(TypeError, match="nonsense"):
            load(name, net, world, nonsense=1)


def amounts(frame):
    """The columns of a frame that some table declares as amounts."""
    declared = {column.name for table in CATALOGUE.values() for column in table.columns if column.kind is AMOUNT}
    return declared & set(frame.columns)


@pytest.mark.parametrize("name", NAMES)
def test_a_network_says_how_amounts_are_held_and_whether_personal_data_is_kept(name, world):
    with world.connected(decimals="exact", personal=True) as net:
        for given, expected, kind in (({}, "exact", Decimal), ({"decimals": "string"}, "string", str)):
            for frame in frames(load(name, net, world, **given)):
                assert frame.attrs["decimals"] == expected
                assert frame.attrs["personal"] is True
                values = [value for column in amounts(frame) for value in frame[column].dropna()]
                assert all(isinstance(value, kind) for value in values)
    with world.connected(personal=False) as net:
        for frame in frames(load(name, net, world)):
            assert frame.attrs["decimals"] == "float"
            assert not frame.attrs.get("personal", False)
            assert all(frame[column].dtype == "float64" for column in amounts(frame))


# Without an answer it is unknown which snapshot the contracts would be of.
PARTIAL = [name for name in NAMES if "allow_partial" in parameters(name) and name != "load_active_contracts"]


@pytest.mark.parametrize("name", [name for name in PARTIAL if name not in GIVEN])
def test_a_fault_that_stays_is_an_error_or_an_empty_part(name):
    urls = ("scan_url", "validator_url", "registry_url", "ledger_url")
    with HostileServer([text("busy", 503)]) as server:
        settings = lf.connect(**dict.fromkeys(urls, server.url), token="token", attempts=1).settings
        net = lf.types.Network(settings, clock=SkippingClock())
        with pytest.raises(lf.errors.ServerError):
            getattr(lf, name)(net)
        loaded = getattr(lf, name)(net, allow_partial=True)
    for frame in loaded if isinstance(loaded, tuple) else [loaded]:
        assert (len(frame), frame.attrs["complete"]) == (0, False)


@pytest.mark.parametrize("name", LIMITED)
def test_a_limit_ends_the_requests(name, world):
    with world.connected() as net:
        load(name, net, world, page_size=5, limit=1)
        assert net.stats.requests <= 5


@pytest.mark.parametrize("name", LIMITED)
def test_a_frame_that_a_limit_ends_says_so_and_no_other(name, world):
    with world.connected() as net:
        for frame in frames(load(name, net, world, limit=1)):
            assert frame.attrs.get("limit") == 1 or not len(frame)
        for frame in frames(load(name, net, world, limit=10**6)):
            assert "limit" not in frame.attrs


def test_a_limit_ends_the_requests_for_names(world):
    """Their route has no pages, so a full answer is split."""
    with replica(world.box, page_maximum=5) as server, lf.connect(scan_url=server.scan_url) as net:
        lf.load_names(net, limit=1)
        assert net.stats.requests <= 2  # the first is refused, and names the maximum


def said(name, net, world, **form):
    """What an error says; nothing where the value is taken."""
    try:
        load(name, net, world, **form)
    except lf.LedgerframesError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_argument_is_an_error_of_the_package_that_fits_a_line(name, world):
    keywords = [keyword for keyword, one in parameters(name).items() if one.kind is one.KEYWORD_ONLY]
    with world.connected() as net:
        for keyword in keywords:
            for value in ("a" * 100_000, ["a"] * 9_000, -(10**30), float("nan"), object(), b"x", {"a": 1}):
                assert len(said(name, net, world, **{keyword: value})) < 2_000, keyword
        if name in LIMITED:
            assert load(name, net, world, limit=10**30) is not None


TEXTS = [
    (table, column)
    for table in CATALOGUE.values()
    for column in table.columns
    if column.kind is TEXT and column.source.startswith("/")
]


def test_an_empty_text_stays_empty_unless_the_contract_says_that_none_is_meant():
    for table, column in TEXTS:
        value = ""
        for step in reversed(column.source.split("/")[1:]):
            value = {step: value}
        alone = Table(table.name, table.meaning, table.endpoints, (column.name,), (column, EXTRA))

        (row,) = read_records(alone, [msgspec.json.encode(value)], "GET /x").to_pylist()

        unset = column.name in EMPTY_IS_UNSET.get(table.name, ())
        assert row[column.name] == (None if unset else ""), f"{table.name}.{column.name}"


def test_an_empty_text_of_a_name_is_loaded_as_sent():
    entry = {"name": "a.unverified.cns", "user": "a::1220", "url": "", "description": ""}
    with HostileServer([answer({"entries": [entry]})]) as server, lf.connect(scan_url=server.url) as net:
        (row,) = lf.load_names(net).to_dict("records")
    assert (row["url"], row["description"]) == ("", "")
