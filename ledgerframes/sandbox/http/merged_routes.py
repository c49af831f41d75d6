"""Joins the routes that share a path, so that a 405 lists every method of the path; the server calls it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

Endpoint = Callable[[Request], Awaitable[Response]]


def joined(routes: Iterable[BaseRoute]) -> list[BaseRoute]:
    """The same routes, one per path: Starlette's 405 lists only the methods of the first route of a path."""
    by_path: dict[str, list[Route]] = {}
    for route in routes:
        assert isinstance(route, Route)
        by_path.setdefault(route.path, []).append(route)
    return [same[0] if len(same) == 1 else _join(path, same) for path, same in by_path.items()]


def _join(path: str, routes: list[Route]) -> Route:
    endpoints = {method: route.endpoint for route in routes for method in route.methods or ()}
    return Route(path, _by_method(endpoints), methods=list(endpoints))


def _by_method(endpoints: Mapping[str, Endpoint]) -> Endpoint:
    async def answer(request: Request) -> Response:
        return await endpoints[request.method](request)

    return answer
