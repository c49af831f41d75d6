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


def kind_of(value):
    kinds = {dict: "object", list: "list", bool: "boolean", str: "text", type(None): "null"}
    return kinds.get(type(value), "number")


def walk(value, place=""):
    """Every value below one, with its place; the elements of a list share theirs."""
    yield place, value
    parts = (
        value.items() if isinstance(value, dict) else [("*", one) for one in value] if isinstance(value, list) else ()
    )
    for name, member in parts:
        yield from walk(member, f"{place}/{name}")


def shapes(events):
    """By template, action and place: the kinds of values, and the members of objects."""
    kinds, members = defaultdict(set), defaultdict(set)
    for event in events:
        action, names = event.get("choice", "create"), ("create_arguments", "choice_argument", "exercise_result")
        for place, value in walk({name: event[name] for name in names if name in event}):
            subject = event["template_id"].partition(":")[2], action, place
            kinds[subject].add(kind_of(value))
            if isinstance(value, dict):
                members[subject].update(value)
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


def test_values_have_the_kinds_and_objects_the_members_that_captured_ones_have(captured, made_up):
    """Of the templates and actions that both have."""
    (real_kinds, real), (kinds, members) = captured, made_up
    assert len({subject[:2] for subject in real} & {subject[:2] for subject in members}) > 12

    wrong = {subject: members[subject] ^ real[subject] for subject in members.keys() & real.keys()}
    known = {subject for subject in MORE if wrong.get(subject) and not real[subject] - members[subject]}
    assert {subject: names for subject, names in wrong.items() if names and subject not in known} == {}
    assert known == MORE.keys()
    other = {subject for subject in kinds.keys() & real_kinds.keys() if kinds[subject] - real_kinds[subject] - {"null"}}
    assert {subject for subject in other if real_kinds[subject] - {"null"}} == set()
