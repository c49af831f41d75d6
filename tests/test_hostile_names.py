"""Ids, names and places that would lead elsewhere end in the place they name, or in an error of the package."""

import json
import os
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

import ledgerframes as lf
from ledgerframes.cli.output import write_files
from ledgerframes.sandbox.serving import serve
from tests.clocks import SkippingClock

IDS = {
    "up": "../../admin", "dots": "..", "dot": ".", "coded dots": "%2e%2e", "coded slash": "..%2Fadmin", "NUL": "a\0b",
    "line": "a\r\nHost: x", "backslash": "..\\admin", "query": "a?b=c#d", "unicode": "\u202eé\u2028/\u3000",
    "long": "x" * 40_000,
    "half a character": "\ud800", "nothing": "",
}  # fmt: skip
CALLS = {
    "update": (lambda net, one: net.scan.update_by_id(one), "/v1/updates/"),
    "newer update": (lambda net, one: net.scan.update_by_id(one), "/v2/updates/"),
    "hash": (lambda net, one: net.scan.update_by_hash(one), "/v2/updates/hash/"),
    "party": (
        lambda net, one: net.validator.transfer_preapproval(one), "/v0/scan-proxy/transfer-preapprovals/by-party/",
    ),
}  # fmt: skip
ONE = pa.table({"a": ["x"]})


@pytest.fixture(scope="module")
def far():
    """A network without anything, and the paths that it was asked for."""
    asked = []

    async def answer(request):
        asked.append(request.scope["raw_path"].decode())
        return Response("not here", 404, media_type="text/plain")

    app = Starlette(routes=[Route("/{path:path}", answer, methods=["GET", "POST"])])
    app.router.redirect_slashes = False
    with serve(app) as served:
        urls = {f"{name}_url": f"{served.url}/api" for name in ("scan", "validator", "registry", "ledger")}
        options = lf.connect(**urls, token="t0ken-t0ken").settings
        with lf.types.Network(options, clock=SkippingClock()) as net:
            yield net, asked


