"""The plausible ledger: in server order and time, true to its books and votes, as varied and shaped as MainNet was."""

import json
from collections import Counter, defaultdict
from datetime import timedelta
from decimal import Decimal
from itertools import pairwise
from statistics import mean, median

import pytest

from ledgerframes.sandbox.generator.generate import generate
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.calendar import updates_of_days
from tests.economics.books import OPEN, steps
from tests.official.interface_files import kind_of
from tests.replay import read_capture
from tests.sandbox.economy_books import COIN, REWARD, allowed_by, by_traffic, entity_of, preorder, round_number, rounded

SECOND, MINUTE = timestamps.SECOND, 60 * timestamps.SECOND
TICK = 10 * MINUTE


@pytest.fixture(scope="module")
def transactions(economy_items):
    return [item for item in economy_items if "events_by_id" in item]


def test_updates_stand_in_the_order_of_migration_record_time_and_id(economy, net):
    keys = [update[:3] for update in economy.updates]

    assert keys == sorted(set(keys))
    for update, item in zip(economy.updates, economy.items(), strict=True):
        assert item.get("event", item)["migration_id"] == update.migration_id
        assert timestamps.parse(item["record_time"]) == update.record_time
        assert len(item["record_time"]) == len("2025-03-03T09:00:00.000000Z")
        assert update.rendered == json.dumps(item, separators=(",", ":"), ensure_ascii=False).encode()
    tie = next(a for a, b in pairwise(economy.updates) if a[:2] == b[:2])
    after_tie = economy.position(tie[:2])
    assert economy.updates[after_tie - 1][:2] == tie[:2] < economy.updates[after_tie][:2]
    assert economy.position((99, 0)) == len(economy.updates)
    updates = net.sandbox.world.updates
    groups = Counter(update[:2] for update in updates)
    assert 0.05 <= sum(size for size in groups.values() if size > 1) / len(updates) <= 0.15
    assert set(groups.values()) == {1, 2, 3}
    places = {(one.migration_id, one.record_time, one.synchronizer_id) for one in updates}
    assert len(places) == len(updates), "two at one time on one synchronizer"
    world = generate(1, 20)
    late = world.updates[7]._replace(update_id="late", external_hash="signed")
    world.record([late])
    assert world.updates == sorted(world.updates)
    assert world.update("late") is world.scanned_by_hash("signed") is late


def test_event_numbers_are_preorder_and_the_map_is_sorted_as_text(transactions):
    for item in transactions:
        events = item["events_by_id"]
        told = [event["event_id"] for event in preorder(item)]
        assert told == [f"{item['update_id']}:{n}" for n in range(len(events))]
        assert [event["event_id"] for event in events.values()] == list(events) == sorted(events)
    assert sum(len(item["events_by_id"]) > 10 for item in transactions) > 100


def test_reassignments_of_every_sort_occur(economy):
    legs, travels = defaultdict(list), Counter()
    for item in economy.items():
        if "event" in item:
            legs[item["event"]["unassign_id"]].append(item["event"])
            travels[item["event"].get("contract_id")] += 1
    sorts = Counter(tuple("created_event" in leg for leg in own) for own in legs.values())
    every = [leg for own in legs.values() for leg in own]

    assert set(sorts) == {(False, True), (True, False), (False,), (True,)}
    assert sorts[False, True] > sum(sorts.values()) / 2
    assert any(leg["source_synchronizer"] == leg["target_synchronizer"] for leg in every)
    assert {(0, 1), (1, 2)} <= {(own[0]["migration_id"], own[-1]["migration_id"]) for own in legs.values()}
    assert any(len(own) == 1 and own[0]["migration_id"] == 0 for own in legs.values())
    del travels[None]
    assert max(travels.values()) >= 3


def test_times_results_hashes_and_interfaces_vary_as_on_real_servers(transactions):
    events = [event for item in transactions for event in item["events_by_id"].values()]
    early = {timestamps.parse(item["effective_at"]) < timestamps.parse(item["record_time"]) for item in transactions}
    exercised = [event for event in events if event["event_type"] == "exercised_event"]
    created_at = [one["created_at"] for one in events if "created_at" in one]
    signed = sum("external_transaction_hash" in item for item in transactions)
    coins = [event["template_id"] for event in events if event["template_id"].endswith(f":{COIN}")]

    assert early == {True, False}
    assert {type(event["exercise_result"]) for event in exercised} == {dict, str, list, type(None)}
    assert {event["interface_id"] is None for event in exercised} == {True, False}
    assert not any(text.rpartition("Z")[0].endswith("0") and "." in text for text in created_at)
    assert {len(text) for text in created_at} > {20, 24, 27}
    assert {item["workflow_id"] == "" for item in transactions} == {True, False}
    assert 0.04 < signed / len(transactions) < 0.12
    assert len(set(coins)) == 2, "a package is upgraded midway"
    assert coins[0] != coins[-1]


