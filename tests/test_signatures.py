"""Every public function: its keywords stand in its signature, are documented, and a wrong value is refused unsent."""

import inspect
import re
import typing

import matplotlib.pyplot as plt
import pandas as pd
import pyarrow as pa
import pytest

import ledgerframes as lf
from docs import stubs
from ledgerframes.config.settings import Settings
from ledgerframes.loaders import public as loaders
from ledgerframes.models import public as tables
from ledgerframes.sandbox.server import start as start_sandbox
from ledgerframes.sandbox.start_options import read_history, read_serving

FUNCTIONS = {
    **{name: getattr(lf, name) for name in lf.__all__ if inspect.isfunction(getattr(lf, name))},
    **{f"Store.{name}": one for name, one in vars(lf.types.Store).items() if not name.startswith("_")},
}
PARAMETERS = [
    (name, key)
    for name, function in FUNCTIONS.items()
    for key in inspect.signature(function).parameters
    if key != "self"
]
OVERLOADED = [name for name, function in FUNCTIONS.items() if "as_" in inspect.signature(function).parameters]
NAMED = {
    "Network": lf.types.Network,
    "Store": lf.types.Store,
}  # what annotations name and modules import for type checkers
#: These hold little in memory, and take few keywords, which Python itself checks.
PLAIN = {
    *("aliases", "describe", "find", "models", "open_store", "rebuild_items", "replay", "tables", "versions"),
    *(f"Store.{name}" for name in ("report", "check", "retry_rejects", "tables", "syncs")),
}
FORMS = {"pandas": pd.DataFrame, "arrow": pa.Table, "polars": typing.Any}


def test_every_keyword_stands_in_the_signature_and_is_documented():
    for name, function in FUNCTIONS.items():
        parameters = inspect.signature(function).parameters
        arguments = inspect.getdoc(function).partition("Args:\n")[2].partition("\n\n")[0]

        kinds = {one.kind for one in parameters.values()}
        assert not kinds & {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}, name
        assert {*parameters} - {"self"} - set(re.findall(r"^    (\w+): \S", arguments, re.MULTILINE)) == set(), name


def test_a_misspelt_keyword_is_a_type_error_that_names_it_and_those_there_are():
    """By what also reports a lack of memory."""
    for name, function in FUNCTIONS.items():
        parameters = inspect.signature(function).parameters
        needed = [one for one in parameters.values() if one.default is one.empty and one.kind is not one.KEYWORD_ONLY]
        rest = "" if name in PLAIN else "; (it takes|did you mean) "
        with pytest.raises(TypeError, match=rf"\b{function.__name__}\(\) .*'nonesuch'{rest}"):
            function(*[None] * len(needed), nonesuch=1)
        if "limit" in parameters:
            with pytest.raises(TypeError, match=r"'limt'; did you mean 'limit'\?"):  # codespell:ignore limt
                function(*[None] * len(needed), limt=1)  # codespell:ignore limt


def expanded(overload):
    """An overload's parameters by name, those of its TypedDict too."""
    hints = typing.get_type_hints(overload, localns=NAMED)
    keys = {}
    for one in inspect.signature(overload).parameters.values():
        if one.kind is one.VAR_KEYWORD:
            (options,) = typing.get_args(hints[one.name])
            keys |= typing.get_type_hints(options)
        else:
            keys[one.name] = hints.get(one.name)
    return keys


LOADERS, TABLES = (dict(inspect.getmembers(module, inspect.isfunction)) for module in (loaders, tables))


def test_the_overloads_of_loaders_and_tables_are_those_of_their_signatures():
    for module in (loaders, tables):
        assert stubs.path(module).read_text(encoding="utf-8") == stubs.stub(module), "run make docs"
    returned = {name: inspect.signature(one).return_annotation for name, one in (LOADERS | TABLES).items()}
    assert {name: kind for name, kind in returned.items() if kind != "Any"} == {
        **dict.fromkeys(["load_history", "load_update"], "History[Any]"),
        "load_ledger_history": "LedgerHistory[Any]",
        "load_ledger_transaction": "LedgerHistory[Any]",
        "load_verdicts": "Verdicts[Any]",
    }


@pytest.mark.parametrize("name", [name for name in OVERLOADED if name not in {*LOADERS, *TABLES}])
def test_overloads_take_the_same_keywords_and_say_what_as_gives(name):
    function = FUNCTIONS[name]
    wanted = set(inspect.signature(function).parameters) - {"self"}
    forms = {}
    for overload in typing.get_overloads(function):
        keys = expanded(overload)
        assert set(keys) - {"self"} == wanted
        (form,) = typing.get_args(keys["as_"])
        forms[form] = typing.get_type_hints(overload, localns=NAMED)["return"]
    assert forms == FORMS


def test_connect_takes_every_setting():
    settings = {*inspect.signature(Settings).parameters, "token", "token_oauth", "profile"}
    assert set(inspect.signature(lf.connect).parameters) == settings | {"network", "transport"}


def test_the_sandbox_takes_what_its_server_takes():
    read = [start_sandbox, read_serving, read_history]
    own = {key: one for each in read for key, one in inspect.signature(each).parameters.items() if key != "options"}
    taken = inspect.signature(lf.sandbox).parameters
    assert set(taken) == set(own)
    assert {key: one.default for key, one in taken.items()} == {key: own[key].default for key in taken}


def test_follow_takes_what_sync_takes():
    sync, follow = (set(inspect.signature(one).parameters) for one in (lf.types.Store.sync, lf.types.Store.follow))
    assert follow == sync - {"now"} | {"every", "stop"}


