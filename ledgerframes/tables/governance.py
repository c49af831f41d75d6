"""Tables of the network's governance, computed from events by `ledgerframes.models`."""

from __future__ import annotations

from typing import Final

from ledgerframes.tables.kinds import AMOUNT, BOOL, INT64, JSON, TEXT, TEXTS, TIME
from ledgerframes.tables.table import Column, computed

_REQUEST: Final = "/payload of the create of VoteRequest, else /exercise_result/request of its close: "
_CLOSE: Final = "/exercise_result of DsoRules_CloseVoteRequest: "
_VOTE: Final = "/votes of VoteRequest: "
_CLOSES: Final = "DsoRules_CloseVoteRequest above the event"


def _by_vote(name: str, what: str) -> Column:
    meaning = f"The vote that {what}, as `request` of votes; null if none did, or it is not known."
    return Column(name, TEXT, meaning, True, source=_CLOSES)


VOTES: Final = computed(
    "votes",
    "One row per request for a vote of the super validators: the proposal, its requester, and its outcome.",
    ("request",),
    (
        Column("request", TEXT, "Id of the request's first contract; null if a scan's result does not state it.", True,
               source="trackingCid, else contract_id of the create of VoteRequest"),
        Column("requester", TEXT, "Name of the super validator that asked for the vote.",
               source=f"{_REQUEST}requester"),
        Column("action", TEXT, "The proposed action, by its tag, such as SRARC_GrantFeaturedAppRight.",
               source=f"{_REQUEST}action, the inner tag"),
        Column("party", TEXT, "Party that the action is about: an app's provider, a super validator, a beneficiary.",
               True, source=f"{_REQUEST}provider, svParty, sv, newSvParty, beneficiary, or the provider of rightCid"),
        Column("right_id", TEXT, "Contract id of the featured app right that is to change or end.", True,
               source=f"{_REQUEST}rightCid"),
        Column("weight", AMOUNT, "The new weight of a super validator or of an app.", True, "weight",
               f"{_REQUEST}newRewardWeight, newSvRewardWeight, newActivityWeight"),
        Column("amount", AMOUNT, "Coin that the beneficiary is to get.", True, "coin", f"{_REQUEST}amount"),
        Column("arguments", JSON, "All arguments of the action.", True, source=f"{_REQUEST}the value next to the tag"),
        Column("reason_url", TEXT, "Address that the requester gives as the reason.", True,
               source=f"{_REQUEST}reason/url"),
        Column("reason_body", TEXT, "The reason in words.", True, source=f"{_REQUEST}reason/body"),
        Column("cips", TEXTS, "The improvement proposals that the reason names, as CIP-0104.",
               source="reason_url and reason_body"),
        Column("opened_at", TIME, "Ledger effective time of the request; null if it lies before the events.", True,
               source="created_at of the first VoteRequest"),
        Column("vote_before", TIME, "When voting ends.", True, source=f"{_REQUEST}voteBefore"),
        Column("target_effective_at", TIME, "When the action is to take effect; null for at once.", True,
               source=f"{_REQUEST}targetEffectiveAt"),
        Column("outcome", TEXT, "accepted, rejected, expired, accepted_but_failed, open; null for one not known.", True,
               source=f"{_CLOSE}outcome"),
        Column("completed_at", TIME, "When the vote was closed; null while it is open.", True,
               source=f"{_CLOSE}completedAt"),
        Column("effective_at", TIME, "When an accepted action takes effect.", True,
               source=f"{_CLOSE}outcome/value/effectiveAt"),
        Column("failure", TEXT, "Why an accepted action failed.", True, source=f"{_CLOSE}outcome/value/description"),
        Column("accepting", INT64, "Votes for it, without those of super validators that were offboarded since.",
               unit="votes", source="votes of the last state"),
        Column("rejecting", INT64, "Votes against it, counted the same way.", unit="votes",
               source="votes of the last state"),
        Column("abstaining", INT64, "Super validators that did not vote; null while it is open.", True, "votes",
               f"{_CLOSE}abstainingSvs"),
    ),
)  # fmt: skip