def test_contracts_are_used_where_they_are_until_they_end(economy, economy_items, economy_books):
    places = {}
    for item in economy_items:
        move = item.get("event", {})
        if "contract_id" in move:
            # Scans show some assignments before their unassignments.
            assert places[move["contract_id"]] in (move["source_synchronizer"], move["target_synchronizer"])
        elif move:
            places[move["created_event"]["contract_id"]] = move["target_synchronizer"]
        for event in preorder(item) if not move else ():
            assert places.setdefault(event["contract_id"], item["synchronizer_id"]) == item["synchronizer_id"]

    left = economy_books.active()
    assert {contract: (life.place, life.counter) for contract, life in left.items()} == {
        one.contract_id: (one.synchronizer_id, one.counter) for one in economy.contracts.active.values()
    }


def test_every_outcome_occurs_as_votes_say_and_what_was_accepted_is_done_below_the_close(economy_books):
    rules = next(economy_books.of("Splice.DsoRules:DsoRules")).payload
    members = {party.partition("::")[0] for party, _ in rules["svs"]}
    outcomes, abstaining, done = set(), 0, set()
    for _, event, children in economy_books.exercises("DsoRules_CloseVoteRequest"):
        result = event["exercise_result"]
        votes, outcome = dict(result["request"]["votes"]), result["outcome"]["tag"]
        below = [child["choice"] for child in children if child["event_type"] == "exercised_event"]
        assert (outcome == "VRO_Accepted") == (sum(vote["accept"] for vote in votes.values()) >= 3)
        assert set(votes) | set(result["abstainingSvs"]) == members
        assert below[0] == "Archive"
        assert len(below) == 1 + (outcome == "VRO_Accepted")
        outcomes.add(outcome)
        abstaining += len(result["abstainingSvs"])
        done |= set(below[1:])
    assert outcomes == {"VRO_Accepted", "VRO_Rejected", "VRO_Expired"}
    assert abstaining > 0
    assert done == {
        "AmuletRules_SetConfig", "DsoRules_GrantFeaturedAppRight", "DsoRules_RevokeFeaturedAppRight",
        "DsoRules_UpdateFeaturedAppRight", "DsoRules_UpdateSvRewardWeight",
    }  # fmt: skip
    cast = economy_books.exercises("DsoRules_CastVote")
    assert len({event["choice_argument"]["vote"]["reason"]["body"] for _, event, _ in cast}) > 3


def test_a_members_coupons_weigh_what_the_rules_say(transactions):
    weights = {}
    for event, _, below in (step for item in transactions for step in steps(item)):
        if event["event_type"] == "created_event" and entity_of(event) == "Splice.DsoRules:DsoRules":
            weights = {party: int(info["svRewardWeight"]) for party, info in event["create_arguments"]["svs"]}
        if event.get("choice") == "DsoRules_ReceiveSvRewardCoupon":
            made = [child["create_arguments"] for child in below if child["event_type"] == "created_event"]
            given = [int(one["weight"]) for one in made if "weight" in one]
            assert sum(given) == weights[event["choice_argument"]["sv"]]
    assert set(weights.values()) != {40_000, 30_000, 20_000, 10_000}


