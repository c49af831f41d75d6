"""What the sandbox refuses, and all that a validator's scan-proxy serves, is answered as the official files say."""

import itertools
import re

import pytest

from ledgerframes.interfaces.catalogue import CALLS
from ledgerframes.sandbox.world.templates import FEATURED_RIGHT, NAME_ENTRY, PREAPPROVAL
from tests.official.answer_faults import faults, unlike_real_servers
from tests.official.interface_files import operations
from tests.rigs.servers import started
from tests.sandbox import asking

BODIES = {
    "no text": (b"\xff", "validator_operator"),
    "too deep": (b"[" * 100_000, "validator_operator"),
    "nothing in it": (b"{}", "alice"),
    "nobody": (b"null", "nobody"),
}
#: The routes of the file that no call sends anything to.
UNSERVED = ("dso-party-id", "amulet-rules", "transfer-command-counter/{party}", "transfer-command/status",
            "unclaimed-development-fund-coupons")  # fmt: skip


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
        answer = asking.ask(f"{url}?limit=0&pageSize=-1", sent, method=endpoint.method, token=sandbox.token(user))
        kind = answer.content_type.partition(";")[0]
        place = (endpoint.interface, endpoint.method, path)
        for fault in unlike_real_servers(*place, answer.status, kind, answer.body):
            broken[call.name] = (answer.status, fault)
    assert broken == {}


def test_a_method_that_a_path_has_not_is_refused_with_those_it_has(sandbox):
    for call in CALLS:
        _, url = addressed(sandbox, call.endpoint)
        answer = asking.ask(url, method="PATCH")
        assert answer.status in (404, 405), call.name
        if answer.status == 405:
            assert call.endpoint.method in answer.headers["Allow"].replace(" ", "").split(","), call.name


def request(sandbox, path):
    """A path filled in, with its query, and the body of a good request."""
    world = sandbox.world
    owner = max(world.contracts.of(NAME_ENTRY), key=lambda one: one.payload["expiresAt"]).payload["user"]
    provider = world.contracts.of(FEATURED_RIGHT)[0].payload["provider"]
    party = world.contracts.of(PREAPPROVAL)[0].payload["receiver"] if "preapprovals" in path else owner
    known = {"party": party, "name": "dso.cns", "provider_party_id": provider}
    newest = {"migration_id": world.updates[-1].migration_id, "record_time": "9999-01-01T00:00:00Z"}
    body = {**newest, "record_time_match": "at_or_before", "owner_party_ids": [party]} if "holdings" in path else {}
    query = "?page_size=10" if path == "/v0/scan-proxy/ans-entries" else ""
    return re.sub(r"{(\w+)}", lambda one: known[one[1]], path), query, body


def test_every_route_of_a_scan_proxy_answers_as_the_official_file_says_and_none_has_the_history(net):
    sandbox = net.sandbox
    proxied = [one for one in operations("validator") if "/scan-proxy/" in one.path]
    served = [one for one in proxied if not one.path.endswith(UNSERVED)]
    assert len(served) > 5
    for one in served:
        path, query, body = request(sandbox, one.path)

        answer = asking.call(sandbox, "validator", path + query, body if one.method == "POST" else None)

        assert (answer.status, len(answer.body) > 60) == (200, True), path
        assert faults("validator", one.method, path, answer.status, answer.content_type, answer.body) == set(), path

    for path in ("updates", "events", "state/acs", "admin/validator/licenses", "history/bulk/updates"):
        answer = asking.call(sandbox, "validator", f"/v0/scan-proxy/{path}", {})
        assert (answer.status, answer.content_type) == (404, "text/plain; charset=utf-8"), path
