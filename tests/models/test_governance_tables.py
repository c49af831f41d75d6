"""Tables of governance against the raw events, read another way, and what no simulated history has, by hand."""

from decimal import Decimal

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.models.computing import together
from tests.economics.books import Books
from tests.economics.histories import WHOLE, frame_of, known
from tests.economics.items import archive, create, exercise, update

RULES, REQUEST = "Splice.DsoRules:DsoRules", "Splice.DsoRules:VoteRequest"
COIN_RULES, RIGHT = "Splice.AmuletRules:AmuletRules", "Splice.Amulet:FeaturedAppRight"
PRICE, CAST = "Splice.DSO.AmuletPrice:AmuletPriceVote", "2026-01-01T12:00:50Z"
OUTCOMES = {"VRO_Accepted": "accepted", "VRO_Rejected": "rejected", "VRO_Expired": "expired"}


def time(text):
    return None if text is None else pd.Timestamp(text).as_unit("us")


@pytest.fixture(scope="module")
def events(voted):
    """The events of an economy with votes, for several tables."""
    with together(frame_of(voted, **WHOLE)) as inputs:
        yield inputs


def told(books):
    """Of each request: when it was opened, what it says last, and what closed it."""
    opened, last, closes = {}, {}, {}
    for life in books.of(REQUEST):
        request = life.payload["trackingCid"] or life.event["contract_id"]
        last[request] = life.payload
        if life.payload["trackingCid"] is None:
            opened[request] = time(life.event["created_at"])
    for _, event, _ in books.exercises("DsoRules_CloseVoteRequest"):
        result = event["exercise_result"]
        closes[result["request"]["trackingCid"] or event["choice_argument"]["requestCid"]] = result
    return opened, last, closes


def test_votes_are_those_of_the_raw_events(voted, events):
    books = Books(voted)
    opened, last, closes = told(books)
    providers = {life.event["contract_id"]: life.payload["provider"] for life in books.of(RIGHT)}
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


def test_a_range_has_the_votes_that_it_shows_and_counts_what_began_before(voted, events):
    late = frame_of([item for item in voted[int(len(voted) * 0.55) :] if REQUEST in str(item)])
    whole, shown = lf.votes(events).set_index("request"), lf.votes(late)
    same = [column for column in whole if column not in {"opened_at", "party"}]

    assert 0 < len(shown) < len(whole)
    pd.testing.assert_frame_equal(shown.set_index("request")[same], whole.loc[shown.request, same])
    assert shown.attrs["began_before"] == shown.opened_at.isna().sum() > 0
    casts = lf.vote_casts(late)
    assert (casts.record_time.isna() == (casts.cast_at < late.record_time.min() - pd.Timedelta("5s"))).all()


