"""Tables of governance against the raw events, read another way, and what no simulated history has, by hand."""

from __future__ import annotations

import json
from decimal import Decimal
from statistics import median

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.models.computing import together
from tests.economics.histories import WHOLE, archive, create, exercise, frame_of, opening_of, update
from tests.sandbox.economy_books import entity_of, preorder

RULES, REQUEST = "Splice.DsoRules:DsoRules", "Splice.DsoRules:VoteRequest"
COIN_RULES, RIGHT = "Splice.AmuletRules:AmuletRules", "Splice.Amulet:FeaturedAppRight"
PRICE = "Splice.DSO.AmuletPrice:AmuletPriceVote"
OUTCOMES = {"VRO_Accepted": "accepted", "VRO_Rejected": "rejected", "VRO_Expired": "expired"}


def time(text):
    return None if text is None else pd.Timestamp(text).as_unit("us")


def known(rows, *columns):
    """Rows as tuples, with None for what is null."""
    return [tuple(None if value is pd.NA or value is pd.NaT or value != value else value for value in row)
            for row in rows[list(columns)].itertuples(index=False)]  # fmt: skip


@pytest.fixture(scope="module")
def items(voted):
    return voted


@pytest.fixture(scope="module")
def events(items):
    """Their events, for several tables."""
    with together(frame_of(items, **WHOLE)) as inputs:
        yield inputs


def raw(items, entity, *, choice=None):
    """The creates of a template, or the exercises of a choice, with their items."""
    for item in items:
        for event in preorder(item):
            if choice is None and event["event_type"] == "created_event" and entity_of(event) == entity:
                yield item, event, event["create_arguments"]
            elif choice is not None and event.get("choice") == choice:
                yield item, event, event["exercise_result"]


def told(items):
    """Of each request: when it was opened, what it says last, and what closed it."""
    opened, last, closes = {}, {}, {}
    for _, event, payload in raw(items, REQUEST):
        request = payload["trackingCid"] or event["contract_id"]
        last[request] = payload
        if payload["trackingCid"] is None:
            opened[request] = time(event["created_at"])
    for _, event, result in raw(items, None, choice="DsoRules_CloseVoteRequest"):
        closes[result["request"]["trackingCid"] or event["choice_argument"]["requestCid"]] = result
    return opened, last, closes


def test_votes_are_those_of_the_raw_events(items, events):
    opened, last, closes = told(items)
    providers = {event["contract_id"]: payload["provider"] for _, event, payload in raw(items, RIGHT)}
    expected = {}
    for request, payload in last.items():
        (action,) = (value for value in payload["action"]["value"].values() if isinstance(value, dict))
        given, result = action["value"], closes.get(request)
        weight = given.get("newRewardWeight") or given.get("newActivityWeight")
        cast = [vote["accept"] for _, vote in payload["votes"]]
        expected[request] = (
            payload["requester"], action["tag"],
            given.get("provider") or given.get("svParty") or providers.get(given.get("rightCid")),
            None if weight is None else Decimal(weight), payload["reason"]["url"], payload["reason"]["body"],
            opened[request], time(payload["voteBefore"]), time(payload["targetEffectiveAt"]),
            OUTCOMES[result["outcome"]["tag"]] if result else "open",
            time(result["completedAt"]) if result else None,
            time(result["outcome"]["value"].get("effectiveAt")) if result else None,
            sum(cast), len(cast) - sum(cast), len(result["abstainingSvs"]) if result else None,
        )  # fmt: skip

    rows = lf.votes(events)

    columns = (
        *("requester", "action", "party", "weight", "reason_url", "reason_body", "opened_at", "vote_before"),
        *("target_effective_at", "outcome", "completed_at", "effective_at", "accepting", "rejecting", "abstaining"),
    )
    assert dict(zip(rows.request, known(rows, *columns), strict=True)) == expected
    assert {*OUTCOMES.values()} <= {*rows.outcome}
    assert rows.opened_at.is_monotonic_increasing
    assert rows.attrs["not_understood"] == {}
    assert rows.attrs["began_before"] == 0


