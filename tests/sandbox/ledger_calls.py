"""Requests to a sandbox's ledger interface as one of its users; the tests of its reads call it."""

from tests.sandbox.asking import ask

BY_ID = "/v2/updates/transaction-by-id"
#: The members of an error.
ERROR = {
    "code", "cause", "correlationId", "traceId", "context", "resources", "errorCategory", "grpcCodeValue", "retryInfo",
    "definiteAnswer",
}  # fmt: skip


def call(sandbox, path, body=None, *, user="validator_operator", **options):
    return ask(sandbox.ledger_url + path, body, token=sandbox.token(user), **options)
