"""The sandbox's own OpenAPI document describes nothing that the official interface files do not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ledgerframes.sandbox.http.openapi import FILE
from tests.official.interface_files import operation

WHOLE = json.loads(FILE.read_text(encoding="utf-8"))
#: In the contract or in older releases, but not in the official files of today.
UNOFFICIAL = {
    ("GET", "/v0/reward-accounting-process/rounds/earliest-available"): "the path before release 0.6.5",
    ("POST", "/v1/scan-proxy/holdings/summary", "/as_of_round"): "both versions take the same body here",
    ("POST", "/v1/holdings/summary", "/as_of_round"): "both versions take the same body here",
}

Schema = dict[str, Any]


def operations() -> list[tuple[str, str, str, Schema]]:
    """Interface, method, path without the interface's prefix, and content of every operation of the sandbox."""
    return [
        (content["tags"][0], method.upper(), path.removeprefix(f"/api/{content['tags'][0]}"), content)
        for path, methods in WHOLE["paths"].items()
        for method, content in methods.items()
    ]


def resolve(node: Schema) -> Schema:
    """A node of the sandbox's document, or what it refers to."""
    while "$ref" in node:
        node = WHOLE["components"]["schemas"][node["$ref"].rpartition("/")[2]]
    return node


def parts(node: Schema, resolve: Callable[[Schema], Schema]) -> Iterator[Schema]:
    """A schema and every schema that it combines."""
    node = resolve(node)
    yield node
    for part in (*node.get("allOf", ()), *node.get("anyOf", ()), *node.get("oneOf", ())):
        yield from parts(part, resolve)


def required(node: Schema, resolve: Callable[[Schema], Schema]) -> set[str]:
    """The members that an object has in any case, whichever alternative it is."""
    node = resolve(node)
    return set(node.get("required", ())).union(*(required(part, resolve) for part in node.get("allOf", ())))


def members(node: Schema, resolve: Callable[[Schema], Schema], place: str = "", depth: int = 12) -> dict[str, set[str]]:
    """The types at every place below a schema; elements and map values have the place `*`."""
    found: dict[str, set[str]] = {place: set()}
    for part in parts(node, resolve):
        found[place] |= {part["type"]} - {"null"} if "type" in part else set()
        below = dict(part.get("properties", {}))
        for name in ("items", "additionalProperties"):
            below |= {"*": part[name]} if isinstance(part.get(name), dict) else {}
        for name, child in below.items() if depth else ():
            for inner, types in members(child, resolve, f"{place}/{name}", depth - 1).items():
                found.setdefault(inner, set()).update(types)
    return found


def differences(ours: Schema, theirs: Schema, official: Callable[[Schema], Schema]) -> set[str]:
    """Places where the sandbox has a member or a type that the official schema has not."""
    known = members(theirs, official)
    return {
        place
        for place, types in members(ours, resolve).items()
        if not any(place.startswith(f"{free}/") for free in leaves(known))
        and (place not in known or (known[place] and not types <= known[place]))
    }


def leaves(known: dict[str, set[str]]) -> set[str]:
    """Places of objects whose members are not described, so that any may be there."""
    parents = {place.rpartition("/")[0] for place in known if place}
    return {place for place, types in known.items() if place not in parents and types <= {"object"}}


@pytest.fixture(params=operations(), ids=lambda one: f"{one[1]} {one[2]}")
def pair(request):
    """One operation of the sandbox with the official one, where there is one."""
    interface, method, path, content = request.param
    theirs = operation(interface, method, path.replace("{", "").replace("}", ""))
    if theirs is None:
        assert (method, path) in UNOFFICIAL
        pytest.skip(UNOFFICIAL[method, path])
    return content, theirs


def test_its_parameters_are_official(pair):
    content, theirs = pair
    for parameter in content.get("parameters", ()):
        official = theirs.parameters(parameter["in"])[parameter["name"]]
        assert differences(parameter["schema"], official["schema"], theirs.document.resolve) == set()


def test_its_request_bodies_are_official(pair):
    content, theirs = pair
    bodies = content.get("requestBody", {}).get("content", {})
    assert bodies.keys() <= theirs.body.keys()
    for kind, body in bodies.items():
        found = differences(body["schema"], theirs.body[kind], theirs.document.resolve)
        assert found == {place for *of, place in UNOFFICIAL if of == [theirs.method, theirs.path]}


def test_its_answers_are_official_and_whole(pair):
    content, theirs = pair
    described = content["responses"]["200"].get("content", {})
    official = theirs.answers(200)
    assert described.keys() == official.keys()
    for kind, body in described.items():
        assert differences(body["schema"], official[kind], theirs.document.resolve) == set()
        assert required(official[kind], theirs.document.resolve) <= required(body["schema"], resolve)
