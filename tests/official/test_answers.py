"""Answers of the sandbox, refusals too, are as the official files say, save where real ones are not."""

import json
import re
from collections import Counter

import pytest

from ledgerframes.interfaces.catalogue import CALLS
from ledgerframes.sandbox.world.templates import FEATURED_RIGHT, NAME_ENTRY, PREAPPROVAL
from tests.official.answer_faults import SHARED, faults, subject, unlike_real_servers
from tests.official.interface_files import operations
from tests.replay import CAPTURES, read_capture
from tests.rigs.servers import started
from tests.sandbox.asking import ask, call

pytestmark = pytest.mark.filterwarnings("ignore::ledgerframes.transport.DeprecatedEndpointWarning")

#: How many answers of one path and status are looked at, the largest first.
ANSWERS = 4


@pytest.mark.long
def test_every_answer_is_as_the_official_files_say(turns):
    broken, seen = {}, Counter()
    for turn in sorted(turns, key=lambda one: -len(one.answer)):
        kind = turn.endpoint, turn.status, turn.answered_type
        seen[kind] += 1
        if turn.described and seen[kind] <= ANSWERS:
            answer = (turn.interface, turn.method, turn.path, turn.status, turn.answered_type, turn.answer)
            broken |= dict.fromkeys(unlike_real_servers(*answer), turn.endpoint)
    assert broken == {}


@pytest.mark.parametrize("capture", sorted({*SHARED.values()}))
def test_what_is_allowed_to_break_a_file_is_broken_by_a_real_server_too(captures, capture):
    assert captures
    asked = json.loads((CAPTURES / f"{capture}.json").read_text())["request"]
    real = read_capture(capture)
    content_type = real.content_type.partition(";")[0]
    body = real.reply.body if content_type == "application/json" else b""
    found = faults(asked["interface"], asked["method"], asked["path"], real.status, content_type, body)
    allowed = {what[1:] for what, name in SHARED.items() if name == capture}
    assert allowed <= {subject("", fault)[1:] for fault in found}


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


def test_every_refusal_is_as_the_official_files_say_and_that_of_a_method_names_those_of_the_path(sandbox):
    broken = {}
    for served in CALLS:
        interface, method = served.endpoint.interface, served.endpoint.method
        path = re.sub(r"\{\w+\}", "x", served.endpoint.path)
        for body, user in BODIES.values():
            sent = body if method == "POST" else None
            answer = call(sandbox, interface, f"{path}?limit=0&pageSize=-1", sent, method=method, user=user)
            kind = answer.content_type.partition(";")[0]
            for fault in unlike_real_servers(interface, method, path, answer.status, kind, answer.body):
                broken[served.name] = (answer.status, fault)
        answer = ask(getattr(sandbox, f"{interface}_url") + path, method="PATCH")
        assert answer.status in (404, 405), served.name
        if answer.status == 405:
            assert method in answer.headers["Allow"].replace(" ", "").split(","), served.name
    assert broken == {}


def test_every_route_of_a_scan_proxy_answers_as_the_official_file_says_and_none_has_the_history(net):
    sandbox, world = net.sandbox, net.sandbox.world
    owner = max(world.contracts.of(NAME_ENTRY), key=lambda one: one.payload["expiresAt"]).payload["user"]
    receiver = world.contracts.of(PREAPPROVAL)[0].payload["receiver"]
    known = {"name": "dso.cns", "provider_party_id": world.contracts.of(FEATURED_RIGHT)[0].payload["provider"]}
    newest = {"migration_id": world.updates[-1].migration_id, "record_time": "9999-01-01T00:00:00Z"}
    holdings = {**newest, "record_time_match": "at_or_before", "owner_party_ids": [owner]}
    proxied = [one for one in operations("validator") if "/scan-proxy/" in one.path]
    served = [one for one in proxied if not one.path.endswith(UNSERVED)]
    assert len(served) > 5
    for one in served:
        path = one.path.format(**known, party=receiver if "preapprovals" in one.path else owner)
        query = "?page_size=10" if path == "/v0/scan-proxy/ans-entries" else ""
        body = holdings if "holdings" in path else {}

        answer = call(sandbox, "validator", path + query, body if one.method == "POST" else None)

        assert (answer.status, len(answer.body) > 60) == (200, True), path
        assert faults("validator", one.method, path, answer.status, answer.content_type, answer.body) == set(), path

    for path in ("updates", "events", "state/acs", "admin/validator/licenses", "history/bulk/updates"):
        answer = call(sandbox, "validator", f"/v0/scan-proxy/{path}", {})
        assert (answer.status, answer.content_type) == (404, "text/plain; charset=utf-8"), path
