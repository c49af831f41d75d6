"""The sandbox begins and looks as MainNet did where it was captured: its first update, sizes, shares, payloads."""

import json
from collections import Counter, defaultdict
from statistics import mean, median

from ledgerframes.sandbox.generator.generate import generate
from tests.economics.books import steps
from tests.official.interface_files import kind_of
from tests.replay import read_capture
from tests.sandbox.economy_books import entity_of

FACTOR = 2
# With fewer than this, a share of a captured page says little about the network.
SEEN_OFTEN = 10


def ninth(numbers):
    """The number that nine in ten do not exceed."""
    return sorted(numbers)[int(0.9 * len(numbers))]


def statistics(items):
    """What there is to count in a history, and how often each template is created and each choice exercised."""
    every = [[(event, len(above)) for event, above, _ in steps(item)] for item in items]
    events = [event for of_item in every for event, _ in of_item]
    creates = [event for event in events if event["event_type"] == "created_event"]
    exercises = [event for event in events if event["event_type"] == "exercised_event"]
    payloads = [json.dumps(event["create_arguments"], separators=(",", ":")) for event in creates]
    numbers = {
        "events per update": ([len(of_item) for of_item in every], (median, ninth, max)),
        "depth": ([1 + max(depth for _, depth in of_item) for of_item in every], (median, ninth, max)),
        "children per exercise": ([len(event["child_event_ids"]) for event in exercises], (mean, max)),
        "stakeholders": ([len({*event["signatories"], *event["observers"]}) for event in creates], (mean, max)),
        "bytes per payload": ([*map(len, payloads)], (median, mean, max)),
        "exercises that consume": ([event["consuming"] for event in exercises], (mean,)),
    }
    sizes = {(name, of.__name__): of(own) for name, (own, which) in numbers.items() for of in which}
    choices = Counter((entity_of(event), event["choice"]) for event in exercises)
    return sizes, Counter(map(entity_of, creates)), choices


def test_pages_are_as_large_as_on_the_network_and_what_is_frequent_is_as_frequent(captures):
    assert captures
    captured = read_capture("scan-updates-page").body["transactions"]
    captured += [one["update"] for one in read_capture("scan-events-page").body["events"]]
    real = statistics([item for item in captured if item is not None and "events_by_id" in item])
    made = statistics([item for item in generate(12, 2_500).items() if "events_by_id" in item])
    pairs = {name: (made[0][name], wanted) for name, wanted in real[0].items()}
    for ours, theirs in zip(made[1:], real[1:], strict=True):
        frequent = {name: number for name, number in theirs.most_common(20) if number >= SEEN_OFTEN}
        assert len(frequent) >= 2
        pairs |= {name: (ours[name] / ours.total(), number / theirs.total()) for name, number in frequent.items()}
        # Whatever was captured occurs, but for what only a network's first day has.
        assert set(theirs) - set(ours) <= {"Splice.DSO.SvState:SvNodeState"}

    assert {name: pair for name, pair in pairs.items() if not pair[1] / FACTOR <= pair[0] <= pair[1] * FACTOR} == {}


#: The real ledger has one super validator then, this one has several; it also keeps prices and node states later.
LATER = {
    "Splice.DSO.AmuletPrice:AmuletPriceVote", "Splice.DSO.SvState:SvStatusReport", "Splice.DSO.SvState:SvNodeState",
}  # fmt: skip
BOOTSTRAP = "DsoBootstrap_Bootstrap"


def outline(item):
    """The templates and choices of an update's roots, and those right below the bootstrap."""
    told = [(above, (entity_of(event), event.get("choice"))) for event, above, _ in steps(item)]
    return [own for above, own in told if not above], {own for above, own in told if above == (BOOTSTRAP,)}


def test_the_first_update_alone_bootstraps_the_dso_as_the_networks_own_first_update_does(captures, sandbox):
    assert captures
    texts = [update.rendered for update in sandbox.world.updates]
    first = json.loads(texts[0])
    roots, below = outline(first)
    real_roots, real_below = outline(read_capture("scan-updates-page").body["transactions"][0])

    assert [BOOTSTRAP.encode() in text for text in texts] == [True] + [False] * (len(texts) - 1)
    assert roots[:2] == real_roots
    assert {one for one in real_below if one[0] not in LATER} <= below
    result = first["events_by_id"][first["root_event_ids"][1]]["exercise_result"]
    assert result == "DsoBootstrap_BootstrapResult", "a plain text, as on the network"


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
    named = value.items() if isinstance(value, dict) else ()
    listed = [("*", one) for one in value] if isinstance(value, list) else ()
    for name, member in (*named, *listed):
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
