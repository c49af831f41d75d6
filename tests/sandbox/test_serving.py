"""An app on a loopback port: starts, counts, delays, stops."""

from __future__ import annotations

import asyncio
import http.client
import socket
import threading
import time
import urllib.error
import urllib.request

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

from ledgerframes.sandbox.faults import Faults
from ledgerframes.sandbox.serving import serve


async def hello(request: Request) -> JSONResponse:
    return JSONResponse({"hello": request.path_params["name"]})


async def broken(request: Request) -> PlainTextResponse:
    raise LookupError(request.url.path)


APP = Starlette(routes=[Route("/hello/{name}", hello), Route("/broken", broken)])


@pytest.fixture
def served():
    with serve(APP) as running:
        yield running


def port_of(url: str) -> int:
    return int(url.rpartition(":")[2])


def test_it_answers_on_a_free_loopback_port_with_the_latency_it_was_given(served):
    served.latency = 0.05
    began = time.perf_counter()
    with urllib.request.urlopen(f"{served.url}/hello/ada") as answer:
        assert answer.read() == b'{"hello":"ada"}'
    assert time.perf_counter() - began >= 0.05
    port = port_of(served.url)
    with pytest.raises(OSError, match=f"127.0.0.1:{port}.*another port"):
        serve(APP, port=port)


def test_stop_frees_the_port_though_connections_are_open_and_busy():
    reached = threading.Event()

    async def never(*_: object) -> None:
        reached.set()
        await asyncio.Event().wait()

    served = serve(never)
    port = port_of(served.url)
    idle = socket.create_connection(("127.0.0.1", port))
    busy = http.client.HTTPConnection("127.0.0.1", port)
    busy.request("GET", "/hello/ada")
    assert reached.wait(60)
    began = time.perf_counter()
    served.stop()
    assert time.perf_counter() - began < 1.0
    served.stop()
    assert served.url not in "".join(thread.name for thread in threading.enumerate())
    assert "stopped" in repr(served)
    idle.close()
    busy.close()
    with serve(APP, port=port) as again:
        assert urllib.request.urlopen(f"{again.url}/hello/ada").read() == b'{"hello":"ada"}'


def test_counts_what_arrived_whatever_became_of_it(served):
    served.faults = Faults(sequence=("503", "ok"))
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{served.url}/hello/ada")
    refused.value.close()
    urllib.request.urlopen(f"{served.url}/hello/ada").read()
    assert served.requests == {"GET /hello/ada": 2}


def test_an_app_that_fails_is_logged_with_its_request(served, caplog):
    with pytest.raises(urllib.error.HTTPError) as failed:
        urllib.request.urlopen(f"{served.url}/broken")
    failed.value.close()
    served.stop()
    assert failed.value.code == 500
    assert "GET /broken" in caplog.text
    assert "LookupError" in caplog.text
