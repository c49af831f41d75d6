"""The words that the OpenAPI document is written in: JSON Schemas, answers, operations; every file beside uses them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

Schema = dict[str, Any]

JSON: Final = "application/json"
TEXT: Final = "text/plain"
BINARY: Final = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class Response:
    """What comes with one status.

    Attributes:
        meaning: when it comes.
        content: a schema for each content type; none for an empty body.
    """

    meaning: str
    content: Mapping[str, Schema] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path (contract: Endpoints).

    Attributes:
        path: without the interface's prefix, parameters in braces.
        about: one sentence.
        answers: by status.
        parameters: of path and query, as the document has them.
        body: of the request, by content type.
        guarded: it takes a token.
    """

    method: str
    path: str
    about: str
    answers: Mapping[int, Response]
    parameters: tuple[Schema, ...] = ()
    body: Mapping[str, Schema] = field(default_factory=dict)
    guarded: bool = False


def text(meaning: str = "", **more: Any) -> Schema:
    """A string."""
    return _described({"type": "string", **more}, meaning)


def integer(bits: int, meaning: str = "", **more: Any) -> Schema:
    """A whole number of so many bits, with its sign."""
    bounds = {"minimum": -(2 ** (bits - 1)), "maximum": 2 ** (bits - 1) - 1}
    named = {"format": f"int{bits}"} if bits in (32, 64) else {}
    return _described({"type": "integer", **named, **bounds, **more}, meaning)


def boolean(meaning: str = "", **more: Any) -> Schema:
    """True or false."""
    return _described({"type": "boolean", **more}, meaning)


def time(meaning: str = "") -> Schema:
    """An instant, ISO 8601 with a zone."""
    return text(meaning, format="date-time")


def decimal(meaning: str = "") -> Schema:
    """An amount as decimal text."""
    return text(meaning, pattern=r"^-?\d+(\.\d+)?$")


def listing(items: Schema, meaning: str = "", **more: Any) -> Schema:
    """An array."""
    return _described({"type": "array", "items": items, **more}, meaning)


def mapping(values: Schema, meaning: str = "") -> Schema:
    """An object of any names."""
    return _described({"type": "object", "additionalProperties": values}, meaning)


def record(meaning: str = "", /, *, needs: Mapping[str, Schema], may: Mapping[str, Schema] | None = None) -> Schema:
    """An object; members that are not named here mean nothing and may be there."""
    needed = {"required": list(needs)} if needs else {}
    return _described({"type": "object", "properties": {**needs, **(may or {})}, **needed}, meaning)


def variant(choices: Mapping[str, Schema], meaning: str = "") -> Schema:
    """An object with exactly one of these members."""
    one = [
        {"type": "object", "properties": {name: body}, "required": [name], "maxProperties": 1}
        for name, body in choices.items()
    ]
    return _described({"oneOf": one}, meaning)


def value_of(body: Schema) -> Schema:
    """The body of a variant that stands inside `value`."""
    return record(needs={"value": body})


def nullable(schema: Schema) -> Schema:
    """The same, or null."""
    return {"anyOf": [schema, {"type": "null"}]}


def anything(meaning: str = "") -> Schema:
    """Any JSON value."""
    return _described({}, meaning)


def ref(name: str) -> Schema:
    """A shape that is named in the document."""
    return {"$ref": f"#/components/schemas/{name}"}


def in_query(name: str, schema: Schema) -> Schema:
    """An optional parameter of the query."""
    return {"name": name, "in": "query", "required": False, "schema": schema}


def in_path(name: str, meaning: str) -> Schema:
    """A parameter of the path."""
    return {"name": name, "in": "path", "required": True, "schema": text(meaning, minLength=1)}


def found(schema: Schema, meaning: str = "Done.") -> Mapping[int, Response]:
    """The answer 200 in JSON."""
    return {200: Response(meaning, {JSON: schema})}


def _described(schema: Schema, meaning: str) -> Schema:
    return {**schema, "description": meaning} if meaning else schema