def test_casts_are_the_votes_that_the_choices_state(items, events):
    opened = [
        (event["contract_id"], *next(iter(payload["votes"])), item["record_time"])
        for item, event, payload in raw(items, REQUEST)
        if payload["trackingCid"] is None
    ]
    first = {event["contract_id"]: payload["trackingCid"] for _, event, payload in raw(items, REQUEST)}
    for item, event, _ in raw(items, None, choice="DsoRules_CastVote"):
        contract, vote = (event["choice_argument"][name] for name in ("requestCid", "vote"))
        opened.append((first[contract] or contract, vote["sv"].partition("::")[0], vote, item["record_time"]))
    expected = {
        (request, name, vote["sv"], vote["accept"], vote["reason"]["body"], time(vote["optCastAt"]), time(at), False)
        for request, name, vote, at in opened
    }

    rows = lf.vote_casts(events)

    columns = ("request", "sv_name", "sv", "accept", "reason_body", "cast_at", "record_time", "changed")
    assert {*known(rows, *columns)} == expected
    assert len(rows) == len(expected) > 30


def test_price_votes_have_the_median_that_the_next_round_has(items, events):
    standing, expected, rounds = {}, [], []
    for item in items:
        for event in preorder(item):
            if entity_of(event) == PRICE and event["event_type"] == "created_event":
                vote = event["create_arguments"]
                before, standing[vote["sv"]] = standing.get(vote["sv"]), Decimal(vote["amuletPrice"])
                prices = standing.values()
                middle = Decimal(median(prices)).quantize(Decimal("1e-10"))
                expected.append(
                    (vote["sv"], standing[vote["sv"]], before, len(prices), middle, min(prices), max(prices))
                )
            elif event["event_type"] == "created_event" and entity_of(event) == "Splice.Round:OpenMiningRound":
                rounds.append((time(item["record_time"]), Decimal(event["create_arguments"]["amuletPrice"])))

    rows = lf.price_votes(events)

    columns = ("sv", "price_usd", "price_before_usd", "voters", "median_usd", "lowest_usd", "highest_usd")
    assert known(rows, *columns) == expected
    for at, price in rounds[3:]:
        assert rows[rows.record_time < at].median_usd.iloc[-1] == price
    assert lf.price_votes(frame_of(items)).voters.isna().all()


def leaves(value, path=""):
    """The members of a configuration by their paths."""
    if isinstance(value, dict | list):
        pairs = [(f".{key}", one) for key, one in value.items()] if isinstance(value, dict) else [
            (f"[{place}]", one) for place, one in enumerate(value)
        ]  # fmt: skip
        return {name: one for step, inner in pairs for name, one in leaves(inner, path + step).items()}
    return {} if value is None else {path[1:]: json.dumps(value) if isinstance(value, bool) else str(value)}


def test_changes_of_the_configuration_are_those_between_contracts_of_rules(items, events):
    expected, closes = [], {}
    for item, _, result in raw(items, None, choice="DsoRules_CloseVoteRequest"):
        closes[item["update_id"]] = result["request"]["trackingCid"]
    for name, entity in (("AmuletRules", COIN_RULES), ("DsoRules", RULES)):
        before = None
        for item, _, payload in raw(items, entity):
            now = leaves(payload["configSchedule"]["initialValue"] if name == "AmuletRules" else payload["config"])
            expected += [
                (time(item["record_time"]), name, one, before.get(one), now.get(one), closes.get(item["update_id"]))
                for one in ({*before, *now} if before is not None else ())
                if before.get(one) != now.get(one)
            ]
            before = now

    rows = lf.config_changes(events)

    assert sorted(known(rows, "record_time", "rules", "member", "before", "after", "request"), key=repr) == sorted(
        expected, key=repr
    )
    assert "rewardConfig.mintingVersion" in {*rows.member}
    assert rows.attrs["not_compared"] == 2


def test_weights_are_those_of_the_rules_and_say_which_vote(items, events):
    states = [(time(item["record_time"]), dict(payload["svs"])) for item, _, payload in raw(items, RULES)]

    rows = lf.sv_weights(events)

    for at, members in states:
        there = rows[(rows.since <= at) & (rows.until.isna() | (rows.until > at))]
        assert dict(zip(there.sv, there.weight, strict=True)) == {
            party: int(info["svRewardWeight"]) for party, info in members.items()
        }
    votes = lf.votes(events).set_index("request")
    changed = rows[rows.began == "weight changed"]
    assert len(changed)
    assert changed.weight.tolist() == [int(votes.weight[one]) for one in changed.request]
    assert changed.sv.tolist() == [votes.party[one] for one in changed.request]
    assert {*rows.end_request.dropna()} == {*changed.request}


