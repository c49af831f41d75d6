"""The official OpenAPI files as JSON Schemas: operations by interface, method and path; the tests beside call it.

`openapi/NOTICE.md` says where the files come from; `later.yaml` adds what newer releases have. OpenAPI 3.0 has rules
that JSON Schema has not: `nullable`, `discriminator`, formats that bound numbers. Alternatives of `oneOf` are told
apart by the members that only one of them requires, so that a fault inside of one is reported where it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent / "openapi"
LATER = FOLDER.parent / "later.yaml"

#: Which files describe an interface; the allocation factory and the instruments are two of the registry's.
FILES = {
    "ledger": ("ledger.yaml",),
    "scan": ("scan.yaml", "scan-stream-server.yaml"),
    "validator": ("scan-proxy.yaml", "wallet-external.yaml", "ans-external.yaml"),
    "registry": ("token-metadata-v1.yaml", "allocation-instruction-v1.yaml"),
}

Schema = dict[str, Any]

_BITS = {"int8": 8, "int32": 32, "int64": 64}
_INSTANT = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)"
_MAP_KEY = re.compile(r"\d+|.+:\d+")


@dataclass(frozen=True)
class Document:
    """One official file."""

    name: str
    content: Schema

    @property
    def schemas(self) -> Mapping[str, Schema]:
        """Its named schemas, as OpenAPI writes them."""
        return self.content["components"]["schemas"]

    def resolve(self, node: Schema) -> Schema:
        """What a node says, or what it refers to."""
        while "$ref" in node:
            found: Any = self.content
            for step in node["$ref"].removeprefix("#/").split("/"):
                found = found[step]
            node = found
        return node

    def faults(self, schema: Schema, value: Any) -> set[tuple[str, str, str]]:
        """What of a value breaks a schema: place (elements and map keys as `*`), rule, and kind of value."""
        return {_fault(error) for error in _validator(self.name).evolve(schema=schema).iter_errors(value)}


@dataclass(frozen=True)
class Operation:
    """One method of one path in an official file."""

    document: Document
    method: str
    path: str
    content: Schema

    def parameters(self, where: str) -> dict[str, Schema]:
        """The parameters of the query or the path, by name."""
        found = [self.document.resolve(one) for one in self.content.get("parameters", ())]
        return {one["name"]: one for one in found if one["in"] == where}

    @property
    def body(self) -> Mapping[str, Schema]:
        """Schemas of the request's body by content type; none where there is no body."""
        found = self.document.resolve(self.content.get("requestBody", {}))
        return {kind: one.get("schema", {}) for kind, one in found.get("content", {}).items()}

    def answers(self, status: int) -> Mapping[str, Schema] | None:
        """Schemas of an answer's body by content type; None where no such status is described."""
        responses = self.content["responses"]
        found = responses.get(str(status), responses.get("default"))
        if found is None:
            return None
        return {kind: one.get("schema", {}) for kind, one in self.document.resolve(found).get("content", {}).items()}


@cache
def document(name: str) -> Document:
    """One file with what newer releases add to it, read once."""
    return Document(name, _added(_read(FOLDER / name), _read(LATER).get(name, {})))


def _added(content: Any, more: Any) -> Any:
    """Content with more of it: members that both have are put together, and so are lists."""
    if isinstance(content, dict) and isinstance(more, dict):
        return content | {name: _added(content[name], one) if name in content else one for name, one in more.items()}
    return [*content, *more] if isinstance(content, list) else more


def _read(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.load(path.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return loaded


@cache
def operations(interface: str) -> tuple[Operation, ...]:
    """Every operation of an interface."""
    return tuple(
        Operation(file, method.upper(), path, content)
        for file in map(document, FILES[interface])
        for path, methods in file.content["paths"].items()
        for method, content in methods.items()
        if method in {"get", "post", "put", "delete", "patch"}
    )


def operation(interface: str, method: str, path: str) -> Operation | None:
    """The operation of a path as it was sent, still percent-encoded; the one with the fewest parameters wins."""
    found = [one for one in operations(interface) if one.method == method and _matches(one.path, path)]
    return min(found, key=lambda one: one.path.count("{"), default=None)


def alternatives(file: Document, node: Schema) -> list[tuple[Schema, Schema]]:
    """The alternatives of a `oneOf`, each with a schema that tells it from the others."""
    if "discriminator" in node:
        name, mapping = node["discriminator"]["propertyName"], node["discriminator"]["mapping"]
        tell = {"required": [name]}
        return [
            ({**tell, "properties": {name: {"const": value}}}, {"$ref": reference})
            for value, reference in mapping.items()
        ]
    branches = node.get("oneOf", [])
    required = [required_by(file, one) for one in branches]
    own = [
        names.difference(*(required[:position] + required[position + 1 :])) for position, names in enumerate(required)
    ]
    assert all(own), f"{file.name}: alternatives that nothing tells apart: {required}"
    return [({"required": sorted(names)}, one) for names, one in zip(own, branches, strict=True)]


def required_by(file: Document, node: Schema) -> set[str]:
    """The members that an object has to have, those of all its parts."""
    node = file.resolve(node)
    return set(node.get("required", ())).union(*(required_by(file, one) for one in node.get("allOf", ())))


@cache
def _validator(name: str) -> Any:
    """The validator of a file's schemas: JSON Schema's, with the rules of OpenAPI."""
    from jsonschema import Draft202012Validator, ValidationError, validators  # what no other test has to wait for

    def unless_null(rule: Callable[..., Any]) -> Callable[..., Iterator[ValidationError]]:
        def errors(validator: Any, wanted: Any, value: Any, schema: Schema) -> Iterator[ValidationError]:
            if not (value is None and schema.get("nullable")):
                yield from rule(validator, wanted, value, schema) or ()

        return errors

    def one_of(validator: Any, _: Any, value: Any, schema: Schema) -> Iterator[ValidationError]:
        told = [
            one for tell, one in alternatives(document(name), schema) if validator.evolve(schema=tell).is_valid(value)
        ]
        if len(told) != 1:
            yield ValidationError(f"{len(told)} alternatives fit")
        for branch in told:
            yield from validator.descend(value, branch)

    def format_(_validator: Any, form: str, value: Any, _schema: Schema) -> Iterator[ValidationError]:
        bits = _BITS.get(form)
        if bits and isinstance(value, int) and not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
            yield ValidationError(f"more than {bits} bits")
        if form == "date-time" and isinstance(value, str) and not re.fullmatch(_INSTANT, value):
            yield ValidationError("not a time")

    rules = {**Draft202012Validator.VALIDATORS, "oneOf": one_of, "discriminator": one_of, "format": format_}
    known = validators.extend(Draft202012Validator, {keyword: unless_null(rule) for keyword, rule in rules.items()})
    return known({"components": document(name).content["components"]})


def kind_of(value: Any) -> str:
    """What JSON calls a value."""
    kinds = {dict: "object", list: "array", bool: "boolean", str: "text", type(None): "null"}
    return kinds.get(type(value), "number")


def _fault(error: Any) -> tuple[str, str, str]:
    steps = ["*" if isinstance(step, int) or _MAP_KEY.fullmatch(step) else step for step in error.absolute_path]
    what = error.message if error.validator == "required" else kind_of(error.instance)
    return ".".join(steps), str(error.validator), what


def _matches(template: str, path: str) -> bool:
    return re.fullmatch(re.sub(r"\\\{[^}]+\\\}", "[^/]+", re.escape(template)), path) is not None
