"""A running sandbox: its addresses, its faults, its growth, its options, its end; and any app on a loopback port."""

import asyncio
import http.client
import json
import socket
import subprocess
import sys
import threading
import time
import urllib.error
from itertools import islice

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

import ledgerframes as lf
from ledgerframes.sandbox.faults import Faults
from ledgerframes.sandbox.http.responses import JSON_MAXIMUM
from ledgerframes.sandbox.http.user_routes import ARCHIVE_MAXIMUM
from ledgerframes.sandbox.server import LARGEST_STEP, keep_growing, start
from ledgerframes.sandbox.serving import serve
from ledgerframes.sandbox.start_options import parse_rate
from tests.sandbox.asking import ask

PAGE = {"page_size": 100}


def test_faults_come_and_go_while_it_runs_and_once_stopped_it_answers_no_more():
    with start(updates=5, faults=Faults({"503": 1.0})) as sandbox:
        url = f"{sandbox.scan_url}/v2/updates"
        assert ask(url, PAGE).status == 503
        assert sandbox.faults == Faults({"503": 1.0})
        sandbox.faults = None
        assert len(ask(url, PAGE).json["transactions"]) == 5
        assert sandbox.faults is None
        sandbox.stop()
    with pytest.raises(urllib.error.URLError):
        ask(url, PAGE)


def test_a_program_that_forgets_to_stop_it_still_ends():
    code = "from ledgerframes.sandbox.server import start; print(start(updates=5).url)"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)

    assert done.stdout.startswith("http://127.0.0.1:")
    assert done.stderr == ""


def test_it_answers_under_the_names_of_a_localnet_and_hands_on_addresses_under_them(sandbox):
    body = {"start_record_time": "0001-01-01T00:00:00Z", "end_record_time": "9999-01-01T00:00:00Z", "page_size": 1000}
    host = sandbox.url.replace("http://127.0.0.1", "scan.localhost")
    listed = ask(f"{sandbox.scan_url}/v0/history/bulk/updates", body, headers={"Host": host}).json["object_refs"]

    assert listed
    assert all(one["url"].startswith(f"http://{host}/api/scan/") for one in listed)


@pytest.mark.parametrize(
    ("path", "kind", "limit", "said"),
    [
        ("/api/scan/v2/updates", "json", JSON_MAXIMUM, "error"),
        ("/api/ledger/v2/users", "json", JSON_MAXIMUM, "cause"),
        ("/api/ledger/v2/packages", "octet-stream", ARCHIVE_MAXIMUM, "cause"),
    ],
)
@pytest.mark.parametrize("length", ["Content-Length", "Transfer-Encoding"])
def test_a_body_above_the_limit_is_refused_before_its_end(sandbox, path, kind, limit, said, length):
    chunk = b"%x\r\n" % (limit + 1) + bytes(limit + 1) if length == "Transfer-Encoding" else b"{"
    connection = http.client.HTTPConnection(sandbox.url.removeprefix("http://"), timeout=30)
    connection.putrequest("POST", path)
    headers = {"Content-Type": f"application/{kind}", "Authorization": f"Bearer {sandbox.token('participant_admin')}"}
    headers[length] = "chunked" if length == "Transfer-Encoding" else "10000000000"
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders(chunk)
    answer = connection.getresponse()

    assert answer.status == 413
    assert str(limit) in json.loads(answer.read())[said]
    connection.close()


def test_readers_see_it_grow_at_its_rate_until_it_is_stopped_while_record_times_move_on():
    page, began = [], time.monotonic()
    with start(updates=20, live="500/s") as sandbox:
        while len(page) < 200:
            before, page = page, ask(f"{sandbox.scan_url}/v2/updates", {"page_size": 1_000}).json["transactions"]
            assert page[: len(before)] == before
            assert len(page) - 20 <= (time.monotonic() - began) * 500
        assert "sandbox growth" in {thread.name for thread in threading.enumerate()}
    length = len(sandbox.world.updates)
    assert "sandbox growth" not in {thread.name for thread in threading.enumerate()}
    newest = [one["record_time"] for one in page if one.get("event", one)["migration_id"] == 2]
    assert newest == sorted(newest)
    assert newest[-1] > newest[0]
    assert list(islice(sandbox.world.items(), 20)) == page[:20]
    assert len(sandbox.world.updates) == length