def test_rights_of_apps_are_those_of_the_raw_events(items, events):
    expected, ended = {}, {}
    for _, event, payload in raw(items, RIGHT):
        weight = Decimal(payload["activityWeight"] or 1)
        expected[event["contract_id"]] = (payload["provider"], weight, time(event["created_at"]))
    for choice, word in (("Withdraw", "withdrawn"), ("Cancel", "cancelled"), ("Update", "weight changed")):
        for item, event, _ in raw(items, None, choice=f"FeaturedAppRight_{choice}"):
            ended[event["contract_id"]] = (time(item["record_time"]), word)

    rows = lf.featured_app_history(events).set_index("contract_id")

    assert dict(zip(rows.index, known(rows, "provider", "activity_weight", "since"), strict=True)) == expected
    over = rows[rows.until.notna()]
    assert dict(zip(over.index, known(over, "until", "ended"), strict=True)) == ended
    votes = lf.votes(events).set_index("request")
    assert {*votes.action[over.end_request]} == {"SRARC_RevokeFeaturedAppRight", "SRARC_UpdateFeaturedAppRight"}
    assert {*votes.outcome[over.end_request]} == {"accepted"}
    last = time(max(item["record_time"] for item in items))
    days = [(until if until is not pd.NaT else last).date() - since.date()
            for since, until in zip(rows.since, rows.until, strict=True)]  # fmt: skip
    assert rows.active_days.tolist() == [one.days + 1 for one in days]


def test_a_right_earned_what_was_claimed_of_its_apps_coupons_of_that_time(events):
    rows, coupons = lf.featured_app_history(events), lf.rewards(events)
    claimed = coupons[(coupons.kind == "app") & (coupons.outcome == "claimed")]

    assert rows.share.notna().any()
    for row in rows.itertuples():
        of_time = claimed[claimed.created_at >= row.since]
        of_time = of_time if row.until is pd.NaT else of_time[of_time.created_at < row.until]
        own, total = of_time[of_time.provider == row.provider], sum(of_time.amount)
        assert row.earned == sum(own.amount)
        assert row.earned_usd == sum(own.amount_usd)
        assert row.share == ((sum(own.amount) / total).quantize(Decimal("1E-10")) if total else None)


def test_beneficiaries_are_those_of_the_coupons_of_the_time(items, events):
    coupons = [
        (payload["sv"], payload["beneficiary"], time(item["record_time"]))
        for item, _, payload in raw(items, "Splice.Amulet:SvRewardCoupon")
    ]

    rows = lf.sv_weights(events)

    assert any(len(found or ()) > 1 for found in rows.beneficiaries)
    for row in rows.itertuples():
        ended = row.until is not pd.NaT
        named = {to for sv, to, at in coupons if sv == row.sv and at >= row.since and not (ended and at >= row.until)}
        assert row.beneficiaries == (tuple(sorted(named)) or None)


def test_a_beneficiary_of_one_weight_is_not_one_of_the_next():
    def coupon(name, to):
        return create("Splice.Amulet:SvRewardCoupon", name, {"sv": "a::1", "beneficiary": to, "weight": "1"})

    changed = archive(RULES, "d0", "DsoRules_Odd", {}, {}, rules("d1", {"a": 2}, {}))
    items = [
        update("g0", 0, rules("d0", {"a": 1}, {})), update("g1", 1, coupon("c0", "x::1"), coupon("c1", "y::1")),
        update("g2", 2, changed), update("g3", 3, coupon("c2", "z::1"), coupon("c3", "y::1")),
    ]  # fmt: skip

    weights = lf.sv_weights(frame_of(items, **WHOLE))

    assert known(weights, "weight", "beneficiaries") == [(1, ("x::1", "y::1")), (2, ("y::1", "z::1"))]


