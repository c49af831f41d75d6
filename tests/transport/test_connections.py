"""A kept connection gives each request its own answer, in whatever form it comes, and is given up when it is spent."""

from __future__ import annotations

import gzip
import socket
import threading

import pytest
from hostile_server import Reply, answer

from ledgerframes.errors import NoAnswerError
from ledgerframes.transport import Endpoint

READ = Endpoint(interface="scan", method="GET", path="/v0/thing")
COMMAND = Endpoint(interface="scan", method="POST", path="/v0/command", safe=False)
STRAY = b'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"another"'


def chunked(*pieces: bytes) -> bytes:
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


def raw(head: bytes, body: bytes = b"") -> Reply:
    return Reply(raw=b"HTTP/1.1 200 OK\r\n" + head + b"\r\n" + body)


FORMS = {
    "a length": raw(b"Content-Length: 7\r\n", b'"right"'),
    "the same length twice": raw(b"Content-Length: 7\r\nContent-Length: 7\r\n", b'"right"'),
    "lines without returns": Reply(raw=b'HTTP/1.1 200 OK\nContent-Length: 7\n\n"right"'),
    "an interim answer before": Reply(
        raw=b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + b'HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n"right"'
    ),
    "chunks": raw(b"Transfer-Encoding: chunked\r\n", chunked(b'"ri', b'ght"')),
    "chunks that say a length, too": raw(
        b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", chunked(b'"ri', b'ght"')
    ),
    "until it closes": raw(b"", b'"right"'),
    "HTTP/1.0": Reply(raw=b'HTTP/1.0 200 OK\r\n\r\n"right"'),
    "a head in pieces": Reply(body=b'"right"', drip=0.0, drip_head=True),
}
BROKEN = {
    "two lengths": raw(b"Content-Length: 7\r\nContent-Length: 8\r\n", b'"right"'),
    "fewer bytes than the length": raw(b"Content-Length: 8\r\n", b'"right"'),
    "chunks that stop": raw(b"Transfer-Encoding: chunked\r\n", b'8\r\n"ri'),
    "a head that stops": Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Le"),
    "a header without a name": raw(b": 7\r\n", b'"right"'),
    "a long line that is no header": raw(b"no colon " + b"x" * 50_000 + b"\r\n"),
}


@pytest.mark.parametrize("reply", FORMS.values(), ids=FORMS)
def test_a_body_is_read_to_its_end_in_every_form(reply, serve, transport):
    server = serve(reply)
    assert transport(scan_url=server.url).send(READ.request(), read=bytes).value == b'"right"'


@pytest.mark.parametrize("reply", BROKEN.values(), ids=BROKEN)
def test_a_broken_answer_is_no_answer(reply, serve, transport):
    server = serve(reply)
    with pytest.raises(NoAnswerError, match="the connection broke off") as caught:
        transport(scan_url=server.url, attempts=1).send(READ.request(), read=bytes)
    assert len(str(caught.value)) < 1_000


REUSED = {
    "a length": Reply(body=b"[]"),
    "no body": Reply(body=b""),
    "chunks": Reply(body=chunked(b"[", b"]"), headers=(("Transfer-Encoding", "chunked"),)),
    "gzip": Reply(body=gzip.compress(b"[]"), headers=(("Content-Encoding", "gzip"),)),
}
SPENT = {
    "it says so": Reply(body=b"[]", headers=(("Connection", "close"),)),
    "bytes behind a length": Reply(body=b"[]" + STRAY, length=2),
    "bytes behind chunks": Reply(body=chunked(b"[]") + STRAY, headers=(("Transfer-Encoding", "chunked"),)),
    "bytes behind gzip": Reply(
        body=gzip.compress(b"[]") + STRAY, length=len(gzip.compress(b"[]")), headers=(("Content-Encoding", "gzip"),)
    ),
}


@pytest.mark.parametrize("reply", REUSED.values(), ids=REUSED)
def test_a_connection_is_kept_after_an_answer_in_each_form(reply, serve, transport):
    server = serve(reply)
    sender = transport(scan_url=server.url)
    for _ in range(3):
        sender.send(READ.request(), read=bytes)
    assert (server.connections, len(server.heard)) == (1, 3)


@pytest.mark.parametrize("reply", SPENT.values(), ids=SPENT)
def test_an_answer_is_never_taken_from_what_came_before_the_request(reply, serve, transport):
    server = serve(reply, answer("right"))
    sender = transport(scan_url=server.url)
    assert sender.send(READ.request(), read=bytes).value == b"[]"
    assert sender.send(READ.request(), read=bytes).value == b'"right"'
    assert server.connections == 2


def test_a_connection_that_the_server_has_closed_is_not_asked_again(transport):
    closed = threading.Event()

    def answer_twice(listener: socket.socket) -> None:
        for _ in range(2):
            connection, _ = listener.accept()
            with connection:
                connection.recv(2**16)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]")
            closed.set()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=answer_twice, args=(listener,), daemon=True)
        thread.start()
        sender = transport(scan_url=f"http://127.0.0.1:{listener.getsockname()[1]}", attempts=1)
        for _ in range(2):
            assert sender.send(READ.request(), read=bytes).value == b"[]"
            assert closed.wait(60)
        thread.join(60)


def test_a_command_under_way_is_answered_even_if_the_connection_is_closed(serve, transport):
    arrived, closed = threading.Event(), threading.Event()

    def slowly(_heard):
        arrived.set()
        assert closed.wait(60)
        return answer("done")

    server = serve(by=slowly)
    sender = transport(scan_url=server.url)
    got: list[bytes] = []
    thread = threading.Thread(target=lambda: got.append(sender.send(COMMAND.request(json={}), read=bytes).value))
    thread.start()
    assert arrived.wait(60)
    sender.transport.close()
    closed.set()
    thread.join(60)
    assert got == [b'"done"']
