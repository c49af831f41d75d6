"""The sandbox's pages have the shape of pages that were captured on MainNet: sizes, depth, stakeholders, shares."""

from __future__ import annotations

import json
from collections import Counter
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


def depth(events, event_id):
    return 1 + max((depth(events, child) for child in events[event_id].get("child_event_ids") or ()), default=0)


def percentile(numbers):
    return sorted(numbers)[int(0.9 * len(numbers))]


def within(made, real):
    return real / FACTOR <= made <= real * FACTOR


OF = {"median": median, "90th percentile": percentile, "maximum": max}


def statistics(items):
    """What there is to count in a history."""
    events = [event for item in items for event in preorder(item)]
    creates = [event for event in events if event["event_type"] == "created_event"]
    exercises = [event for event in events if event["event_type"] != "created_event"]
    sizes = [len(item["events_by_id"]) for item in items]
    depths = [max(depth(item["events_by_id"], root) for root in item["root_event_ids"]) for item in items]
    children = [len(event["child_event_ids"]) for event in exercises]
    stakeholders = [len({*event["signatories"], *event["observers"]}) for event in creates]
    payloads = [len(json.dumps(event["create_arguments"], separators=(",", ":"))) for event in creates]
    return {
        **{f"events per update, {name}": of(sizes) for name, of in OF.items()},
        **{f"depth, {name}": of(depths) for name, of in OF.items()},
        "children per exercise, mean": mean(children),
        "children per exercise, maximum": max(children),
        "stakeholders per create, mean": mean(stakeholders),
        "stakeholders per create, maximum": max(stakeholders),
        "bytes per payload, median": median(payloads),
        "bytes per payload, mean": mean(payloads),
        "bytes per payload, maximum": max(payloads),
        "exercises that consume": mean(event["consuming"] for event in exercises),
    }


def counts(items):
    """How often each template is created and each choice exercised."""
    events = [event for item in items for event in preorder(item)]
    templates = Counter(entity_of(event) for event in events if event["event_type"] == "created_event")
    return templates, Counter((entity_of(event), event["choice"]) for event in events if "choice" in event)


@pytest.fixture(scope="module")
def real():
    updates = read_capture("scan-updates-page").body["transactions"]
    updates += [one["update"] for one in read_capture("scan-events-page").body["events"]]
    return [item for item in updates if item is not None and "events_by_id" in item]


@pytest.fixture(scope="module")
def made():
    return [item for item in generate(12, 2_500).items() if "events_by_id" in item]


def test_transactions_are_as_large_as_on_the_network(made, real):
    ours = statistics(made)

    assert {
        name: (ours[name], wanted) for name, wanted in statistics(real).items() if not within(ours[name], wanted)
    } == {}


def test_what_is_frequent_is_as_frequent(made, real):
    for ours, captured in zip(counts(made), counts(real), strict=True):
        first = {name: number for name, number in captured.most_common(20) if number >= SEEN_OFTEN}
        shares = {name: (ours[name] / ours.total(), number / captured.total()) for name, number in first.items()}

        assert len(shares) >= 2
        assert {name: share for name, share in shares.items() if not within(*share)} == {}
        # Whatever was captured occurs, with two exceptions that only a network's first day has.
        assert set(captured) - set(ours) <= {"Splice.DSO.SvState:SvNodeState"}
