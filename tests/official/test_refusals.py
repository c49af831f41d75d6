"""What the sandbox refuses, and a ledger of another kind or release, is answered as the official files say."""

from __future__ import annotations

import itertools
import re

import pytest

from ledgerframes.interfaces.catalogue import CALLS
from tests.official.answer_faults import unlike_real_servers
from tests.rigs.servers import started
from tests.sandbox.asking import ask

BODIES = {
    "no text": (b"\xff", "validator_operator"),
    "too deep": (b"[" * 100_000, "validator_operator"),
    "nothing in it": (b"{}", "alice"),
    "nobody": (b"null", "nobody"),
}


@pytest.fixture(scope="module", params=[{}, {"release": "0.7"}, {"hostile": True}], ids=["usual", "0.7", "hostile"])
def sandbox(request):
    with started(updates=200, **request.param) as running:
        yield running


def addressed(sandbox, endpoint):
    """The path of an endpoint with something in it, and its URL."""
    path = re.sub(r"\{\w+\}", "x", endpoint.path)
    return path, getattr(sandbox, f"{endpoint.interface}_url") + path


def test_every_refusal_is_as_the_official_files_say(sandbox):
    broken = {}
    for call, (body, user) in itertools.product(CALLS, BODIES.values()):
        endpoint = call.endpoint
        path, url = addressed(sandbox, endpoint)
        sent = body if endpoint.method == "POST" else None
        answer = ask(f"{url}?limit=0&pageSize=-1", sent, method=endpoint.method, token=sandbox.token(user))
        kind = answer.content_type.partition(";")[0]
        place = (endpoint.interface, endpoint.method, path)
        for fault in unlike_real_servers(*place, answer.status, kind, answer.body):
            broken[call.name] = (answer.status, fault)
    assert broken == {}


def test_a_method_that_a_path_has_not_is_refused_with_those_it_has(sandbox):
    for call in CALLS:
        _, url = addressed(sandbox, call.endpoint)
        answer = ask(url, method="PATCH")
        assert answer.status in (404, 405), call.name
        if answer.status == 405:
            assert call.endpoint.method in answer.headers["Allow"].replace(" ", "").split(","), call.name
