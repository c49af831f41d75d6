"""Ids, names and places that would lead elsewhere end in the place they name, or in an error of the package."""

import os
from urllib.parse import unquote

import pytest

import ledgerframes as lf
from tests.clocks import SkippingClock
from tests.transport.hostile_server import HostileServer, text

IDS = {
    "up": "../../admin", "dots": "..", "dot": ".", "coded dots": "%2e%2e", "coded slash": "..%2Fadmin", "NUL": "a\0b",
    "line": "a\r\nHost: x", "backslash": "..\\admin", "query": "a?b=c#d", "unicode": "\u202eé\u2028/\u3000",
    "long": "x" * 40_000,
    "half a character": "\ud800", "nothing": "",
}  # fmt: skip
CALLS = {
    "update": (lambda net, one: net.scan.update_by_id(one), ("/v1/updates/", "/v2/updates/")),
    "hash": (lambda net, one: net.scan.update_by_hash(one), ("/v2/updates/hash/",)),
    "party": (
        lambda net, one: net.validator.transfer_preapproval(one),
        ("/v0/scan-proxy/transfer-preapprovals/by-party/",),
    ),
}


@pytest.fixture(scope="module")
def far():
    """A network without anything, and the requests that it was sent."""
    with HostileServer([text("not here", 404)]) as server:
        urls = {f"{name}_url": f"{server.url}/api" for name in ("scan", "validator", "registry", "ledger")}
        options = lf.connect(**urls, token="t0ken-t0ken").settings
        with lf.types.Network(options, clock=SkippingClock()) as net:
            yield net, server.heard


@pytest.mark.parametrize(("call", "routes"), CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("identifier", IDS.values(), ids=IDS)
def test_an_id_stays_one_segment_of_its_own_route(far, call, routes, identifier):
    net, asked = far
    asked.clear()
    with pytest.raises((lf.errors.InputError, lf.errors.NotFoundError)):
        call(net, identifier)
    for heard in asked:
        assert heard.path.startswith(tuple(f"/api{route}" for route in routes))
        assert unquote(heard.target.rpartition("/")[2]) == identifier


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
    assert all(".." not in heard.path for heard in asked)


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


def test_a_recording_is_named_by_digests_whatever_was_asked(tmp_path, far):
    net, _ = far
    with lf.record(tmp_path / "kept", net=net) as kept, pytest.raises(lf.errors.NotFoundError):
        kept.scan.update_by_hash("../../../x\\y")
    names = {path.name for path in (tmp_path / "kept").iterdir()} - {"recording.json"}
    assert len(names) == 1
    assert all(len(name) == len(f"{'0' * 40}-0000.json") and "x" not in name for name in names)


@pytest.mark.parametrize(
    "content", [b"{", b"[]", b'{"answer":{"status":"x"}}', b'{"answer":{"status":200,"body":{"base64":"%%"}}}']
)
def test_a_damaged_answer_of_a_recording_is_named(net, tmp_path, content):
    with lf.record(tmp_path, net=net) as kept:
        lf.load_instruments(kept)
    for path in tmp_path.glob("*-0000.json"):
        path.write_bytes(content)
    with pytest.raises(lf.LedgerframesError, match="not a recorded answer"):
        lf.load_instruments(lf.replay(tmp_path))
