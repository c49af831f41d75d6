"""A simulated ledger's four interfaces as one ASGI app; the server serves it."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from typing import Any, Final

from starlette import routing
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from ledgerframes.sandbox.commands.errors import TOO_LARGE, LedgerError, UnreadableError
from ledgerframes.sandbox.http import (
    command_routes,
    ledger_routes,
    registry,
    scan,
    scan_now,
    scan_objects,
    snapshots,
    user_routes,
)
from ledgerframes.sandbox.http.ledger_access import Access, denied, ledger_refused
from ledgerframes.sandbox.http.responses import (
    JSON_MAXIMUM,
    RefusalError,
    TooLargeError,
    json_answer,
    no_route,
    read_within,
    refused,
)
from ledgerframes.sandbox.http.routes import CONTRACT, LEDGER, Route, Server, ServerRequest
from ledgerframes.sandbox.world.objects import Objects
from ledgerframes.sandbox.world.parties import User
from ledgerframes.sandbox.world.templates import TOKEN_RULES
from ledgerframes.sandbox.world.views import ServerView

#: Where the registry of another issuer than the coin's is served.
ISSUER: Final = "/harbor"

_NOBODY: Final = User("")
_MODULES: Final = (
    scan, scan_objects, snapshots, scan_now,
    ledger_routes, user_routes, command_routes, registry,
)  # fmt: skip


def app_of(
    view: ServerView, access: Access, *, release: str, objects: Objects | None = None, **maxima: Any
) -> Starlette:
    """The app of one server.

    Args:
        view: the part of the world that its scan shows.
        access: decides who may use validator and ledger.
        release: determines the routes and answers.
        objects: the history in bulk.
        maxima: other maxima of requests than a `Server` has.
    """
    # Releases 0.8 and 0.9 and Canton 3.6 have new members, and a maximum for lists in requests.
    server = Server(view, access, objects or Objects(view), release in (CONTRACT, "0.9"), **maxima)
    routes = [route for module in _MODULES for route in module.ROUTES if route.includes(release)]
    issuer = routing.Router(_served(registry.METADATA, replace(server, issuer=TOKEN_RULES.entity)))
    app = Starlette(
        routes=[routing.Mount(ISSUER, app=issuer), *_served(routes, server)],
        exception_handlers={HTTPException: no_route},
    )
    # A redirect would hide a client's wrong path, and the client follows none.
    app.router.redirect_slashes = issuer.redirect_slashes = False
    return app


def _served(routes: Iterable[Route], server: Server) -> list[routing.Route]:
    """The routes, one per path: Starlette's 405 lists only the methods of the first route of a path."""
    by_path: dict[str, list[Route]] = {}
    for route in routes:
        by_path.setdefault(route.path, []).append(route)
    return [
        routing.Route(path, _endpoint(same, server), methods=[route.method for route in same])
        for path, same in by_path.items()
    ]


def _endpoint(routes: list[Route], server: Server) -> Callable[[Request], Awaitable[Response]]:
    by_method = {route.method: route for route in routes}

    async def answer(request: Request) -> Response:
        route = by_method["GET" if request.method == "HEAD" else request.method]
        try:
            result = await _call(route, ServerRequest(server, request, _caller(route, server, request)))
        except TooLargeError as error:
            large = LedgerError("REQUEST_TOO_LARGE", str(error), kind=TOO_LARGE)
            return ledger_refused(large) if _is_ledger(route) else refused(RefusalError(413, str(error)))
        except RefusalError as error:
            return refused(error)
        except LedgerError as error:
            return ledger_refused(error)
        except UnreadableError as error:
            # The contract's Errors 2: what cannot be read is answered in plain text.
            return PlainTextResponse(str(error), 400)
        return result if isinstance(result, Response) else json_answer(result)

    return answer


async def _call(route: Route, request: ServerRequest) -> Any:
    """Call the route's function; one that is async reads its body and takes the lock by itself."""
    if inspect.iscoroutinefunction(route.handler):
        return await route.handler(request)
    # The body of a GET means nothing, and a client that declares one need not send it.
    body = await read_within(request.http, JSON_MAXIMUM) if route.method == "POST" else b""
    with request.world.lock:
        return route.handler(replace(request, body=body))


def _is_ledger(route: Route) -> bool:
    return route.path.startswith(LEDGER)


def _caller(route: Route, server: Server, request: Request) -> User:
    """Who asks; scan and registry do not want to know.

    Raises:
        RefusalError: the validator does not let the caller in.
        LedgerError: the ledger does not.
    """
    ledger = _is_ledger(route)
    if not ledger and not route.path.startswith("/api/validator"):
        return _NOBODY
    try:
        return server.access.user(request.headers, websocket=ledger)
    except RefusalError as error:
        if not ledger:
            raise
        raise denied(error) from error
