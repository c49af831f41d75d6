"""Puts the OpenAPI document together for the routes that one server has; the server calls it when it is asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from starlette.routing import BaseRoute, Route

from ledgerframes.sandbox.http.openapi import ledger, refusals, registry, scan, scan_neighbours, validator
from ledgerframes.sandbox.http.openapi.shapes import Operation, Response, Schema
from ledgerframes.sandbox.http.releases import FATES

VERSION: Final = "3.1.0"

_OPERATIONS: Final[Mapping[str, tuple[Operation, ...]]] = MappingProxyType(
    {
        "scan": (*scan.OPERATIONS, *scan_neighbours.OPERATIONS),
        "validator": validator.OPERATIONS,
        "ledger": ledger.OPERATIONS,
        "registry": registry.OPERATIONS,
    }
)
_SHAPES: Final = MappingProxyType(
    {**refusals.SHAPES, **scan.SHAPES, **scan_neighbours.SHAPES, **validator.SHAPES, **registry.SHAPES, **ledger.SHAPES}
)
_SECURITY: Final = {
    "token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
    "websocketToken": {
        "type": "apiKey",
        "in": "header",
        "name": "Sec-WebSocket-Protocol",
        "description": "`jwt.token.` and the same token, alone or among other protocols.",
    },
}


def document(interfaces: Mapping[str, Iterable[BaseRoute]], *, prefixes: Mapping[str, str], release: str) -> Schema:
    """The document of a server.

    Args:
        interfaces: the routes of each interface, without its prefix.
        prefixes: where each interface is served.
        release: the ledger release it serves as.

    Raises:
        LookupError: a route has no operation in the files beside.
    """
    paths: dict[str, dict[str, Any]] = {}
    for interface, routes in interfaces.items():
        known = {(one.method, one.path): one for one in _OPERATIONS[interface]}
        for method, path, template in _served(routes):
            operation = known.get((method, path))
            if operation is None:
                raise LookupError(f"{method} {path} of the {interface} interface has no operation in the document")
            paths.setdefault(prefixes[interface] + path, {})[method.lower()] = _operation(
                interface, operation, template
            )
    return {
        "openapi": VERSION,
        "info": {
            "title": "A made-up ledger",
            "version": release,
            "summary": "Four interfaces of a distributed ledger, served on this machine from invented data.",
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": interface} for interface in interfaces],
        "paths": paths,
        "components": {"schemas": _needed(paths), "securitySchemes": _SECURITY},
    }


def _needed(paths: Schema) -> dict[str, Schema]:
    """The named shapes that the paths refer to, and those that these refer to."""
    needed: dict[str, Schema] = {}
    waiting = [paths]
    while waiting:
        new = {name: _SHAPES[name] for name in _references(waiting.pop()) if name not in needed}
        needed |= new
        waiting += new.values()
    return dict(sorted(needed.items()))


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if "$ref" in node:
            yield node["$ref"].rpartition("/")[2]
        node = list(node.values())
    for one in node if isinstance(node, list | tuple) else ():
        yield from _references(one)


def _served(routes: Iterable[BaseRoute]) -> Iterable[tuple[str, str, str]]:
    """Method, path as the document writes it, and path as the route has it."""
    for route in routes:
        assert isinstance(route, Route)
        for method in sorted((route.methods or set()) - {"HEAD"}):
            yield method, re.sub(r":path\}", "}", route.path), route.path


def _operation(interface: str, operation: Operation, template: str) -> Schema:
    fate = FATES.get((interface, template))
    written: Schema = {
        "tags": [interface],
        "operationId": f"{interface} {operation.method} {operation.path}",
        "summary": operation.about,
        "responses": {str(status): _response(answer) for status, answer in sorted(operation.answers.items())},
    }
    if fate is not None:
        written |= {"deprecated": True, "description": fate.why}
    if operation.parameters:
        written["parameters"] = list(operation.parameters)
    if operation.body:
        written["requestBody"] = {"required": True, "content": _content(operation.body)}
    if operation.guarded:
        carriers = ["token", "websocketToken"] if interface == "ledger" else ["token"]
        written["security"] = [{carrier: []} for carrier in carriers]
    return written


def _response(answer: Response) -> Schema:
    content = {"content": _content(answer.content)} if answer.content else {}
    return {"description": answer.meaning, **content}


def _content(schemas: Mapping[str, Schema]) -> Schema:
    return {kind: {"schema": schema} for kind, schema in schemas.items()}
