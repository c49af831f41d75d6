"""Which server and which route is asked, and what is remembered of it."""

import pytest
from hostile_server import Reply, answer, text, unused_port

from ledgerframes.errors import InputError, NoAnswerError, NotFoundError, ServerError, StatusError
from ledgerframes.transport import Endpoint

READ = Endpoint(interface="scan", method="GET", path="/v0/thing")
NEW = Endpoint(interface="scan", method="GET", path="/v2/updates/{update_id}")
OLD = Endpoint(interface="scan", method="GET", path="/v1/updates/{update_id}")
HASH = Endpoint(interface="scan", method="GET", path="/v2/updates/hash/{hash}", not_found_is_local=True)

GONE = text("The requested resource could not be found.", 404)
ABSENT = answer({"error": "no such update"}, 404)
BUSY = answer({}, 503, Retry_After="2")
LATER = answer({}, 503, Retry_After="40")
#: What two servers reply, how often each is asked, the waits, and which of them answers or which error it is.
TWO = {
    "each has its own time": ([LATER], [BUSY, answer({})], (1, 2), [2], 1),
    "one is not asked before its time": ([LATER], [BUSY, BUSY, BUSY, answer({})], (1, 4), [2, 2, 2], 1),
    "one fails for good": ([text("", 500)], [BUSY, BUSY, BUSY, answer({})], (1, 4), [2, 2, 2], 1),
    "both fail for good": ([text("", 500)], [text("", 500)], (1, 1), [], ServerError),
    "one fails, one lacks the route": ([text("", 500)], [GONE], (1, 1), [], ServerError),
    "a wrong request": ([answer({"error": "bad"}, 400)], [answer({})], (1, 0), [], StatusError),
}
FAULTS = {
    "500": text("", 500), "503": text("", 503), "429": text("", 429), "reset": Reply(hang_up="before"), "no": GONE,
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_the_next_server_is_asked_at_once_and_stayed_with(fault, serve, transport, clock):
    first, second = serve(fault), serve()
    sender = transport(scan_url=[first.url, second.url])
    assert sender.servers("scan") == (first.url, second.url)
    for _ in range(3):
        assert sender.send(READ.request(), read=bytes).server == second.url
    assert (len(first.heard), len(second.heard), clock.sleeps) == (1, 3, [])
    assert sender.servers("scan") == (second.url, first.url)


@pytest.mark.parametrize(("first", "second", "asked", "waits", "outcome"), TWO.values(), ids=TWO)
def test_two_servers_are_asked_in_turn(first, second, asked, waits, outcome, serve, transport, clock):
    servers = [serve(*first), serve(*second)]
    sender = transport(scan_url=[server.url for server in servers])
    if isinstance(outcome, int):
        assert sender.send(READ.request(), read=bytes).server == servers[outcome].url
    else:
        with pytest.raises(outcome):
            sender.send(READ.request(), read=bytes)
    assert tuple(len(server.heard) for server in servers) == asked
    assert clock.sleeps == waits


def test_a_named_server_is_the_only_one_asked(serve, transport):
    first, second = serve(), serve()
    sender = transport(scan_url=[first.url, second.url])
    assert sender.on(second.url).send(READ.request(), read=bytes).server == second.url
    assert sender.servers("scan") == (first.url, second.url)
    with pytest.raises(InputError, match="not a scan server"):
        sender.on("http://127.0.0.1:9").send(READ.request(), read=bytes)


@pytest.mark.parametrize(
    "unknown",
    [GONE, text("<html>404</html>", 404, "text/html"), text("", 405), text("[]", 404)],
    ids=["text", "html", "405", "other json"],
)
def test_an_unknown_route_falls_back_and_is_remembered(unknown, serve, transport, clock):
    server = serve(by=lambda heard: unknown if heard.target.startswith("/v2") else answer({}))
    sender = transport(scan_url=server.url, attempts=1)
    for _ in range(2):
        got = sender.send(*(e.request(path={"update_id": "u"}) for e in (NEW, OLD)), read=bytes)
        assert got.request.endpoint is OLD
    assert [heard.target for heard in server.heard] == ["/v2/updates/u", "/v1/updates/u", "/v1/updates/u"]
    assert clock.sleeps == []


def test_a_404_of_the_contract_is_told_from_that_of_an_unknown_route(serve, transport):
    requests = [endpoint.request(path={"update_id": "u"}) for endpoint in (NEW, OLD)]
    for replies, said, unknown, asked in (
        ([ABSENT], "no such update", False, [1]),
        ([GONE, GONE], "another release", True, [2, 2]),
    ):
        servers = [serve(reply) for reply in replies]
        with pytest.raises(NotFoundError, match=said) as caught:
            transport(scan_url=[server.url for server in servers]).send(*requests, read=bytes)
        assert caught.value.unknown_route is unknown
        assert [len(server.heard) for server in servers] == asked


def test_a_local_404_is_asked_of_every_server_and_believed_when_all_say_it(serve, transport, clock):
    first, second, third = serve(ABSENT), serve(GONE), serve()
    sender = transport(scan_url=[first.url, second.url, third.url])
    assert sender.send(HASH.request(path={"hash": "h"}), read=bytes).server == third.url
    assert sender.servers("scan")[0] == first.url
    assert clock.sleeps == []
    with pytest.raises(NotFoundError) as caught:
        transport(scan_url=[first.url, second.url]).send(HASH.request(path={"hash": "h"}), read=bytes)
    assert caught.value.unknown_route is False
    assert (len(first.heard), len(second.heard)) == (2, 2)


def test_a_local_404_is_not_believed_while_a_server_is_away(serve, transport, clock):
    there = serve(ABSENT)
    away = f"http://127.0.0.1:{unused_port()}"
    with pytest.raises(NoAnswerError):
        transport(scan_url=[away, there.url], attempts=3).send(HASH.request(path={"hash": "h"}), read=bytes)
    assert len(there.heard) == 1
    assert len(clock.sleeps) == 1  # it has never been there, so it is asked twice


@pytest.mark.parametrize(
    ("status", "place", "said"),
    [
        (301, "/path?token=abcd", "redirects to 127"),
        (307, "/x", "redirects to 127"),
        (300, "", "300"),
        (307, "", "307"),
    ],
)
def test_redirects_are_not_followed_and_named_where_they_have_an_address(status, place, said, serve, transport):
    target = serve()
    server = serve(Reply(status, b"", (("Location", target.url + place),) if place else ()))
    endpoint = Endpoint(interface="ledger", method="GET", path="/x")
    with pytest.raises(StatusError, match=said) as caught:
        transport(ledger_url=server.url, ledger_token="secret-token").send(endpoint.request(), read=bytes)
    assert caught.value.status == status
    assert "abcd" not in str(caught.value)
    assert ("redirect" in str(caught.value)) == bool(place)
    assert target.heard == []
