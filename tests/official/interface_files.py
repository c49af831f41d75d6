"""The official OpenAPI files as JSON Schemas: operations by interface, method and path; the tests beside call it.

`openapi/NOTICE.md` says where the files come from; `later.yaml` adds what newer releases have. OpenAPI 3.0 has rules
that JSON Schema has not: `nullable`, `discriminator`, formats that bound numbers. Alternatives of `oneOf` are told
apart by the members that only one of them requires, so that a fault inside of one is reported where it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
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

_FORMATS: dict[str, Schema] = {
    "date-time": {"pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)\Z"},
    **{f"int{bits}": {"minimum": -(2 ** (bits - 1)), "maximum": 2 ** (bits - 1) - 1} for bits in (8, 32, 64)},
}
_MAP_KEY = re.compile(r"\d+|.+:\d+")


@dataclass(frozen=True)
class Document:
    """One official file."""

    name: str
    content: Schema

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
        validator = _validator(self.name).evolve(schema=json_schema(self, schema))
        return {_fault(error) for error in validator.iter_errors(value)}

    def members(self, node: Schema) -> dict[str, Schema]:
        """The members that an object may have, in all its parts and alternatives; none for a record of any names."""
        node = self.resolve(node)
        parts = [self.members(one) for one in (*node.get("allOf", ()), *node.get("oneOf", ()))]
        return {name: one for part in (*parts, node.get("properties", {})) for name, one in part.items()}

    def required(self, node: Schema) -> set[str]:
        """The members that an object has to have, those of all its parts."""
        node = self.resolve(node)
        return set(node.get("required", ())).union(*map(self.required, node.get("allOf", ())))

    def alternatives(self, node: Schema) -> list[tuple[Schema, Schema]]:
        """The alternatives of a `oneOf`, each with a schema that tells it from the others."""
        if "discriminator" in node:
            name, mapping = node["discriminator"]["propertyName"], node["discriminator"]["mapping"]
            tell = {"required": [name]}
            return [
                ({**tell, "properties": {name: {"const": value}}}, {"$ref": reference})
                for value, reference in mapping.items()
            ]
        branches = node.get("oneOf", [])
        required = [self.required(one) for one in branches]
        own = [names.difference(*required[:place], *required[place + 1 :]) for place, names in enumerate(required)]
        assert all(own), f"{self.name}: alternatives that nothing tells apart: {required}"
        return [({"required": sorted(names)}, one) for names, one in zip(own, branches, strict=True)]


@dataclass(frozen=True)
class Operation:
    """One method of one path in an official file."""

    document: Document
    method: str
    path: str
    content: Schema

    @property
    def query(self) -> dict[str, Schema]:
        """The parameters of the query by name."""
        found = [self.document.resolve(one) for one in self.content.get("parameters", ())]
        return {one["name"]: one for one in found if one["in"] == "query"}

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


@cache
def operation(interface: str, method: str, path: str) -> Operation | None:
    """The operation of a path as it was sent, still percent-encoded; the one with the fewest parameters wins."""
    found = [one for one in operations(interface) if one.method == method and _matches(one.path, path)]
    return min(found, key=lambda one: one.path.count("{"), default=None)


@cache
def _validator(name: str) -> Any:
    """The validator of a file's schemas."""
    from jsonschema import Draft202012Validator  # what no other test has to wait for

    return Draft202012Validator({"components": json_schema(document(name), document(name).content["components"])})


def json_schema(file: Document, node: Any) -> Any:
    """What OpenAPI says in a node in the words of JSON Schema."""
    if not isinstance(node, dict):
        return [json_schema(file, one) for one in node] if isinstance(node, list) else node
    made = {name: json_schema(file, one) for name, one in node.items()}
    if told := file.alternatives(node):
        made["oneOf"] = [tell for tell, _ in told]
        made["allOf"] = [{"if": tell, "then": json_schema(file, branch)} for tell, branch in told]
    if isinstance(form := node.get("format"), str):
        made |= _FORMATS.get(form, {})
    return {"if": {"type": "null"}, "else": made} if node.get("nullable") else made


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