def test_each_phase_of_a_round_begins_at_its_time(economy_items, economy_books):
    phases = {
        (life.entity.removesuffix("MiningRound")[13:], round_number(life.payload)): (life.since, life.payload)
        for life in economy_books.lives.values()
        if life.entity.startswith("Splice.Round:")
    }
    opened = [at for (name, _), (at, _) in sorted(phases.items()) if name == "Open"][3:]
    apart, issued, closed = [later - earlier for earlier, later in pairwise(opened)], [], []
    for (phase, number), (at, payload) in phases.items():
        if phase == "Issuing":
            assert timestamps.parse(payload["opensAt"]) == at + TICK
            issued.append(at - phases["Summarizing", number][0])
        if phase == "Closed":
            closed.append(at - timestamps.parse(phases["Issuing", number][1]["targetClosesAt"]))
    claims = list(economy_books.exercises("SvRewardCoupon_ArchiveAsBeneficiary"))
    first, last = (timestamps.parse(economy_items[place]["record_time"]) for place in (0, -1))

    assert 0.97 < (last - first) / (1_440 * MINUTE) < 1.03
    assert 143 <= len(opened) <= 144
    assert median(apart) == TICK
    assert all(TICK <= one < TICK + SECOND for one in apart)
    # A migration can begin a little before the former one ends.
    assert all(-TICK // 3 < one < 3 * MINUTE for one in issued)
    assert all(0 <= one < 3 * MINUTE for one in closed)
    assert median(issued) > 0
    assert len(claims) > 20
    for item, event, _ in claims:
        issuing = phases["Issuing", round_number(economy_books.lives[event["contract_id"]].payload)][1]
        assert timestamps.parse(item["record_time"]) >= timestamps.parse(issuing["opensAt"])


@pytest.fixture(scope="module")
def made(economy_books):
    """Every coupon of the second version, by id."""
    return {contract: life for contract, life in economy_books.lives.items() if life.entity == REWARD}


def creates(below):
    return [one["create_arguments"] for one in below if one["event_type"] == "created_event"]


def test_a_round_is_calculated_when_it_closes_and_gives_a_coupon_per_provider_but_for_dry_runs(economy_books, made):
    opened = {round_number(life.payload): life.payload for life in economy_books.of(OPEN)}
    calculated = list(economy_books.of("Splice.Amulet.RewardAccountingV2:CalculateRewardsV2"))
    dry_rounds = {round_number(life.payload) for life in calculated if life.payload["dryRun"]}
    per_round = defaultdict(list)
    for life in made.values():
        if life.above[-1] == "ProcessRewardsV2_ProcessBatch":
            per_round[round_number(life.payload)].append(life.payload)

    assert {life.above[-1] for life in calculated} == {"AmuletRules_AdvanceOpenMiningRounds"}
    assert min(len(dry_rounds), len(per_round)) > 10
    assert not dry_rounds & per_round.keys()
    for number, payloads in per_round.items():
        _, _, apps, *_ = allowed_by(opened[number]["issuanceConfig"], TICK)
        assert by_traffic(opened[number])
        assert len({one["provider"] for one in payloads}) == len(payloads) >= 2
        assert apps - Decimal("0.000001") < sum(Decimal(one["amount"]) for one in payloads) <= apps


def test_coupons_end_before_their_time_or_expire_after_it_and_are_unclaimed_together(economy_books, made):
    expired, ended = set(), {contract: life for contract, life in made.items() if life.until is not None}
    for _, event, below in economy_books.exercises("AmuletRules_ClaimExpiredRewardsV2"):
        together = event["choice_argument"]["rewardCouponCids"]
        (unclaimed,) = creates(below)
        assert Decimal(unclaimed["amount"]) == sum(Decimal(made[one].payload["amount"]) for one in together)
        expired |= {*together}

    assert 0 < len(expired) < len(ended) < len(made)
    for contract, life in ended.items():
        assert (life.until > timestamps.parse(life.payload["expiresAt"])) == (contract in expired)


def test_shares_are_the_percentages_of_each_coupon(economy_books, made):
    exercises = list(economy_books.exercises("RewardCoupon_AssignBeneficiaries"))
    assert exercises
    for _, event, below in exercises:
        argument = event["choice_argument"]
        parts = {one["beneficiary"]: Decimal(one["percentage"]) for one in argument["newBeneficiaries"]}
        shared = [made[one].payload for one in (event["contract_id"], *argument["additionalCoupons"])]
        assert sum(parts.values()) == 1
        assert sorted((one["beneficiary"], Decimal(one["amount"])) for one in creates(below)) == sorted(
            (party, rounded(Decimal(one["amount"]) * part)) for one in shared for party, part in parts.items()
        )
        assert {party for party, _ in event["exercise_result"]["newBeneficiariesCouponCids"]} == set(parts)


@pytest.mark.long
def test_a_quarter_is_as_long_as_it_says_and_people_keep_hours_and_weekends():
    world = generate(7, updates_of_days(90), days=90)
    moments = [timestamps.EPOCH + timedelta(microseconds=update.record_time) for update in world.updates]
    per_day, hours = Counter(one.date() for one in moments), Counter(one.hour for one in moments)
    weekdays = Counter(one.weekday() for one in moments)

    assert 87 < (max(per_day) - min(per_day)).days == len(per_day) - 1 < 93, "no day is empty"
    assert hours[15] > 4 * hours[3]
    assert min(weekdays[day] for day in range(5)) > 1.5 * max(weekdays[5], weekdays[6])


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
