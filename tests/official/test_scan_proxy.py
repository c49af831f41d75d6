"""A validator's scan-proxy serves what a client asks of it, and answers as the official file says."""

from __future__ import annotations

import re

import pytest

from ledgerframes.sandbox.world.templates import FEATURED_RIGHT, NAME_ENTRY, PREAPPROVAL
from tests.official.interface_files import FILES, FOLDER, operation
from tests.official.test_answers import faults
from tests.sandbox.asking import ask

#: The routes of the file that no call sends anything to.
UNSERVED = ("dso-party-id", "amulet-rules", "transfer-command-counter/{party}", "transfer-command/status",
            "unclaimed-development-fund-coupons")  # fmt: skip
OFFICIAL = re.findall(r"^  (/v\d/scan-proxy/\S+):", (FOLDER / FILES["validator"][0]).read_text("utf-8"), re.MULTILINE)
PATHS = [path for path in OFFICIAL if not path.endswith(UNSERVED)]


@pytest.fixture(scope="module")
def sandbox(net):
    return net.sandbox


def request(sandbox, path):
    """Method, path and body of a good request."""
    world = sandbox.world
    owner = max(world.contracts.of(NAME_ENTRY), key=lambda one: one.payload["expiresAt"]).payload["user"]
    provider = world.contracts.of(FEATURED_RIGHT)[0].payload["provider"]
    party = world.contracts.of(PREAPPROVAL)[0].payload["receiver"] if "preapprovals" in path else owner
    known = {"party": party, "name": "dso.cns", "provider_party_id": provider}
    newest = {"migration_id": world.updates[-1].migration_id, "record_time": "9999-01-01T00:00:00Z"}
    body = {**newest, "record_time_match": "at_or_before", "owner_party_ids": [party]} if "holdings" in path else {}
    query = {"/v0/scan-proxy/ans-entries": "?page_size=10"}
    method = "POST" if path.endswith(("holdings/summary", "ans-rules")) else "GET"
    filled = re.sub(r"{(\w+)}", lambda one: known[one[1]], path)
    return method, filled, filled + query.get(path, ""), body if method == "POST" else None


def test_every_route_answers_as_the_official_file_says(sandbox):
    assert len(PATHS) > 5
    for path in PATHS:
        method, plain, asked, body = request(sandbox, path)
        assert operation("validator", method, plain), path

        answer = ask(sandbox.validator_url + asked, body, token=sandbox.token("validator_operator"))

        assert (answer.status, len(answer.body) > 60) == (200, True), path
        assert faults("validator", method, plain, answer.status, answer.content_type, answer.body) == set(), path


def test_it_has_no_history(sandbox):
    token = sandbox.token("validator_operator")
    for path in ("updates", "events", "state/acs", "admin/validator/licenses", "history/bulk/updates"):
        answer = ask(f"{sandbox.validator_url}/v0/scan-proxy/{path}", {}, token=token)
        assert (answer.status, answer.content_type) == (404, "text/plain; charset=utf-8"), path
