"""Makes up values that an official schema allows: the least, everything and more, or null wherever that is allowed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.official.interface_files import Document, Schema, alternatives, required_by

STYLES = ("required only", "everything and unknown members", "null where allowed")
LEAST, MOST, NULLS = STYLES
UNKNOWN = "x-not-known-to-any-file"
DIGITS = "0123456789abcdef"

Maker = Callable[[Random], Any]


def instant(rng: Random) -> str:
    """A time with as many fractional digits as real servers write."""
    fraction = rng.choice(("", ".1", ".1234", ".12345", ".123456", ".1234567", ".123456789"))
    return f"2026-0{rng.randrange(1, 10)}-1{rng.randrange(10)}T0{rng.randrange(10)}:00:59{fraction}Z"


AMOUNTS = ("0E-10", "12.5000000000", "9999999999999999999999999999.9999999999", "-1.43E-8", "7")
# Text whose form the files leave open and the contract or the servers do not, by the member's name.
TEXTS: tuple[tuple[str, Maker], ...] = (
    (r"record_time|recordTime|effective_at|effectiveAt|created_at|createdAt|debugCreatedAt", instant),
    (r"until|totalSupplyAsOf|assignmentExclusivity", instant),
    (r"expiresAt", lambda rng: rng.choice(("1767225600000", "2026-01-01T00:00:00Z"))),
    (r"paymentInterval|paymentDuration", lambda rng: str(rng.randrange(10**13))),
    (r"amount|total_\w+|accumulated_\w+|totalSupply", lambda rng: rng.choice(AMOUNTS)),
    (
        r"template_id|templateId|interface_id|interfaceId",
        lambda rng: f"{''.join(rng.choices(DIGITS, k=64))}:Some.Module:Entity{rng.randrange(9)}",
    ),
    (r"primaryParty|identityProviderId|resourceVersion|workflow_id", lambda rng: rng.choice(("", "some::1220ab"))),
    (r"nextPageToken", lambda _: ""),
)  # fmt: skip
# Members whose objects are data of the ledger's own: what a file calls an object, with no members named.
ANYTHING = ({}, {"a": {"b": [1, None, "ü"]}}, {"n": "1.0000000000", "absent": None}, {"number": "81324"})
ANY_JSON: tuple[Any, ...] = (*ANYTHING, "text", [], [1.5, True], 12345678901234567890, None)


@dataclass
class Values:
    """Values of one official file in one style.

    Attributes:
        choose: which alternative of a `oneOf` is taken, by the member that tells it; any other is by chance.
    """

    document: Document
    style: str
    rng: Random
    choose: frozenset[str] = field(default_factory=frozenset)

    def value(self, schema: Schema, name: str = "") -> Any:
        """A value of a schema; the name of the member it is for tells what its text is."""
        if schema.get("nullable") and self.style == NULLS:
            return None
        schema = self.document.resolve(schema)
        found = alternatives(self.document, schema)
        if found:
            return self._alternative(found)
        kind = schema.get("type", "object" if schema.get("allOf") else "any")
        if kind == "object":
            return self._object(schema)
        if kind == "array":
            return [
                one for _ in range(1 if self.style == LEAST else 2) for one in self._elements(schema["items"], name)
            ]
        return self._scalar(kind, schema, name)

    def _elements(self, schema: Schema, name: str) -> list[Any]:
        """One element; of a choice, one for every alternative."""
        found = alternatives(self.document, self.document.resolve(schema))
        return [self._told(tell, branch) for tell, branch in found] or [self.value(schema, name)]

    def _alternative(self, found: list[tuple[Schema, Schema]]) -> Any:
        wanted = [one for one in found if self.choose & set(one[0]["required"])]
        return self._told(*self.rng.choice(wanted or found))

    def _told(self, tell: Schema, branch: Schema) -> Any:
        """The value of one alternative, marked as such; one with a single member is the contract's variant."""
        value = self.value(branch)
        for name, one in tell.get("properties", {}).items():
            value[name] = one["const"]
        if len(tell["required"]) == 1 and tell["required"][0][0].isupper():
            value.pop(UNKNOWN, None)  # "a single-key object naming the event kind", says the contract
        return value

    def _object(self, schema: Schema) -> dict[str, Any]:
        members, required = self._members(schema), required_by(self.document, schema)
        made: dict[str, Any] = {}
        for name, one in members.items():
            if name in required:
                made[name] = self.value(one, name)
            elif self.style != LEAST:
                made[name] = None if self.style == NULLS else self.value(one, name)
        extra = schema.get("additionalProperties")
        if isinstance(extra, dict):
            return {f"key-{place}": self.value(extra) for place in range(0 if self.style == LEAST else 2)}
        if not members:
            return dict(self.rng.choice(ANYTHING))
        if self.style == MOST:
            made[UNKNOWN] = self.rng.choice(ANY_JSON)
        return made

    def _members(self, schema: Schema) -> dict[str, Schema]:
        parts = [self.document.resolve(one) for one in schema.get("allOf", ())]
        inherited = {name: one for part in parts for name, one in self._members(part).items()}
        return {**inherited, **schema.get("properties", {})}

    def _scalar(self, kind: str, schema: Schema, name: str) -> Any:
        if "enum" in schema:
            return self.rng.choice(schema["enum"])
        if kind == "boolean":
            return self.rng.random() < 0.5
        if kind == "integer":
            return self.rng.randrange(11) if name == "decimals" else self.rng.choice((0, 1, 7, 2**31 - 1))
        if kind != "string":
            return self.rng.choice(ANY_JSON)
        for names, make in TEXTS:
            if re.fullmatch(names, name):
                return make(self.rng)
        return "".join(self.rng.choices(DIGITS, k=12))
