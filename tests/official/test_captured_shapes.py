"""The sandbox's payloads have the members, the nesting and the kinds of values that captured payloads have."""

from __future__ import annotations

from collections import defaultdict

import pytest

from tests.replay import read_capture

_CURVE = "/create_arguments/configSchedule/initialValue/issuanceCurve"
# Where the sandbox knowingly has more than the captures, and why; a line that is no longer true fails.
MORE = {
    ("Splice.AmuletRules:AmuletRules", "AmuletRules_Transfer", "/exercise_result/meta/values"): (
        "a map of texts, whose keys depend on what was transferred"
    ),
    ("Splice.AmuletRules:AmuletRules", "create", f"{_CURVE}/initialValue"): (
        "the published model has an optional share for development, which the captured contract leaves out"
    ),
    ("Splice.AmuletRules:AmuletRules", "create", f"{_CURVE}/futureValues/*/_2"): "the same",
    ("Splice.AmuletRules:AmuletRules", "create", "/create_arguments/configSchedule/initialValue"): (
        "the published model has an optional manager of the development fund"
    ),
}
# The published model has an input that is a record (ExtTransferInput); the captured transfers have none of it.
OTHER_KINDS = {("Splice.AmuletRules:AmuletRules", "AmuletRules_Transfer", "/choice_argument/transfer/inputs/*/value")}


def kind_of(value):
    kinds = {dict: "object", list: "list", bool: "boolean", str: "text", type(None): "null"}
    return kinds.get(type(value), "number")


def walk(value, place=""):
    """Every value below one, with its place; the elements of a list share theirs."""
    yield place, value
    if isinstance(value, dict):
        for name, member in value.items():
            yield from walk(member, f"{place}/{name}")
    elif isinstance(value, list):
        for element in value:
            yield from walk(element, f"{place}/*")


def values_of(event):
    """What an event is of, and its values."""
    template = event["template_id"].partition(":")[2]
    if "create_arguments" in event:
        return (template, "create"), {"create_arguments": event["create_arguments"]}
    return (template, event["choice"]), {name: event[name] for name in ("choice_argument", "exercise_result")}


def shapes(events):
    """By template and action, then by place: the kinds of values, and the members of objects."""
    kinds, members = (defaultdict(lambda: defaultdict(set)) for _ in range(2))
    for subject, values in map(values_of, events):
        for place, value in walk(values):
            kinds[subject][place].add(kind_of(value))
            if isinstance(value, dict):
                members[subject][place].update(value)
    return kinds, members


def events_of(items):
    for item in items:
        yield from item.get("events_by_id", {}).values()
        if "created_event" in item.get("event", {}):
            yield item["event"]["created_event"]


@pytest.fixture(scope="module")
def captured(captures):
    assert captures
    wrapped = read_capture("scan-events-page").body["events"]
    items = [one["update"] for one in wrapped if one.get("update")]
    items += read_capture("scan-updates-page").body["transactions"]
    items += read_capture("scan-updates-assignment").body["transactions"]
    return shapes([*events_of(items), *read_capture("scan-acs-page").body["created_events"]])


@pytest.fixture(scope="module")
def made_up(net):
    return shapes(events_of(net.sandbox.world.items()))


def compared(captured, made_up):
    """The templates and actions that both have."""
    both = sorted(captured[0].keys() & made_up[0].keys())
    assert len(both) > 12
    return both


def test_objects_have_the_members_that_captured_ones_have(captured, made_up):
    found, known = {}, set()
    for subject in compared(captured, made_up):
        for place, members in made_up[1][subject].items():
            real = captured[1][subject].get(place)
            if real is None or members == real:
                continue
            if (*subject, place) in MORE and not real - members:
                known.add((*subject, place))
            else:
                found[(*subject, place)] = {"too many": members - real, "missing": real - members}
    assert found == {}
    assert known == MORE.keys()


def test_values_are_of_the_kinds_that_captured_ones_are(captured, made_up):
    found = {}
    for subject in compared(captured, made_up):
        for place, kinds in made_up[0][subject].items():
            real = captured[0][subject].get(place, set()) - {"null"}
            if real and not kinds - {"null"} <= real and (*subject, place) not in OTHER_KINDS:
                found[(*subject, place)] = (sorted(kinds), sorted(real))
    assert found == {}
