"""Any `httpx.BaseTransport` carries the requests: with the retries, tokens and bounds of every other connection."""

from __future__ import annotations

import gzip
import json

import httpx
import pytest

import ledgerframes as lf
from ledgerframes.errors import InputError, NoAnswerError, NotFoundError
from tests.clocks import FakeClock

SCAN = "https://scan.example.com/api/scan"


def network(answer, clock=None, **settings):
    """Answered by a function of the request."""
    own = lf.connect(SCAN, **settings).settings
    return lf.types.Network(own, transport=httpx.MockTransport(answer), clock=clock or FakeClock())


def test_requests_are_answered_without_a_server():
    asked = []

    def answer(request):
        asked.append(request)
        return httpx.Response(200, json={"transactions": []})

    with lf.connect(SCAN, scan_token="a-token", transport=httpx.MockTransport(answer)) as net:
        assert net.scan.updates(page_size=10).items == ()
    (request,) = asked
    assert (request.method, str(request.url)) == ("POST", f"{SCAN}/v2/updates")
    assert request.headers["authorization"] == "Bearer a-token"
    assert json.loads(request.content)["page_size"] == 10


def test_what_fails_is_tried_again_and_named():
    kinds = iter([httpx.ConnectTimeout, httpx.ReadError, httpx.RemoteProtocolError])

    def answer(request):
        raise next(kinds)("for a reason", request=request)

    clock = FakeClock()
    with (
        network(answer, clock, attempts=3) as net,
        pytest.raises(NoAnswerError, match=r"did not speak HTTP: for a reason.*3 attempts"),
    ):
        net.scan.updates(page_size=10)
    assert len(clock.sleeps) == 2


def test_its_answers_are_bounded_recorded_and_replayed(tmp_path):
    bomb = gzip.compress(b"\0" * 2_000_000)

    def unpacking(_request):
        return httpx.Response(200, headers={"content-encoding": "gzip"}, stream=httpx.ByteStream(bomb))

    with network(unpacking, max_answer_bytes=1_000) as net, pytest.raises(NoAnswerError, match="larger than"):
        net.scan.updates(page_size=10)

    def answer(request):
        body = json.loads(request.content)["cached_ans_rules_contract_id"]
        return httpx.Response(404, json={"error": f"no {body}"})

    with network(answer) as net:
        with lf.record(tmp_path, net) as kept, pytest.raises(NotFoundError, match="no 00"):
            kept.scan.ans_rules(cached_contract_id="00", cached_domain_id="d")
        with pytest.raises(NotFoundError):  # it is not closed with the recording
            net.scan.ans_rules(cached_contract_id="00", cached_domain_id="d")
    with lf.replay(tmp_path) as again, pytest.raises(NotFoundError, match="no 00"):
        again.scan.ans_rules(cached_contract_id="00", cached_domain_id="d")


def test_it_is_closed_with_the_network():
    closed = []

    class Carrier(httpx.MockTransport):
        def close(self):
            closed.append(1)

    net = lf.connect(SCAN, transport=Carrier(lambda _request: httpx.Response(200, json={"transactions": []})))
    net.scan.updates(page_size=10)
    net.close()
    assert closed == [1]
    with pytest.raises(InputError, match="closed"):
        net.scan.updates(page_size=10)