def request(contract, *votes, tracking=None, action=("SRARC_OffboardSv", {"sv": "c::1"}), **more):
    """A vote request of these votes: a name and whether it accepts."""
    tag, argument = action
    cast = [
        [name, {"sv": f"{name}::1", "accept": accept, "reason": {"url": "", "body": name}, "optCastAt": CAST}]
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


def coupon(contract, sv, beneficiary):
    terms = {"sv": sv, "beneficiary": beneficiary, "weight": "1", "round": {"number": "1"}}
    return create("Splice.Amulet:SvRewardCoupon", contract, terms)


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
    changed = rules("d1", {"a": 2, "b": 1, "c": 1}, {"x": "1", "list": ["p"], "deep": {"on": True}})
    ended = {"right": "Cancel", "other": "Odd", "left": "Withdraw", "light": "Update"}
    outcomes = {"x": "ExtVoteRequestOutcome", "x1": "VRO_Rejected", "x2": "VRO_Expired"}
    return [
        update("g0", 50, rules("d0", {"a": 1, "b": 1, "c": 1}, {"x": "1", "list": ["p", "q"], "deep": {"on": False}})),
        update("g1", 51, made, price("p0", "a", "1.0"), price("p1", "b", "2.0000000001"), price("p2", "c", None)),
        update("g2", 52, archive(REQUEST, "v0"), second, failing, create(RIGHT, "right", {"provider": "app"}),
               coupon("c0", "a::1", "x::1"), coupon("c1", "a::1", "y::1")),
        update("g3", 53, archive(REQUEST, "v1"), third),
        update("g4", 54, archive(RULES, "d0", "DsoRules_Odd", {}, {}, changed)),
        update("g5", 55, close(third, "VRO_Accepted", offboarded, offboarded=["e"],
                               value={"effectiveAt": "2026-01-01T13:00:00Z"})),
        update("g6", 56, close(failing, "VRO_AcceptedButActionFailed", value={"description": "no such right"})),
        update("g7", 57, *(archive(RIGHT, of, f"FeaturedAppRight_{how}") for of, how in ended.items())),
        update("g8", 58, archive(PRICE, "p0"), price("p3", "c", "4.0")),
        update("g9", 59, *(coupon(f"of {to}", "a::1", to[:4]) for to in ("z::1", "y::1", "z::1 again")), request("z"),
               *(close(request(name, ("a", False)), tag) for name, tag in outcomes.items())),
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
    columns = ("sv", "number", "accept", "changed", "reason_body", "cast_at", "record_time")
    assert known(casts[casts.request == "v0"], *columns) == [
        (f"{name}::1", number, accept, number > 1, name, time(CAST), time(f"2026-01-01T12:00:{second}Z"))
        for name, number, accept, second in (
            ("a", 1, True, 51),
            ("b", 1, False, 52),
            ("b", 2, True, 53),
            ("e", 1, True, 53),
        )
    ]
    weights = lf.sv_weights(events)
    # A beneficiary of one weight is not one of the next.
    assert known(weights, "sv_name", "weight", "began", "ended", "end_request", "beneficiaries") == [
        ("a", 1, "onboarded", "weight changed", None, ("x::1", "y::1")), ("b", 1, "onboarded", None, None, None),
        ("c", 1, "onboarded", "offboarded", "v0", None), ("a", 2, "weight changed", None, None, ("y::1", "z::1")),
    ]  # fmt: skip
    assert known(lf.config_changes(events), "member", "before", "after", "request") == [
        ("deep.on", "false", "true", None), ("list[1]", "q", None, None),
        ("deep.on", "true", None, "v0"), ("list[0]", "p", None, "v0"),
    ]  # fmt: skip
    prices, second = lf.price_votes(events), Decimal("2.0000000001")
    # The mean of the two in the middle, half to even; a vote without a price does not count.
    columns = ("contract_id", "price_before_usd", "voters", "median_usd", "lowest_usd", "highest_usd")
    assert known(prices, *columns) == [
        ("p0", None, 1, Decimal(1), Decimal(1), Decimal(1)), ("p1", None, 2, Decimal("1.5"), Decimal(1), second),
        ("p2", None, 2, Decimal("1.5"), Decimal(1), second), ("p3", None, 2, Decimal("3.0"), second, Decimal(4)),
    ]  # fmt: skip
    rights = lf.featured_app_history(events)
    columns = ("contract_id", "provider", "activity_weight", "since", "until", "began", "ended", "active_days")
    since, until = (time(f"2026-01-01T12:00:{seconds}Z") for seconds in (52, 57))
    ends = {"left": "withdrawn", "light": "weight changed", "other": None}
    assert known(rights, *columns) == [
        *((name, None, None, None, until, None, ending, None) for name, ending in ends.items()),
        ("right", "app", Decimal(1), since, until, "granted", "cancelled", 1),
    ]


def test_a_vote_that_cannot_be_read_is_counted_and_one_whose_close_cannot_be_is_not_open():
    broken = request("broken", ("a", True), voteBefore="soon", requester=None)
    close_argument = {"requestCid": "v0", "amuletRulesCid": "r", "sv": "a::1"}
    unread = exercise(RULES, "rules", "DsoRules_CloseVoteRequest", close_argument, {}, archive(REQUEST, "v0"))
    made = (broken, request("v0", ("a", True)), request("v1"))

    rows = lf.votes(frame_of([update("g", 1, *made), update("h", 2, unread)], **WHOLE))

    assert rows.set_index("request").outcome.fillna("").to_dict() == {"v0": "", "v1": "open"}
    counted = rows.attrs["not_understood"]
    assert {f"{REQUEST}: {name}": 1 for name in ("requester", "voteBefore")}.items() <= counted.items()
    assert counted[f"{RULES}/DsoRules_CloseVoteRequest: outcome.tag"] == 1