@pytest.mark.parametrize("cut", [0.2, 0.45, 0.8])
def test_a_range_has_what_it_shows_and_counts_what_began_before(items, events, cut):
    place = int(len(items) * cut)
    active = {}
    for item in items[:place]:
        for event in preorder(item):
            if event["event_type"] == "created_event":
                active[event["contract_id"]] = (entity_of(event), event["create_arguments"])
            elif event["consuming"]:
                active.pop(event["contract_id"], None)
    opening = opening_of([(name, *one) for name, one in active.items()])
    late = frame_of(items[place:])
    whole, shown = lf.votes(events).set_index("request"), lf.votes(late)
    same = [column for column in whole if column not in {"opened_at", "party"}]

    assert 0 < len(shown) < len(whole)
    pd.testing.assert_frame_equal(shown.set_index("request")[same], whole.loc[shown.request, same])
    assert shown.attrs["began_before"] == shown.opened_at.isna().sum()
    start = late.record_time.min()
    casts = lf.vote_casts(late)
    assert (casts.record_time.isna() == (casts.cast_at < start - pd.Timedelta("5s"))).all()
    with together(late, opening=opening) as opened:
        weights, prices, changes, rights = (
            table(opened, opening=opening)
            for table in (lf.sv_weights, lf.price_votes, lf.config_changes, lf.featured_app_history)
        )
    assert weights.attrs["began_before"] == 4
    pd.testing.assert_frame_equal(weights[4:].reset_index(drop=True), since(lf.sv_weights(events), start, "since"))
    known_before, ever = lf.price_votes(events), lf.featured_app_history(events)
    pd.testing.assert_frame_equal(prices[4:].reset_index(drop=True), since(known_before, start, "record_time"))
    assert prices[:4][["voters", "median_usd", "lowest_usd", "highest_usd"]].isna().all(axis=None)
    pd.testing.assert_frame_equal(changes, since(lf.config_changes(events), start, "record_time"))
    there = ever[ever.until.isna() | (ever.until >= start)].set_index("contract_id")
    same = ["provider", "activity_weight", "until", "ended", "end_request"]  # the opening here states no times
    pd.testing.assert_frame_equal(rights.set_index("contract_id")[same], there.loc[rights.contract_id, same])
    assert len(rights) == len(there)
    before = rights[rights.began.isna()]
    assert len(before)
    assert before[["earned", "earned_usd", "share"]].isna().all(axis=None)  # what was claimed earlier is not known
    for table in (lf.sv_weights, lf.featured_app_history):  # whoever changes nothing in a range has no event in it
        with pytest.raises(lf.errors.PartialResultError, match="opening="):
            table(late)


def since(rows, start, column):
    return rows[rows[column] >= start].reset_index(drop=True)


def request(contract, *votes, tracking=None, action=("SRARC_OffboardSv", {"sv": "c::1"}), **more):
    """A vote request of these votes: a name and whether it accepts."""
    tag, argument = action
    cast = [
        [name, {"sv": f"{name}::1", "accept": accept, "reason": {"url": "", "body": ""}, "optCastAt": None}]
        for name, accept in votes
    ]
    return create(REQUEST, contract, {
        "requester": "a", "action": {"tag": "ARC_DsoRules", "value": {"dsoAction": {"tag": tag, "value": argument}}},
        "reason": {"url": "https://example.com/cip-0104", "body": "CIP 7, CIP-104 and cip12345"},
        "voteBefore": "2026-01-02T00:00:00Z", "votes": cast, "trackingCid": tracking, "targetEffectiveAt": None, **more,
    })  # fmt: skip


def close(node, tag, *below, offboarded=(), value=None):
    """The close of a request."""
    result = {
        "request": node.arguments, "completedAt": "2026-01-01T13:00:00Z", "offboardedVoters": [*offboarded],
        "abstainingSvs": ["d"], "outcome": {"tag": tag, "value": value or {}},
    }  # fmt: skip
    return exercise(
        RULES, "rules", "DsoRules_CloseVoteRequest", {"requestCid": node.contract, "amuletRulesCid": "r", "sv": "a::1"},
        result, archive(REQUEST, node.contract), *below,
    )  # fmt: skip


def rules(contract, weights, config):
    svs = [[f"{name}::1", {"name": name, "svRewardWeight": str(weight)}] for name, weight in weights.items()]
    return create(RULES, contract, {"svs": svs, "config": config})


def price(contract, sv, value):
    return create(PRICE, contract, {"sv": sv, "amuletPrice": value, "lastUpdatedAt": "2026-01-01T12:00:00Z"})


