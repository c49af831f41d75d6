"""Selects from `openapi.json` what one server serves; the server calls it for `GET /openapi.json`.

`openapi.json` is the OpenAPI document of every route that any release of the sandbox has. It is written by hand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from starlette.routing import BaseRoute, Route

FILE: Final = Path(__file__).with_name("openapi.json")

_REFERENCE: Final = "#/components/schemas/"


def document(interfaces: Mapping[str, Iterable[BaseRoute]], *, prefixes: Mapping[str, str], release: str) -> Any:
    """The OpenAPI document of one server.

    Args:
        interfaces: the routes of each interface, without its prefix.
        prefixes: where each interface is served.
        release: the ledger release that the server has.
    """
    whole = json.loads(FILE.read_text(encoding="utf-8"))
    paths: dict[str, dict[str, Any]] = {}
    for interface, routes in interfaces.items():
        for method, path in _operations(routes, prefixes[interface]):
            operation = whole["paths"].get(path, {}).get(method)
            if operation is None:
                # Routes that the official files of the tests describe are not described here again.
                continue
            paths.setdefault(path, {})[method] = operation
    whole["info"]["version"] = release
    schemas = whole["components"]["schemas"]
    whole["components"]["schemas"] = {name: schemas[name] for name in sorted(_referenced(paths, schemas))}
    return {**whole, "paths": paths}


def _operations(routes: Iterable[BaseRoute], prefix: str) -> Iterator[tuple[str, str]]:
    """Method and path of each route, both as OpenAPI writes them."""
    for route in routes:
        assert isinstance(route, Route)
        path = prefix + re.sub(r":path\}", "}", route.path)
        yield from ((method.lower(), path) for method in sorted((route.methods or set()) - {"HEAD"}))


def _referenced(node: Any, schemas: Mapping[str, Any]) -> set[str]:
    """The names of the schemas that a node refers to, directly or through other schemas."""
    names: set[str] = set()
    unread = [node]
    while unread:
        text = json.dumps(unread.pop())
        new = set(re.findall(rf'"\$ref": "{_REFERENCE}(\w+)"', text)) - names
        names |= new
        unread += [schemas[name] for name in new]
    return names
