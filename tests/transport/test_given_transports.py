"""Any `httpx.BaseTransport` carries the requests: with the retries, tokens and bounds of every other connection."""

import gzip
import json

import httpx
import pytest

import ledgerframes as lf
from ledgerframes.errors import NoAnswerError, NotFoundError
from tests.clocks import FakeClock

SCAN = "https://scan.example.com/api/scan"


def network(answer, clock=None, **settings):
    """Answered by a function of the request."""
    own = lf.connect(SCAN, **settings).settings
    return lf.types.Network(own, transport=httpx.MockTransport(answer), clock=clock or FakeClock())


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