VOTE_CASTS: Final = computed(
    "vote_casts",
    "One row per vote of a super validator on a request; one that changes its vote has another row.",
    ("request", "sv_name", "number"),
    (
        Column("request", TEXT, "Which request, as in votes.", source="trackingCid, else contract_id of VoteRequest"),
        Column("sv_name", TEXT, "Name of the super validator.", source="the keys of /votes of VoteRequest"),
        Column("number", INT64, "Number of this vote among its known ones on the request, from 1.", unit="votes",
               source="the order of the history"),
        Column("sv", TEXT, "Party that cast it.", source=f"{_VOTE}sv"),
        Column("accept", BOOL, "Whether it is for the request.", source=f"{_VOTE}accept"),
        Column("reason_url", TEXT, "Address given as the reason.", True, source=f"{_VOTE}reason/url"),
        Column("reason_body", TEXT, "The reason in words.", True, source=f"{_VOTE}reason/body"),
        Column("cast_at", TIME, "When it was cast; older releases state none.", True, source=f"{_VOTE}optCastAt"),
        Column("record_time", TIME, "Record time of the update that cast it; null if that lies before the events.",
               True, source="record_time of the first create that lists it"),
        Column("changed", BOOL, "Whether it replaces another vote; null if that is not known.", True,
               source="an earlier vote of the super validator on the request"),
    ),
)  # fmt: skip

PRICE_VOTES: Final = computed(
    "price_votes",
    "One row per vote of a super validator for the coin's price, with the median and spread of all after it.",
    ("contract_id",),
    (
        Column("contract_id", TEXT, "Id of the vote's contract.", source="contract_id of the create"),
        Column("record_time", TIME, "Record time of the vote; null if it was cast before the events.", True,
               source="record_time of the create of AmuletPriceVote"),
        Column("sv", TEXT, "Party that votes.", source="/payload/sv"),
        Column("price_usd", AMOUNT, "The price it votes for; null if for none.", True, "USD per coin",
               "/payload/amuletPrice"),
        Column("price_before_usd", AMOUNT, "Its vote before; null if there was none, or it is not known.", True,
               "USD per coin", "/payload/amuletPrice of its last AmuletPriceVote"),
        Column("voted_at", TIME, "When it last changed its vote.", True, source="/payload/lastUpdatedAt"),
        Column("voters", INT64, "Votes for a price that stand after this one; null if not all are known.", True,
               "votes", "AmuletPriceVote contracts active then"),
        Column("median_usd", AMOUNT, "Their median: the price of a round that opens now.", True, "USD per coin",
               "the middle of their prices, or half of the two in the middle, rounded half even to 10 places"),
        Column("lowest_usd", AMOUNT, "The lowest of them.", True, "USD per coin", "their prices"),
        Column("highest_usd", AMOUNT, "The highest of them.", True, "USD per coin", "their prices"),
    ),
)  # fmt: skip

CONFIG_CHANGES: Final = computed(
    "config_changes",
    "One row per member of the coin's or the network's configuration that changed: before, after, when, by which vote.",
    ("contract_id", "member"),
    (
        Column("record_time", TIME, "When the configuration changed.", source="record_time of the create of the rules"),
        Column("update_id", TEXT, "Update that changed it.", source="update_id of the create"),
        Column("contract_id", TEXT, "Id of the contract of the new rules.", source="contract_id of the create"),
        Column("rules", TEXT, "AmuletRules, the coin's, or DsoRules, the network's.", source="template_name"),
        Column("member", TEXT, "Which member, by its path in the configuration.",
               source="/payload/configSchedule/initialValue of AmuletRules, /payload/config of DsoRules"),
        Column("before", TEXT, "Its value before, as text; null if there was none.", True,
               source="the contract of the rules before"),
        Column("after", TEXT, "Its value since, as text; null if there is none.", True,
               source="the contract of the new rules"),
        _by_vote("request", "changed it"),
    ),
)  # fmt: skip

