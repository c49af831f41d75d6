"""The handle of a running sandbox: its addresses, its replicas, its counters, its end."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from ledgerframes.sandbox.faults import Faults
from ledgerframes.sandbox.http.responses import JSON_MAXIMUM
from ledgerframes.sandbox.server import start
from tests.sandbox.asking import ask


@pytest.fixture(scope="module")
def sandbox():
    with start(seed=2, updates=60) as running:
        yield running


def page(sandbox, page_size=100):
    body = json.dumps({"page_size": page_size}).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{sandbox.scan_url}/v2/updates", body)) as answer:
        return json.loads(answer.read())["transactions"]


def test_faults_come_and_go_while_it_runs_and_once_stopped_it_answers_no_more():
    with start(updates=5, faults=Faults({"503": 1.0})) as sandbox:
        with pytest.raises(urllib.error.HTTPError, match="503") as raised:
            page(sandbox)
        raised.value.close()
        assert sandbox.faults == Faults({"503": 1.0})
        sandbox.faults = None
        assert len(page(sandbox)) == 5
        assert sandbox.faults is None
        sandbox.stop()
    with pytest.raises(urllib.error.URLError):
        page(sandbox)


def test_a_program_that_forgets_to_stop_it_still_ends():
    code = "from ledgerframes.sandbox.server import start; print(start(updates=5).url)"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)

    assert done.stdout.startswith("http://127.0.0.1:")
    assert done.stderr == ""


def test_it_answers_under_the_names_of_a_localnet_and_hands_on_addresses_under_them():
    body = {"start_record_time": "0001-01-01T00:00:00Z", "end_record_time": "9999-01-01T00:00:00Z", "page_size": 1000}
    with start(updates=300) as sandbox:
        host = sandbox.url.replace("http://127.0.0.1", "scan.localhost")
        listed = ask(f"{sandbox.scan_url}/v0/history/bulk/updates", body, headers={"Host": host}).json["object_refs"]

    assert listed
    assert all(one["url"].startswith(f"http://{host}/api/scan/") for one in listed)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/api/scan/v2/updates", "error"),
        ("/registry/allocation-instruction/v1/allocation-factory", "error"),
        ("/api/ledger/v2/users", "cause"),
    ],
)
@pytest.mark.parametrize("headers", [{"Content-Length": "10000000000"}, {"Transfer-Encoding": "chunked"}])
def test_a_body_above_the_limit_is_refused_before_its_end(sandbox, path, said, headers):
    chunk = b"%x\r\n" % (JSON_MAXIMUM + 1) + bytes(JSON_MAXIMUM + 1) if "Transfer-Encoding" in headers else b"{"
    connection = http.client.HTTPConnection(sandbox.url.removeprefix("http://"), timeout=30)
    connection.putrequest("POST", path)
    for name, value in {**headers, "Authorization": f"Bearer {sandbox.token('participant_admin')}"}.items():
        connection.putheader(name, value)
    connection.endheaders(chunk)
    answer = connection.getresponse()

    assert answer.status == 413
    assert str(JSON_MAXIMUM) in json.loads(answer.read())[said]
    connection.close()