NUMBERS = [True, 1.5, "5", -(2**70), [1], None]
COUNTS = [*NUMBERS[:-1], 0, -1]
FROM_ZERO = [*NUMBERS[:-2], -1]
NAMES = ["alice", b"alice", 5, [5], [None], {"alice": 1}, [""]]
TIMES = ["soon", 5, True, 1.5, [], {}, pd.NaT]
PLACES = [*TIMES, (1,), ("1", "2026-01-30"), (True, "2026-01-30"), (1, "soon"), (2**70, "2026-01-30")]
OFFSETS = ["soon", True, 1.5, "5", -1, 2**63, [], (1, "2026-01-30")]
DURATIONS = ["soon", "1M", -1, True, [], pd.NaT, float("nan")]
WORDS = ["nonesuch", 5, "", []]
TEXTS = [5, "", [], b"x"]
FLAGS = ["yes", 1, []]
FRAMES = [5, "events", None, [1], {}]
FOLDERS = [5, [], "s3://", None]
NETWORKS = ["http://127.0.0.1:9/api/scan", 5]
#: For every parameter values of a wrong type or out of bounds; None is among them only where it means nothing.
WRONG = {
    **dict.fromkeys(["start", "end"], PLACES),
    "at": PLACES,
    **dict.fromkeys(["now", "record_time", "forget_before"], TIMES),
    "as_of": [5, True, "soon", [], {}, pd.Series(["soon"]), pd.Series([pd.Timestamp(0)])],
    **dict.fromkeys(["last", "every", "settle", "within"], DURATIONS),
    **dict.fromkeys(["limit", "page_size", "workers", "commit_bytes", "sample"], COUNTS),
    **dict.fromkeys(["differences", "migration_id", "as_of_round"], FROM_ZERO),
    "seed": NUMBERS[:3],
    **dict.fromkeys(["owners", "templates", "members", "validators", "ids"], NAMES),
    **dict.fromkeys(["parties", "columns", "tables", "fields", "sections", "seen"], NAMES),
    **dict.fromkeys(["as_", "decimals", "match", "missing", "on_error", "format", "layout", "times"], WORDS),
    **dict.fromkeys(["by", "of"], WORDS),
    **dict.fromkeys(["update_id", "hash", "table", "query", "template", "prefix", "synchronizer", "sep"], TEXTS),
    "word": TEXTS,
    **dict.fromkeys(["allow_partial", "blobs", "personal", "overwrite", "infer", "progress"], FLAGS),
    **dict.fromkeys(
        [
            "events", "reassignments", "flows", "licenses", "instruments", "summary", "computed", "updates", "history",
            "data", "rounds", "frame", "prices",
        ],
        FRAMES,
    ),
    **dict.fromkeys(["folder", "path"], FOLDERS),
    "opening": [5, "events", [1], {}],
    **dict.fromkeys(["net", "net_a", "net_b"], NETWORKS),
}  # fmt: skip


@pytest.fixture(scope="module")
def given(world, tmp_path_factory):
    """What valid calls of every function are given: a network, its tables, a store of it."""
    net, history, store = world
    licenses, instruments = lf.load_licenses(net), lf.load_instruments(net)
    flows = lf.reassignment_flows(history.reassignments)
    parties = list(pd.unique(history.events.signatories.dropna().explode()))[:2]
    summary = lf.load_holdings_summary(net, parties)
    return {
        "at": history.updates.record_time[100],
        "net": net, "net_a": net, "net_b": net, "events": history.events, "reassignments": history.reassignments,
        "flows": flows, "licenses": licenses, "instruments": instruments, "summary": summary, "computed": summary,
        "history": history, "parties": parties, "owners": parties, "validators": parties,
        "members": ["PAR::x::1220"], "table": "updates", "query": "select 1", "word": "coin", "data": history,
        "template": history.events.template_name.dropna().iloc[0], "self": store,
        "path": tmp_path_factory.mktemp("path") / "x", "folder": tmp_path_factory.mktemp("folder"),
        "frame": lf.reward_flows(history), "prices": pd.Series([0.1], index=history.updates.record_time[:1]),
    }  # fmt: skip


#: Here the name means something else, or None is the default.
OTHERWISE = {
    ("holdings_from_events", "as_of_round"): FROM_ZERO[:-1],
    **dict.fromkeys(
        [("load_ledger_history", "start"), ("load_ledger_history", "end"), ("load_ledger_contracts", "at")], OFFSETS
    ),
    ("labels", "path"): FOLDERS[:-1],
    ("sandbox", "updates"): [True, 1.5, "5", -1, [1], None],
    ("active_contracts", "reassignments"): [5, "events", [1], {}],
    ("holdings_from_events", "reassignments"): [5, "events", [1], {}],
}


def needed_by(function, given):
    """A valid call's arguments: those without a default."""
    return {key: given[key] for key, one in inspect.signature(function).parameters.items() if one.default is one.empty}


def refusal(function, arguments):
    """What a refused call says; nothing if the arguments are taken."""
    try:
        function(**arguments)
    except lf.errors.InputError as error:
        return str(error)
    return None


@pytest.mark.parametrize("name", {name: None for name, key in PARAMETERS if key in WRONG})
def test_a_wrong_value_is_refused_before_anything_is_sent(hour, given, name):
    function = FUNCTIONS[name]
    arguments = needed_by(function, given)
    before = hour.stats.requests
    plt.close("all")
    for key in inspect.signature(function).parameters.keys() & WRONG.keys():
        for value in OTHERWISE.get((name, key), WRONG[key]):
            said = refusal(function, {**arguments, key: value})
            assert said is not None, f"{name} takes {key}={value!r}"
            assert len(said) < 600
    assert hour.stats.requests == before
    assert not plt.get_fignums()  # a notebook would show the empty figure below the error
