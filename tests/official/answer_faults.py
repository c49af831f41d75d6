"""What of an answer breaks the official files, and which of it real servers do likewise; tests and the fuzz call it."""

import json

from tests.official.interface_files import operation

# What breaks a file, by interface, member and rule, and the capture of a real answer that breaks it in the same way.
SHARED = {
    ("scan", "interface_id", "type"): "scan-updates-page",
    ("scan", "exercise_result", "type"): "scan-updates-page",
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


def unlike_real_servers(interface, method, path, status, content_type, body):
    """What of an answer breaks its file in a way that no capture shows.

    The files do not list every refusal; one that is missing has to be plain text or an object with an error.
    """
    found = faults(interface, method, path, status, content_type, body)
    if 400 <= status < 500 and found == {("", "status", str(status))}:
        said = json.loads(body) if content_type == "application/json" else {"error": body.decode()}
        return set() if isinstance(said, dict) and isinstance(said.get("error"), str) else found
    shared = SHARED.keys()
    return {
        one
        for one in found
        if subject(interface, one) not in shared and not (one[2] == "null" and subject(interface, one) in NULL_LIKEWISE)
    }
