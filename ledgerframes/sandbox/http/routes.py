"""The parts of every interface's routes: the server, a request, a route's declaration, and releases."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sized
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from starlette.requests import Request

from ledgerframes.sandbox.commands.errors import unreadable
from ledgerframes.sandbox.http.ledger_access import Access
from ledgerframes.sandbox.http.responses import RefusalError, malformed, read_as, read_integer
from ledgerframes.sandbox.world.objects import Objects
from ledgerframes.sandbox.world.parties import User
from ledgerframes.sandbox.world.templates import COIN_RULES
from ledgerframes.sandbox.world.views import ServerView
from ledgerframes.sandbox.world.world import World

T = TypeVar("T")

LIST_MAXIMUM: Final = 1_000
#: Where the ledger interface begins.
LEDGER: Final = "/api/ledger"
#: The release whose routes are all of the newest one's and the contract's older ones.
CONTRACT: Final = "contract"


@dataclass(frozen=True, slots=True)
class Server:
    """The state that the routes of one server share.

    Attributes:
        view: the part of the world that its scan shows.
        access: who is let in to validator and ledger.
        objects: the history in bulk.
        newest: whether answers have the members of release 0.9 and Canton 3.6, and lists in requests a maximum.
        page_maximum: items of a page; the refusal names this number.
        holdings_maximum: coin contracts of a holdings summary.
        issuer: the entity of the rules whose signatory is the registry's admin: the coin's, or another issuer's.
        participant: distinguishes the participant's page tokens from those of others.
    """

    view: ServerView
    access: Access
    objects: Objects
    newest: bool = True
    page_maximum: int = 1_000
    holdings_maximum: int = 1_000
    issuer: str = COIN_RULES.entity
    participant: str = field(default_factory=lambda: secrets.token_hex(8))


@dataclass(frozen=True, slots=True)
class ServerRequest:
    """One request; the world does not change until it is answered, unless its route's function is async.

    Attributes:
        user: who asks, where the interface wants to know.
        body: of a POST; an async function reads it from the request.
    """

    server: Server
    http: Request
    user: User
    body: bytes = b""

    @property
    def view(self) -> ServerView:
        """The part of the world that its scan shows."""
        return self.server.view

    @property
    def world(self) -> World:
        """The ledger."""
        return self.server.view.world

    def part(self, name: str) -> str:
        """A parameter of the path."""
        part: str = self.http.path_params[name]
        return part

    def query(self, name: str, otherwise: str = "") -> str:
        """A parameter of the query."""
        return self.http.query_params.get(name, otherwise)

    def needed(self, name: str) -> str:
        """A parameter that the query must have.

        Raises:
            RefusalError: 400, it does not.
        """
        text = self.http.query_params.get(name)
        if text is None:
            raise RefusalError(400, f"Request is missing required query parameter '{name}'")
        return text

    def integer(self, name: str, *, bound: int) -> int | None:
        """An integer from -bound up to bound of the query; None if it is omitted.

        Raises:
            RefusalError: 400, it is not such an integer.
        """
        text = self.http.query_params.get(name)
        try:
            value = None if text is None else read_integer(text)
        except ValueError as error:
            raise RefusalError(
                400, f"The query parameter '{name}' was malformed: {text!r} is not an integer"
            ) from error
        if value is not None and not -bound <= value < bound:
            raise RefusalError(400, f"The query parameter '{name}' was malformed: {text!r} is out of range")
        return value

    def read(self, kind: type[T]) -> T:
        """The body.

        Raises:
            RefusalError: 400, it is not JSON of that shape.
            UnreadableError: the same on the ledger interface.
        """
        on_ledger = self.http.url.path.startswith(LEDGER)
        return read_as(kind, self.body, refuse=unreadable if on_ledger else malformed)

    def object(self) -> dict[str, Any]:
        """The body, a JSON object."""
        return self.read(dict[str, Any])

    def ids(self, name: str) -> list[Any]:
        """A list of ids that the body must have.

        Raises:
            RefusalError: 400, it is missing, something else, or too long.
        """
        ids = self.object().get(name)
        if not isinstance(ids, list):
            raise malformed(f"{name} must be an array")
        self.check_list(name, ids)
        return ids

    def check_list(self, name: str, items: Sized) -> None:
        """Refuse a list of more items than newer releases take.

        Raises:
            RefusalError: 400, in the words of real servers.
        """
        if self.server.newest and len(items) > LIST_MAXIMUM:
            message = f"Expected '{name}' to contain at most {LIST_MAXIMUM} items, but contained {len(items)}."
            raise RefusalError(400, message)


#: Answers with a Response, with JSON text as bytes, or with what becomes JSON. It runs in the server's event loop while
#: the world is locked, unless it is async: then it takes the lock for what needs it, and awaits nothing meanwhile.
Handler = Callable[[ServerRequest], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A declared route; releases are Splice's, each with the ledger of its time.

    0.5 has a ledger of Canton 3.4, 0.7 of 3.5, 0.9 of 3.6.

    Attributes:
        path: the whole path, parameters in braces.
        since: the first release with it, of those that the sandbox has.
        removed_in: the first release without it, if there is one.
        in_contract: whether the contract describes it, so that it is served with everything.
    """

    method: str
    path: str
    handler: Handler
    since: str = "0.5"
    removed_in: str = ""
    in_contract: bool = False

    def includes(self, release: str) -> bool:
        """Whether a release has the route."""
        if release == CONTRACT:
            return self.in_contract or self.includes("0.9")
        return self.since <= release and (not self.removed_in or release < self.removed_in)


class Routes(list[Route]):
    """The routes of a module in the order in which paths are tried; `get` and `post` declare the function below."""

    def get(self, path: str, **lifetime: Any) -> Callable[[Handler], Handler]:
        """Declare what answers GET at a path; `lifetime` are the members of `Route` from `since` on."""
        return self._declare("GET", path, lifetime)

    def post(self, path: str, **lifetime: Any) -> Callable[[Handler], Handler]:
        """Declare what answers POST at a path; `lifetime` are the members of `Route` from `since` on."""
        return self._declare("POST", path, lifetime)

    def _declare(self, method: str, path: str, lifetime: dict[str, Any]) -> Callable[[Handler], Handler]:
        def declare(handler: Handler) -> Handler:
            self.append(Route(method=method, path=path, handler=handler, **lifetime))
            return handler

        return declare


RELEASES: Final = (CONTRACT, "0.9", "0.7", "0.5")