def by_hand():
    """Governance that the sandbox does not have; arms of the models are reached by it too."""
    made, failing = request("v0", ("a", True)), request("w0", ("a", True), action=("SRARC_Odd", {}))
    second = request("v1", ("a", True), ("b", False), tracking="v0")
    third = request("v2", ("a", True), ("b", True), ("e", True), tracking="v0")
    offboarded = archive(
        RULES, "d1", "DsoRules_OffboardSv", {"sv": "c::1"}, {}, rules("d2", {"a": 2, "b": 1}, {"x": "1"})
    )
    ended = {"right": "Cancel", "other": "Odd"}
    outcomes = {"x": "ExtVoteRequestOutcome", "x1": "VRO_Rejected", "x2": "VRO_Expired"}
    return [
        update("g0", 50, rules("d0", {"a": 1, "b": 1, "c": 1}, {"x": "1", "list": ["p", "q"]})),
        update("g1", 51, made, price("p0", "a", "1.0"), price("p1", "b", "2.0000000001"), price("p2", "c", None)),
        update("g2", 52, archive(REQUEST, "v0"), second, failing, create(RIGHT, "right", {"provider": "app"})),
        update("g3", 53, archive(REQUEST, "v1"), third),
        update("g4", 54, archive(RULES, "d0", "DsoRules_Odd", {}, {},
                                 rules("d1", {"a": 2, "b": 1, "c": 1}, {"x": "1", "list": ["p"]}))),
        update("g5", 55, close(third, "VRO_Accepted", offboarded, offboarded=["e"],
                               value={"effectiveAt": "2026-01-01T13:00:00Z"})),
        update("g6", 56, close(failing, "VRO_AcceptedButActionFailed", value={"description": "no such right"})),
        update("g7", 57, *(archive(RIGHT, of, f"FeaturedAppRight_{how}") for of, how in ended.items())),
        update("g8", 58, archive(PRICE, "p0"), price("p3", "c", "4.0")),
        update("g9", 59, *(close(request(name, ("a", False)), tag) for name, tag in outcomes.items()), request("z")),
    ]  # fmt: skip


def test_governance_by_hand():
    events = frame_of(by_hand(), **WHOLE)

    votes = lf.votes(events).set_index("request")
    assert known(votes, "outcome", "accepting", "rejecting", "failure", "party") == [
        *((outcome, 0, 1, None, "c::1") for outcome in (None, "rejected", "expired")), ("accepted", 2, 0, None, "c::1"),
        ("accepted_but_failed", 1, 0, "no such right", None), ("open", 0, 0, None, "c::1"),
    ]  # fmt: skip
    assert votes.cips["v0"] == ("CIP-0007", "CIP-0104")
    casts = lf.vote_casts(events)
    assert known(casts[casts.request == "v0"], "sv_name", "number", "accept", "changed") == [
        ("a", 1, True, False), ("b", 1, False, False), ("b", 2, True, True), ("e", 1, True, False),
    ]  # fmt: skip
    weights = lf.sv_weights(events)
    assert known(weights, "sv_name", "weight", "began", "ended", "end_request") == [
        ("a", 1, "onboarded", "weight changed", None), ("b", 1, "onboarded", None, None),
        ("c", 1, "onboarded", "offboarded", "v0"), ("a", 2, "weight changed", None, None),
    ]  # fmt: skip
    assert known(lf.config_changes(events), "member", "before", "after", "request") == [
        ("list[1]", "q", None, None), ("list[0]", "p", None, "v0"),
    ]  # fmt: skip
    prices = lf.price_votes(events)
    assert known(prices, "contract_id", "voters", "median_usd", "highest_usd") == [
        ("p0", 1, Decimal("1.0"), Decimal("1.0")),
        ("p1", 2, Decimal("1.5"), Decimal("2.0000000001")),
        ("p2", 2, Decimal("1.5"), Decimal("2.0000000001")),
        ("p3", 2, Decimal("3.0"), Decimal("4.0")),
    ]
    rights = lf.featured_app_history(events)
    assert known(rights, "contract_id", "provider", "activity_weight", "began", "ended") == [
        ("other", None, None, None, None), ("right", "app", Decimal(1), "granted", "cancelled"),
    ]  # fmt: skip


def test_a_vote_that_cannot_be_read_is_counted():
    broken = request("v0", ("a", True), voteBefore="soon", requester=None)

    rows = lf.votes(frame_of([update("g", 1, broken)], **WHOLE))

    assert len(rows) == 0
    assert rows.attrs["not_understood"] == {f"{REQUEST}: {name}": 1 for name in ("requester", "voteBefore")}


def test_a_vote_whose_close_cannot_be_read_is_not_open():
    made = request("v0", ("a", True))
    unread = exercise(
        RULES, "rules", "DsoRules_CloseVoteRequest", {"requestCid": "v0", "amuletRulesCid": "r", "sv": "a::1"}, {},
        archive(REQUEST, "v0"),
    )  # fmt: skip

    rows = lf.votes(frame_of([update("g", 1, made, request("v1")), update("h", 2, unread)], **WHOLE))

    assert rows.set_index("request").outcome.fillna("").to_dict() == {"v0": "", "v1": "open"}
    assert rows.attrs["not_understood"][f"{RULES}/DsoRules_CloseVoteRequest: outcome.tag"] == 1
