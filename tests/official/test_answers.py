"""Answers of the sandbox are as the official files say, save where real ones are not, and its payloads as captured."""

import json
from collections import Counter, defaultdict

import pytest

from tests.official.answer_faults import SHARED, faults, subject, unlike_real_servers
from tests.official.interface_files import kind_of
from tests.replay import CAPTURES, read_capture

pytestmark = pytest.mark.filterwarnings("ignore::ledgerframes.transport.DeprecatedEndpointWarning")

#: How many answers of one path and status are looked at, the largest first.
ANSWERS = 4


@pytest.mark.long
def test_every_answer_is_as_the_official_files_say(turns):
    broken, seen = {}, Counter()
    for turn in sorted(turns, key=lambda one: -len(one.answer)):
        kind = turn.endpoint, turn.status, turn.answered_type
        seen[kind] += 1
        if turn.described and seen[kind] <= ANSWERS:
            answer = (turn.interface, turn.method, turn.path, turn.status, turn.answered_type, turn.answer)
            broken |= dict.fromkeys(unlike_real_servers(*answer), turn.endpoint)
    assert broken == {}


@pytest.mark.parametrize("capture", sorted({*SHARED.values()}))
def test_what_is_allowed_to_break_a_file_is_broken_by_a_real_server_too(captures, capture):
    assert captures
    asked = json.loads((CAPTURES / f"{capture}.json").read_text())["request"]
    real = read_capture(capture)
    content_type = real.content_type.partition(";")[0]
    body = real.reply.body if content_type == "application/json" else b""
    found = faults(asked["interface"], asked["method"], asked["path"], real.status, content_type, body)
    allowed = {what[1:] for what, name in SHARED.items() if name == capture}
    assert allowed <= {subject("", fault)[1:] for fault in found}


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


def test_values_have_the_kinds_and_objects_the_members_that_captured_ones_have(captures, net):
    """Of the templates and actions that both have."""
    assert captures
    items = [one["update"] for one in read_capture("scan-events-page").body["events"] if one.get("update")]
    for page in ("scan-updates-page", "scan-updates-assignment"):
        items += read_capture(page).body["transactions"]
    real_kinds, real = shapes([*events_of(items), *read_capture("scan-acs-page").body["created_events"]])
    kinds, members = shapes(events_of(net.sandbox.world.items()))
    assert len({subject[:2] for subject in real} & {subject[:2] for subject in members}) > 12

    wrong = {subject: members[subject] ^ real[subject] for subject in members.keys() & real.keys()}
    known = {subject for subject in MORE if wrong.get(subject) and not real[subject] - members[subject]}
    assert {subject: names for subject, names in wrong.items() if names and subject not in known} == {}
    assert known == MORE.keys()
    other = {subject for subject in kinds.keys() & real_kinds.keys() if kinds[subject] - real_kinds[subject] - {"null"}}
    assert {subject for subject in other if real_kinds[subject] - {"null"}} == set()
