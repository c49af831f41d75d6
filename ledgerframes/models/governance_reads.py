"""Every read of the network's governance, by its name; `declared_reads` lists them with the others."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ledgerframes.models.reads import Member, Read
from ledgerframes.models.token_reads import PLACE

#: The templates whose contracts governance tables read from before a range; of the package splice-dso-governance.
DSO: Final = ("Splice.DsoRules:DsoRules", "Splice.DsoRules:VoteRequest", "Splice.DSO.AmuletPrice:AmuletPriceVote")
_CONTRACT: Final = (*PLACE, "shown_by", "created_at", "contract_id")
#: Where an action of the network's rules, of the coin's, or of a name's context is.
_KINDS: Final = ("dsoAction", "amuletRulesAction", "ansEntryContextAction")


def _request(within: str = "") -> tuple[Member, ...]:
    """The members of a vote request."""

    def action(*names: str) -> tuple[str, ...]:
        return tuple(f"{within}action.value.{kind}.{name}" for name in names for kind in _KINDS)

    def argument(*names: str) -> tuple[str, ...]:
        return tuple(f"{within}action.value.dsoAction.value.{name}" for name in names)

    return (
        Member("requester", "plain", (f"{within}requester",), required=True),
        Member("action", "plain", (*action("tag"), f"{within}action.tag"), required=True),
        Member("arguments", "json", action("value")),
        Member("party", "plain", argument("provider", "svParty", "sv", "newSvParty", "beneficiary")),
        Member("right_id", "plain", argument("rightCid")),
        Member("weight", "amount", argument("newRewardWeight", "newSvRewardWeight", "newActivityWeight")),
        Member("amount", "amount", argument("amount")),
        Member("reason_url", "plain", (f"{within}reason.url",)),
        Member("reason_body", "plain", (f"{within}reason.body",)),
        Member("vote_before", "instant", (f"{within}voteBefore",)),
        Member("target_effective_at", "instant", (f"{within}targetEffectiveAt",)),
        Member("tracking", "plain", (f"{within}trackingCid",)),
        Member("votes", "json", (f"{within}votes",), required=True),
    )


GOVERNANCE_READS: Final[Mapping[str, Read]] = MappingProxyType(
    {
        "vote_requests": Read("creates", _CONTRACT, _request(), templates=("Splice.DsoRules:VoteRequest",)),
        "vote_results": Read(
            "exercises",
            PLACE,
            (Member("closed_contract", "plain", ("requestCid",), required=True),),
            (
                *_request("request."),
                Member("completed_at", "instant", ("completedAt",), required=True),
                Member("offboarded", "texts", ("offboardedVoters",)),
                Member("abstaining", "texts", ("abstainingSvs",)),
                Member("ending", "plain", ("outcome.tag",), required=True),
                Member("effective_at", "instant", ("outcome.value.effectiveAt",)),
                Member("failure", "plain", ("outcome.value.description",)),
            ),
            choices=("DsoRules_CloseVoteRequest",),
        ),
        # The votes that each state of a request lists.
        "listed_votes": Read(
            "vote_states",
            (*PLACE, "shown_by", "contract_id", "request", "state", "latest"),
            (
                Member("sv_name", "plain", ("[0]",), required=True),
                Member("sv", "plain", ("[1].sv",), required=True),
                Member("accept", "flag", ("[1].accept",), required=True),
                Member("reason_url", "plain", ("[1].reason.url",)),
                Member("reason_body", "plain", ("[1].reason.body",)),
                Member("cast_at", "instant", ("[1].optCastAt",)),
            ),
            json="votes",
            each=True,
        ),
        "price_vote_contracts": Read(
            "creates",
            _CONTRACT,
            (
                Member("sv", "plain", ("sv",), required=True),
                Member("price_usd", "amount", ("amuletPrice",)),
                Member("voted_at", "instant", ("lastUpdatedAt",)),
            ),
            templates=("Splice.DSO.AmuletPrice:AmuletPriceVote",),
        ),
        "featured_rights": Read(
            "creates",
            (*_CONTRACT, "parent_event_id"),
            (
                Member("provider", "plain", ("provider",), required=True),
                Member("activity_weight", "amount", ("activityWeight",)),
            ),
            templates=("Splice.Amulet:FeaturedAppRight",),
        ),
        "governance_rules": Read(
            "creates",
            (*PLACE, "shown_by"),
            (Member("members", "json", ("svs",), required=True),),
            templates=("Splice.DsoRules:DsoRules",),
        ),
        "governance_members": Read(
            "governance_lists",
            (*PLACE, "shown_by", "state"),
            (
                Member("party", "plain", ("[0]",), required=True),
                Member("name", "plain", ("[1].name",)),
                Member("weight", "whole", ("[1].svRewardWeight",)),
                Member("joined_round", "whole", ("[1].joinedAsOfRound.number",)),
                Member("participant_id", "plain", ("[1].participantId",)),
            ),
            json="members",
            each=True,
        ),
        "rules_contracts": Read(
            "creates",
            (*PLACE, "shown_by", "contract_id"),
            (
                Member("config", "json", ("configSchedule.initialValue", "config"), required=True),
                Member("schedule", "json", ("configSchedule.futureValues",)),
            ),
            templates=("Splice.AmuletRules:AmuletRules", "Splice.DsoRules:DsoRules"),
        ),
        "scheduled_configs": Read(
            "config_states",
            ("rules", "state"),
            (
                Member("effective_at", "instant", ("_1",), required=True),
                Member("config", "json", ("_2",), required=True),
            ),
            json="schedule",
            each=True,
        ),
        "issuance_steps": Read(
            "issuance_curves",
            ("state", "from_us", "until_us", "has_fund"),
            (
                Member("after_us", "whole", ("_1.microseconds",), required=True),
                Member("amulet_to_issue_per_year", "amount", ("_2.amuletToIssuePerYear",), required=True),
                Member("validator_percentage", "amount", ("_2.validatorRewardPercentage",)),
                Member("app_percentage", "amount", ("_2.appRewardPercentage",)),
                Member("development_fund_percentage", "amount", ("_2.optDevelopmentFundPercentage",)),
            ),
            json="steps",
            each=True,
        ),
    }
)