@pytest.mark.parametrize(("call", "route"), CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("identifier", IDS.values(), ids=IDS)
def test_an_id_stays_one_segment_of_its_own_route(far, call, route, identifier):
    check_route(*far, call, route, identifier)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(identifier=st.text(max_size=12) | st.text(st.sampled_from("./\\%2eEfF5c:;?#@\0\n "), max_size=12))
def test_any_id_stays_one_segment_of_its_own_route(far, identifier):
    check_route(*far, *CALLS["hash"], identifier)


def check_route(net, asked, call, route, identifier):
    asked.clear()
    with pytest.raises((lf.errors.InputError, lf.errors.NotFoundError)):
        call(net, identifier)
    for path in asked:
        assert path.startswith(("/api/v1/updates/", "/api/v2/updates/", f"/api{route}"))
        assert unquote(path.rpartition("/")[2]) == identifier


@pytest.mark.parametrize("token", ["x" * 70_000, "\ud800", "../..\r\nX: y&limit=1"], ids=["long", "half", "more"])
def test_a_page_token_stays_one_value_of_the_query(far, token):
    net, asked = far
    asked.clear()
    for call in (
        lambda: net.scan.validator_licenses(after=token),
        lambda: net.ledger.list_users(page_token=token),
        lambda: net.registry.instruments(page_token=token),
    ):
        with pytest.raises((lf.errors.InputError, lf.errors.NotFoundError)):
            call()
    assert all(".." not in path for path in asked)


@pytest.mark.parametrize("path", ["a/../b", "a/%2e%2e/b", "a/.%2E/b", "\u202egpj", "a\0b", "\ud800", "x" * 70_000])
def test_a_base_url_that_would_lead_elsewhere_is_refused(path):
    with pytest.raises(lf.errors.ConfigurationError, match="scan_url"):
        lf.connect(scan_url=f"http://127.0.0.1:1/{path}")


def test_a_page_token_of_a_server_cannot_lead_elsewhere_either():
    asked = []

    async def answer(request):
        asked.append(request.url.path)
        if len(asked) == 1:
            return Response(json.dumps({"adminId": "issuer::1220", "supportedApis": {}}), media_type="application/json")
        following = "../../v2/users?x" if len(asked) == 2 else "y" * 100_000
        return Response(json.dumps({"instruments": [], "nextPageToken": following}), media_type="application/json")

    app = Starlette(routes=[Route("/{path:path}", answer)])
    with (
        serve(app) as served,
        lf.connect(registry_url=served.url) as net,
        pytest.raises(lf.errors.InputError, match="long"),
    ):
        lf.load_instruments(net)
    assert asked == ["/registry/metadata/v1/info", *["/registry/metadata/v1/instruments"] * 2]


PLACES = {"NUL": "a\0b", "half a character": "\ud800", "long": "x" * 300, "very long": "x" * 70_000}
WRITERS = {
    "an export": lambda _net, place: lf.export({"t": ONE}, place),
    "a workbook": lambda _net, place: lf.export({"t": ONE}, f"{place}.xlsx", format="xlsx"),
    "a file": lambda _net, place: write_files({"t": ONE}, Path(f"{place}.json")),
    "a recording": lambda net, place: lf.record(place, net=net),
    "a replay": lambda _net, place: lf.replay(place),
    "a store": lambda net, place: lf.open_store(place).sync(net, tables=["instruments"]),
    "a report": lambda net, place: lf.report(lf.load_history(net, limit=3), f"{place}.html", sections=["provenance"]),
    "a ledger": lambda _net, place: lf.sandbox(load=place),
    "a profile": lambda _net, place: lf.connect(profile=place),
}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_a_place_that_no_file_can_have_is_named(net, tmp_path, monkeypatch, write, place):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(lf.LedgerframesError) as caught:
        write(net, place)
    assert str(caught.value).isprintable()
    assert not [path for path in tmp_path.iterdir() if not path.name.startswith("x")]


@pytest.mark.parametrize(
    "name", ["../t", "..", "a/b", "a\\b", "%2e%2e", "a\0b", "\u202e", "x" * 70_000, "updates/../x"]
)
def test_a_table_that_a_store_does_not_keep_is_no_folder(net, tmp_path, name):
    store = lf.open_store(tmp_path / "lake")
    for ask in (lambda: store.load(name), lambda: store.sync(net, tables=[name]), lambda: store.scan(name)):
        with pytest.raises(lf.errors.InputError):
            ask()
    assert list(tmp_path.iterdir()) == []


MISREAD = {"dots": "%2e%2e", "slash": "a%2Fb", "letter": "%41", "backslash": "a\\b", "bracket": "a[b", "caret": "a^b"}


@pytest.mark.skipif(os.name == "nt", reason="a backslash is a separator there")
@pytest.mark.parametrize("name", MISREAD.values(), ids=MISREAD)
def test_a_store_is_not_opened_where_its_library_would_look_elsewhere(tmp_path, name):
    with pytest.raises(lf.errors.InputError, match="another folder"):
        lf.open_store(tmp_path / name)


@pytest.mark.parametrize("name", ["a b", "100%", "é", "a'b", "a;b", "a*b", "a:b", "~", "#", "a?b", "-o", "{x}"])
def test_a_store_lies_in_the_very_folder_that_was_named(net, tmp_path, name):
    lf.open_store(tmp_path / name).sync(net, tables=["instruments"])
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert len(lf.open_store(tmp_path / name).load("instruments")) > 0


def test_a_recording_is_named_by_digests_whatever_was_asked(tmp_path, far):
    net, _ = far
    with lf.record(tmp_path / "kept", net=net) as kept, pytest.raises(lf.errors.NotFoundError):
        kept.scan.update_by_hash("../../../x\\y")
    names = {path.name for path in (tmp_path / "kept").iterdir()} - {"recording.json"}
    assert len(names) == 1
    assert all(len(name) == len(f"{'0' * 40}-0000.json") and "x" not in name for name in names)


@pytest.mark.parametrize("query", ["", " ", ";", "-- x"])
def test_a_query_of_nothing_is_named(net, tmp_path, query):
    store = lf.open_store(tmp_path / "lake")
    store.sync(net, tables=["instruments"])
    with pytest.raises(lf.errors.InputError, match="SELECT"):
        store.sql(query)
