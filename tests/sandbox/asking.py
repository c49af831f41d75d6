"""Requests to a sandbox by urllib alone: as a user with a token, or as nobody; the tests of the routes call it."""

import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from decimal import Decimal
from typing import Any


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    content_type: str
    headers: Any
    body: bytes

    @property
    def json(self) -> Any:
        assert self.content_type == "application/json", (self.status, self.body)
        return json.loads(self.body, parse_float=Decimal)


def ask(url, body=None, *, token=None, headers=None, method=None) -> Answer:
    """Send one request; a body that is not bytes goes out as JSON."""
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    sent = {"Content-Type": "application/json"} if body is not None else {}
    sent |= {"Authorization": f"Bearer {token}"} if token is not None else {}
    request = urllib.request.Request(url, data, sent | (headers or {}), method=method)
    try:
        with urllib.request.urlopen(request) as answer:
            return Answer(answer.status, answer.headers["Content-Type"], answer.headers, answer.read())
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, error.headers["Content-Type"], error.headers, error.read())


def call(sandbox, interface, path, body=None, *, user="validator_operator", **options) -> Answer:
    """What an interface of a sandbox answers to one of its users."""
    url = getattr(sandbox, f"{interface}_url") + path
    return ask(url, body, token=sandbox.token(user), **options)


def party_of(sandbox, user) -> str:
    """The primary party of a user."""
    return sandbox.world.accounts.get(user).primary_party
