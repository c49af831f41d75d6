"""Every answer of the sandbox is valid against the official files, save where real servers break them likewise."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from tests.official.interface_files import operation
from tests.replay import CAPTURES, read_capture

pytestmark = pytest.mark.filterwarnings("ignore::ledgerframes.transport.DeprecatedEndpointWarning")

#: How many answers of one path and status are looked at, the largest first.
ANSWERS = 4

# What breaks a file, by interface, member and rule, and the capture of a real answer that breaks it in the same way.
SHARED = {
    ("scan", "interface_id", "type"): "scan-updates-page",
    ("scan", "exercise_result", "type"): "scan-updates-page",
    # The member is an update or null, so what is inside it is found as none of both.
    ("scan", "update", "anyOf"): "scan-events-page",
    ("scan", "next_page_token", "type"): "scan-licenses-last-page",
    ("registry", "nextPageToken", "type"): "registry-instruments",
    ("registry", "totalSupply", "type"): "registry-instruments",
    ("registry", "totalSupplyAsOf", "type"): "registry-instruments",
    ("ledger", "tracestate", "type"): "ledger-transaction-tree",
    ("ledger", "retryInfo", "type"): "ledger-error-400-json",
    ("ledger", "definiteAnswer", "type"): "ledger-error-400-json",
    ("ledger", "", "content type"): "ledger-error-400-json",
    ("scan", "", "unknown route"): "scan-error-unknown-route",
    ("ledger", "", "unknown route"): "scan-error-unknown-route",
}
# Members of the ledger interface that no capture shows. They are null like those above: its servers write null for
# whatever is optional and has no value, as all captures of it agree.
NULL_LIKEWISE = {
    ("ledger", "externalTransactionHash", "type"),
    ("ledger", "interfaceId", "type"),
    ("ledger", "assignmentExclusivity", "type"),
}


def faults(interface, method, path, status, content_type, body):
    """What of an answer breaks its file: place, rule, kind of value."""
    found = operation(interface, method, path)
    if status in {404, 405} and content_type == "text/plain":
        return {("", "unknown route", "")}
    assert found is not None, path
    content = found.answers(status)
    if content is None:
        return {("", "status", str(status))}
    if not content:
        return {("", "body", content_type)} if body else set()
    broken = set()
    if content_type not in content:
        broken.add(("", "content type", content_type))
        content = found.answers(599) or {}  # the error body that is for all other statuses
    if content_type == "application/json" and content_type in content:
        broken |= found.document.faults(content[content_type], json.loads(body))
    return broken


def subject(interface, fault):
    """What a fault is about: interface, member, rule."""
    place, rule, _ = fault
    return interface, place.rpartition(".")[2], rule


def looked_at(turns):
    """The largest answers of every path and status."""
    seen = Counter()
    for turn in sorted(turns, key=lambda one: -len(one.answer)):
        found = operation(turn.interface, turn.method, turn.path)
        if found is None:
            continue
        seen[found.path, turn.method, turn.status, turn.answered_type] += 1
        if seen[found.path, turn.method, turn.status, turn.answered_type] <= ANSWERS:
            yield turn


@pytest.mark.long
def test_every_answer_is_as_the_official_files_say(turns):
    broken = {}
    for turn in looked_at(turns):
        answer = (turn.interface, turn.method, turn.path, turn.status, turn.answered_type, turn.answer)
        for fault in faults(*answer):
            null = fault[2] == "null"
            known = subject(turn.interface, fault)
            if known not in SHARED and not (null and known in NULL_LIKEWISE):
                broken.setdefault(fault, turn.name)
    assert broken == {}


@pytest.mark.parametrize(("what", "capture"), SHARED.items(), ids=str)
def test_what_is_allowed_to_break_a_file_is_broken_by_a_real_server_too(captures, what, capture):
    assert captures
    asked = json.loads((CAPTURES / f"{capture}.json").read_text())["request"]
    real = read_capture(capture)
    content_type = real.content_type.partition(";")[0]
    body = real.sent if content_type == "application/json" else b""
    found = faults(asked["interface"], asked["method"], asked["path"], real.status, content_type, body)
    assert what[1:] in {subject(what[0], fault)[1:] for fault in found}


def test_an_answer_that_breaks_a_file_is_found():
    """The check itself can fail."""
    ask = ("scan", "GET", "/v0/admin/validator/licenses", 200, "application/json")
    assert faults(*ask, b'{"validator_licenses":[{"payload":1}],"next_page_token":"x"}') >= {
        ("next_page_token", "type", "text"),
        ("validator_licenses.*.payload", "type", "number"),
        ("validator_licenses.*", "required", "'template_id' is a required property"),
    }
    assert faults(*ask[:3], 418, "application/json", b"{}") == {("", "status", "418")}
    assert faults(*ask[:4], "text/html", b"<html>") == {("", "content type", "text/html")}
    page = {"transactions": [{"update_id": "u", "offset": "", "record_time": "", "event": {"submitter": 1}}]}
    found = faults("scan", "POST", "/v2/updates", 200, "application/json", json.dumps(page).encode())
    assert ("transactions.*.event", "oneOf", "object") in found
