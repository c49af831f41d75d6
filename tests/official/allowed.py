"""Answers as the official files allow them: the least, everything and more, nulls; sent by a sandbox or made up."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from random import Random

from ledgerframes.tables.catalogue import CATALOGUE
from tests.official.conversations import recorded
from tests.official.interface_files import Document

STYLES = ("required only", "everything and unknown members", "null where allowed")
LEAST, MOST, NULLS = STYLES
UNKNOWN = "x-not-known-to-any-file"
#: Text whose form the files leave open and the contract or the servers do not, by the member's name.
TEXTS = {
    r"\w+_at|\w+At|record_time|recordTime|until|totalSupplyAsOf|assignmentExclusivity": [
        f"2026-01-10T09:00:59{fraction}Z" for fraction in ("", ".1", ".12345", ".123456", ".1234567", ".123456789")
    ],
    r"expiresAt": ["1767225600000", "2026-01-01T00:00:00Z"],
    r"amount|total_\w+|accumulated_\w+|totalSupply": ["0E-10", f"{'9' * 28}.{'9' * 10}", "-1.43E-8", "7"],
    r"template_id|templateId|interface_id|interfaceId": [f"{'0f' * 32}:Some.Module:Entity{one}" for one in range(9)],
    r"primaryParty|identityProviderId|resourceVersion|workflow_id": ["", "some::1220ab"],
    r"update_id": ["ab"],  # which is asked for
}
#: What says that a page is the last one.
LAST = {"nextPageToken": "", "next_page_token": None}
#: What the files call optional, but what the answer is there for; without it there would be a 404.
WHOLE = {"update", "transactionTree"}
#: What a file calls an object, with no members named, and what it says nothing of.
ANYTHING = ({}, {"a": {"b": [1, None, "ü"]}}, {"n": "1.0000000000", "absent": None}, {"number": "81324"})
ANY_JSON = (*ANYTHING, "text", [], [1.5, True], 12345678901234567890, None)
ABSENT = object()


@dataclass
class Allowed:
    """What one file allows in one style: values made up, or what a sandbox sent with other members.

    Attributes:
        chosen: alternatives that are made up rather than others.
        payload: the members of a contract's payload that its table can do without.
    """

    document: Document
    style: str
    rng: Random
    chosen: set[str]
    payload: set[str]

    def value(self, schema, sent=ABSENT, name=""):
        """A value of a schema, for the member of a name."""
        if sent is None or (schema.get("nullable") and self.style == NULLS):
            return None
        schema = self.document.resolve(schema)
        if told := self.document.alternatives(schema):
            return self.choice(told, sent)
        kind = schema.get("type", "object" if schema.get("allOf") else "any")
        if kind == "object":
            made = self.object(schema, sent)
            return self.of_contract(made) if name == "payload" else made
        if kind == "array" and sent is not ABSENT:
            return [self.value(schema["items"], one, name) for one in sent]
        if kind == "array":
            told = self.document.alternatives(self.document.resolve(schema["items"]))
            once = [self.told(*one) for one in told] or [self.value(schema["items"], name=name)]
            return once * (1 if self.style == LEAST else 2)
        return self.scalar(kind, schema, name) if sent is ABSENT else sent

    def choice(self, told, sent):
        """Of the alternatives that which was sent, or else one chosen, or else any."""
        if sent is ABSENT:
            return self.told(*self.rng.choice([one for one in told if self.chosen & {*one[0]["required"]}] or told))
        return next(
            self.told(tell, branch, sent)
            for tell, branch in told
            if set(tell["required"]) <= sent.keys()
            and all(sent[name] == one["const"] for name, one in tell.get("properties", {}).items())
        )

    def told(self, tell, branch, sent=ABSENT):
        value = self.value(branch, sent)
        value |= {name: one["const"] for name, one in tell.get("properties", {}).items()}
        if len(tell["required"]) == 1 and tell["required"][0][0].isupper():
            value.pop(UNKNOWN, None)  # "a single-key object naming the event kind", says the contract
        return value

    def object(self, schema, sent):
        members, required, made = self.document.members(schema), self.document.required(schema) | WHOLE, {}
        known = {} if sent is ABSENT else sent
        if isinstance(extra := schema.get("additionalProperties"), dict):
            keys = ("key-0", "key-1") if sent is ABSENT and self.style != LEAST else known
            return {key: self.value(extra, known.get(key, ABSENT)) for key in keys}
        self.rng.seed(str(known) if known else self.rng.random())  # what is sent again is the same again
        if not members:
            return dict(self.rng.choice(ANYTHING)) if sent is ABSENT else sent
        for name, one in members.items():
            if self.style == MOST or name in required:
                made[name] = self.value(one, known.get(name, LAST.get(name, ABSENT)), name)
            elif self.style == NULLS:
                made[name] = None
        return made | ({UNKNOWN: self.rng.choice(ANY_JSON)} if self.style == MOST else {})

    def of_contract(self, made):
        """Of a contract's payload, whose members no file names, what its table has to have, or null or more besides."""
        kept = {name: one for name, one in made.items() if name not in self.payload or self.style != LEAST}
        return kept | {LEAST: {}, NULLS: dict.fromkeys(self.payload), MOST: {UNKNOWN: [1, None]}}[self.style]

    def scalar(self, kind, schema, name):
        if "enum" in schema:
            return self.rng.choice(schema["enum"])
        if kind == "boolean":
            return self.rng.random() < 0.5
        if kind == "integer":
            return self.rng.choice((0, 1, 7, 10) if name == "decimals" else (0, 1, 7, 2**31 - 1))
        if kind == "string":
            forms = (one for names, one in TEXTS.items() if re.fullmatch(names, name))
            return self.rng.choice(next(forms, [f"{self.rng.getrandbits(48):x}"]))
        return self.rng.choice(ANY_JSON)


def nullable_at(path):
    """The members of payloads that the table of a path can do without."""
    tables = [one for one in CATALOGUE.values() if any(name.endswith(f" {path}") for name in one.endpoints)]
    sources = [one.source for table in tables for one in table.columns if one.nullable]
    return {source.split("/payload/")[1].split("/")[0] for source in sources if "/payload/" in source}


def answering(sandbox, style, *, made_up=None, seed=0, hidden=""):
    """A network that gets a sandbox's answers in one style, or ones made up of chosen alternatives; and the turns."""
    rng = Random(seed)

    def rewritten(found, sent):
        if not (content := found.answers(200)):
            return b""
        allowed = Allowed(found.document, style, rng, made_up or set(), nullable_at(found.path))
        return json.dumps(allowed.value(content["application/json"], ABSENT if made_up else sent)).encode()

    return recorded(sandbox, hidden=hidden, rewritten=rewritten)