def test_a_world_that_cannot_grow_is_logged_and_grows_no_more(caplog):
    def advance(updates):
        assert updates <= LARGEST_STEP
        raise LookupError("the world has ended")

    keep_growing(advance, 10**9, threading.Event())

    assert "the world has ended" in caplog.text
    assert "stopped growing" in caplog.text


async def hello(request: Request) -> JSONResponse:
    return JSONResponse({"hello": request.path_params["name"]})


async def broken(request: Request) -> PlainTextResponse:
    raise LookupError(request.url.path)


APP = Starlette(routes=[Route("/hello/{name}", hello), Route("/broken", broken)])


def test_it_answers_on_a_free_loopback_port_late_as_told_counts_what_arrived_and_logs_a_failure(caplog):
    with serve(APP) as served:
        served.latency = 0.05
        began = time.perf_counter()
        assert ask(f"{served.url}/hello/ada").json == {"hello": "ada"}
        assert time.perf_counter() - began >= 0.05
        with pytest.raises(OSError, match=f"{served.url[7:]}.*another port"):
            serve(APP, port=int(served.url.rpartition(":")[2]))
        served.faults = Faults(sequence=("503", "ok"))
        paths = ("hello/ada", "hello/ada", "broken")
        assert [ask(f"{served.url}/{path}").status for path in paths] == [503, 200, 500]
    assert served.requests == {"GET /hello/ada": 3, "GET /broken": 1}
    assert "GET /broken" in caplog.text
    assert "LookupError" in caplog.text


def test_stop_frees_the_port_though_connections_are_open_and_busy():
    reached = threading.Event()

    async def never(*_: object) -> None:
        reached.set()
        await asyncio.Event().wait()

    served = serve(never)
    port = int(served.url.rpartition(":")[2])
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
        assert ask(f"{again.url}/hello/ada").status == 200


#: By the option: values that are not valid, and what is said of them.
REFUSED = {
    "days": ((0, 2.5, True, "90", 4_000), "days={!r} is not valid: give a whole number from 1 to 3650"),
    "rounds_per_day": ((0, -1, 1.5, True, "144", 10**6), "rounds_per_day=.* is not valid"),
    "reward_version": (("v2",), "reward_version='v2'"),
    "release": (("3.5", "", 3.5), r"'contract', '0\.9', '0\.7' or '0\.5'"),
    "auth": (("oauth",), "auth='oauth' is not valid: give 'token' or 'none'"),
    "prune": (("30",), "prune='30' is not valid"),
    "prune_before": (("yesterday", ("1", "2025-03-03")), "prune_before='(yesterday|1)' is not valid"),
    "live": (("50", "0/s", "-1/s", "50/d", "٣/s", "1/s\n", "fast", 5), "live=.*50/s"),
    **{name: (wrong, name) for name, wrong in (("migrations", (0,)), ("port", (70_000, -1)), ("latency", (-1,)))},
    **{name: (wrong, name) for name, wrong in (("load", (5,)), ("faults", (5, "429:often")))},
}
ROWS = [({name: wrong}, said.format(wrong)) for name, (values, said) in REFUSED.items() for wrong in values]
ROWS.append(({"days": 9, "updates": 10}, "days=9 and updates=10 do not go together"))
ROWS.append(({"prune_before": "2025-03-03", "prune": "30d"}, "do not go together"))


@pytest.mark.parametrize(("options", "said"), ROWS, ids=lambda one: ascii(one) if isinstance(one, dict) else "")
def test_what_is_not_valid_is_refused_with_what_is(options, said):
    with pytest.raises(lf.errors.InputError, match=f"(?s){said}"):
        lf.sandbox(**options)


def test_a_rate_has_a_unit_of_time_and_an_option_that_does_not_exist_is_refused():
    assert [parse_rate(text) for text in ("0.5/s", "90/min", "36/h")] == pytest.approx([0.5, 1.5, 0.01])
    with pytest.raises(TypeError, match="unexpected keyword argument 'prot'"):
        start(prot=8080)
    with start(updates=5) as sandbox, pytest.raises(TypeError, match="unexpected keyword argument 'updates'"):
        sandbox.replica(updates=10)
