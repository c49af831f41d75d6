"""The sandbox's pages have the shape of pages that were captured on MainNet: sizes, depth, stakeholders, shares."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from statistics import mean, median

import pytest

from ledgerframes.sandbox.generator.generate import generate
from tests.replay import CAPTURES, read_capture
from tests.sandbox.economy_books import entity_of, preorder

FACTOR = 2
# With fewer than this, a share of a captured page says little about the network.
SEEN_OFTEN = 10

pytestmark = pytest.mark.skipif(
    not (CAPTURES / "scan-events-page.json").is_file(), reason=f"needs the captured pages in {CAPTURES}"
)


@dataclass
class Shape:
    """What there is to count in a history."""

    events: list = field(default_factory=list)
    depths: list = field(default_factory=list)
    children: list = field(default_factory=list)
    stakeholders: list = field(default_factory=list)
    sizes: list = field(default_factory=list)
    consuming: list = field(default_factory=list)
    templates: Counter = field(default_factory=Counter)
    choices: Counter = field(default_factory=Counter)
    members: dict = field(default_factory=lambda: defaultdict(list))

    def read(self, items):
        for item in items:
            if item is not None and "events_by_id" in item:
                self.events.append(len(item["events_by_id"]))
                self.depths.append(max(depth(item["events_by_id"], root) for root in item["root_event_ids"]))
                for event in preorder(item):
                    self._event(event)
        return self

    def _event(self, event):
        if event["event_type"] != "created_event":
            self.choices[entity_of(event), event["choice"]] += 1
            self.children.append(len(event["child_event_ids"]))
            self.consuming.append(event["consuming"])
            return
        arguments = event["create_arguments"]
        self.templates[entity_of(event)] += 1
        self.stakeholders.append(len({*event["signatories"], *event["observers"]}))
        self.sizes.append(len(json.dumps(arguments, separators=(",", ":"))))
        self.members[entity_of(event)].append([value is None for value in values(arguments)])

    def statistics(self):
        return {
            "events per update, median": median(self.events),
            "events per update, 90th percentile": percentile(self.events),
            "events per update, maximum": max(self.events),
            "depth, median": median(self.depths),
            "depth, 90th percentile": percentile(self.depths),
            "depth, maximum": max(self.depths),
            "children per exercise, mean": mean(self.children),
            "children per exercise, maximum": max(self.children),
            "stakeholders per create, mean": mean(self.stakeholders),
            "stakeholders per create, maximum": max(self.stakeholders),
            "bytes per payload, median": median(self.sizes),
            "bytes per payload, mean": mean(self.sizes),
            "bytes per payload, maximum": max(self.sizes),
            "exercises that consume": mean(self.consuming),
        }

    def null_share(self, weights):
        """The share of members that are null, with the templates in given proportions."""
        shares = {entity: mean(null for one in self.members[entity] for null in one) for entity in weights}
        return sum(shares[entity] * number for entity, number in weights.items()) / sum(weights.values())


def depth(events, event_id):
    return 1 + max((depth(events, child) for child in events[event_id].get("child_event_ids") or ()), default=0)


def percentile(numbers):
    return sorted(numbers)[int(0.9 * len(numbers))]


def values(value):
    """Every member's value, however deep."""
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for member in members:
        if isinstance(value, dict):
            yield member
        yield from values(member)


@pytest.fixture(scope="module")
def real():
    updates = read_capture("scan-updates-page").body["transactions"]
    return Shape().read([*updates, *(one["update"] for one in read_capture("scan-events-page").body["events"])])


@pytest.fixture(scope="module")
def first_page():
    return Shape().read(read_capture("scan-updates-page").body["transactions"])


@pytest.fixture(scope="module")
def made():
    return Shape().read(generate(9, 8_000).items())


def within(made, real):
    return real / FACTOR <= made <= real * FACTOR


def test_transactions_are_as_large_as_on_the_network(made, real):
    ours = made.statistics()

    assert {
        name: (ours[name], wanted) for name, wanted in real.statistics().items() if not within(ours[name], wanted)
    } == {}


@pytest.mark.parametrize("kind", ["templates", "choices"])
def test_what_is_frequent_is_as_frequent(made, real, kind):
    ours, captured = getattr(made, kind), getattr(real, kind)
    first = {name: number for name, number in captured.most_common(20) if number >= SEEN_OFTEN}
    shares = {name: (ours[name] / ours.total(), number / captured.total()) for name, number in first.items()}

    assert len(shares) >= 2
    assert {name: share for name, share in shares.items() if not within(*share)} == {}
    # Whatever was captured occurs, with two exceptions that only a network's first day has.
    assert set(captured) - set(ours) <= {"Splice.DSO.SvState:SvNodeState"}


def test_members_are_null_as_often(first_page):
    """A ledger's first page has its founding records, so the first updates of some histories are compared with it."""
    young = Shape()
    for seed in range(12):
        young.read(list(generate(seed, 60, migrations=1).items())[:40])
    known = {entity: number for entity, number in first_page.templates.items() if entity in young.members}

    assert within(young.null_share(known), first_page.null_share(known))