SV_WEIGHTS: Final = computed(
    "sv_weights",
    "One row per super validator and reward weight that it had without a break: since when, until when, by which vote.",
    ("sv", "weight", "since", "until"),
    (
        Column("sv", TEXT, "Party of the super validator.", source="/payload/svs of DsoRules, the keys"),
        Column("sv_name", TEXT, "Its name.", True, source="/payload/svs of DsoRules: name"),
        Column("weight", INT64, "Its weight in the distribution of super validators' rewards.", True, "weight",
               "/payload/svs of DsoRules: svRewardWeight"),
        Column("joined_round", INT64, "Round in which it joined.", True, "rounds",
               "/payload/svs of DsoRules: joinedAsOfRound/number"),
        Column("participant_id", TEXT, "Its participant, the last one stated.", True,
               source="/payload/svs of DsoRules: participantId"),
        Column("beneficiaries", TEXTS, "Parties its coupons in the events were for; null if there were none.", True,
               source="/payload/beneficiary of the creates of SvRewardCoupon"),
        Column("since", TIME, "Record time from which it had the weight; null if that lies before the events.", True,
               source="record_time of the create of DsoRules"),
        Column("began", TEXT, "onboarded or weight changed; null if it began before the events.", True,
               source="/payload/svs of the DsoRules before"),
        _by_vote("request", "began it"),
        Column("until", TIME, "Record time from which it had it no more; null if it still has.", True,
               source="record_time of the create of the next DsoRules"),
        Column("ended", TEXT, "weight changed or offboarded; null if it still has it.", True,
               source="/payload/svs of the next DsoRules"),
        _by_vote("end_request", "ended it"),
    ),
)  # fmt: skip

FEATURED_APP_HISTORY: Final = computed(
    "featured_app_history",
    "One row per featured app right: whose, with which weight, from when to when, and by which vote.",
    ("contract_id",),
    (
        Column("contract_id", TEXT, "Id of the right's contract.", source="contract_id of its create"),
        Column("provider", TEXT, "Party of the app; null if the right began before the events.", True,
               source="/payload/provider"),
        Column("activity_weight", AMOUNT, "Weight of the app's activity: 1 where the right states none.", True,
               "weight", "/payload/activityWeight"),
        Column("since", TIME, "Ledger effective time of its creation; null if that is not known.", True,
               source="created_at of its create"),
        Column("began", TEXT, "granted or weight changed; null if it began before the events.", True,
               source="choice of the exercise above its create"),
        _by_vote("request", "granted or changed it"),
        Column("until", TIME, "Record time of its end; null while it is active.", True,
               source="record_time of its consuming exercise"),
        Column("ended", TEXT, "weight changed, withdrawn or cancelled; null if active, or ended by another choice.",
               True, source="choice of its consuming exercise"),
        _by_vote("end_request", "ended it"),
        Column("active_days", INT64, "Days in UTC on which it was active, up to the last event.", True, "days",
               "since, and until or the last record_time"),
        Column("earned", AMOUNT, "Claimed of the app's coupons that were created meanwhile; null if not known.", True,
               "coin", "amount of rewards of kind app, by provider"),
        Column("earned_usd", AMOUNT, "The same at the prices of the rounds.", True, "USD", "amount_usd of rewards"),
        Column("share", AMOUNT, "Part of what was claimed of all apps' coupons of that time; null if 0 or not known.",
               True, "share", "amount of rewards of kind app"),
    ),
)  # fmt: skip

TABLES: Final = (VOTES, VOTE_CASTS, PRICE_VOTES, CONFIG_CHANGES, SV_WEIGHTS, FEATURED_APP_HISTORY)
