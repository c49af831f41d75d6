"""Every read of the network's governance, by its name; `declared_reads` lists them with the others."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ledgerframes.models.reads import Member, Read, optional, required
from ledgerframes.models.token_reads import PLACE

#: The templates whose contracts governance tables read from before a range; of the package splice-dso-governance.
DSO: Final = ("Splice.DsoRules:DsoRules", "Splice.DsoRules:VoteRequest", "Splice.DSO.AmuletPrice:AmuletPriceVote")
_CONTRACT: Final = (*PLACE, "shown_by", "created_at", "contract_id")
#: Where an action of the network's rules, of the coin's, or of a name's context is.
_KINDS: Final = ("dsoAction", "amuletRulesAction", "ansEntryContextAction")
#: The shares that a value of the issuance curve states, and the configuration of a round.
SHARES: Final = {
    "validator_percentage": "validatorRewardPercentage",
    "app_percentage": "appRewardPercentage",
    "development_fund_percentage": "optDevelopmentFundPercentage",
}


def _request(within: str = "") -> tuple[Member, ...]:
    """The members of a vote request."""
    actions = tuple(f"{within}action.value.{kind}." for kind in _KINDS)
    argument = f"{within}action.value.dsoAction.value."
    return (
        *required("plain", "requester", within=within),
        *required("plain", action=(*(f"{place}tag" for place in actions), f"{within}action.tag")),
        *optional("json", within=actions, arguments="value"),
        *optional("plain", within=argument, party=("provider", "svParty", "sv", "newSvParty", "beneficiary")),
        *optional("plain", within=argument, right_id="rightCid"),
        *optional("amount", within=argument, weight=("newRewardWeight", "newSvRewardWeight", "newActivityWeight")),
        *optional("amount", "amount", within=argument),
        *optional("plain", within=within, reason_url="reason.url", reason_body="reason.body", tracking="trackingCid"),
        *optional("instant", within=within, vote_before="voteBefore", target_effective_at="targetEffectiveAt"),
        *required("json", "votes", within=within),
    )


GOVERNANCE_READS: Final[Mapping[str, Read]] = MappingProxyType(
    {
        "vote_requests": Read("creates", _CONTRACT, _request(), templates=("Splice.DsoRules:VoteRequest",)),
        "vote_results": Read(
            "exercises",
            PLACE,
            required("plain", closed_contract="requestCid"),
            (
                *_request("request."),
                *required("instant", completed_at="completedAt"),
                *optional("texts", offboarded="offboardedVoters", abstaining="abstainingSvs"),
                *required("plain", ending="outcome.tag"),
                *optional("instant", effective_at="outcome.value.effectiveAt"),
                *optional("plain", failure="outcome.value.description"),
            ),
            choices=("DsoRules_CloseVoteRequest",),
        ),
        # The votes that each state of a request lists.
        "listed_votes": Read(
            "vote_states",
            (*PLACE, "shown_by", "contract_id", "request", "state", "latest"),
            (
                *required("plain", sv_name="[0]", sv="[1].sv"),
                *required("flag", accept="[1].accept"),
                *optional("plain", reason_url="[1].reason.url", reason_body="[1].reason.body"),
                *optional("instant", cast_at="[1].optCastAt"),
            ),
            json="votes",
            each=True,
        ),
        "price_vote_contracts": Read(
            "creates",
            _CONTRACT,
            (
                *required("plain", "sv"),
                *optional("amount", price_usd="amuletPrice"),
                *optional("instant", voted_at="lastUpdatedAt"),
            ),
            templates=("Splice.DSO.AmuletPrice:AmuletPriceVote",),
        ),
        "featured_rights": Read(
            "creates",
            (*_CONTRACT, "parent_event_id"),
            (*required("plain", "provider"), *optional("amount", activity_weight="activityWeight")),
            templates=("Splice.Amulet:FeaturedAppRight",),
        ),
        "governance_rules": Read(
            "creates",
            (*PLACE, "shown_by"),
            required("json", members="svs"),
            templates=("Splice.DsoRules:DsoRules",),
        ),
        "governance_members": Read(
            "governance_lists",
            (*PLACE, "shown_by", "state"),
            (
                *required("plain", party="[0]"),
                *optional("plain", within="[1].", name="name", participant_id="participantId"),
                *optional("whole", within="[1].", weight="svRewardWeight", joined_round="joinedAsOfRound.number"),
            ),
            json="members",
            each=True,
        ),
        "rules_contracts": Read(
            "creates",
            (*PLACE, "shown_by", "contract_id"),
            (
                *required("json", config=("configSchedule.initialValue", "config")),
                *optional("json", schedule="configSchedule.futureValues"),
            ),
            templates=("Splice.AmuletRules:AmuletRules", "Splice.DsoRules:DsoRules"),
        ),
        "scheduled_configs": Read(
            "config_states",
            ("rules", "state"),
            (*required("instant", effective_at="_1"), *required("json", config="_2")),
            json="schedule",
            each=True,
        ),
        "issuance_steps": Read(
            "issuance_curves",
            ("state", "from_us", "until_us", "has_fund"),
            (
                *required("whole", after_us="_1.microseconds"),
                *required("amount", within="_2.", amulet_to_issue_per_year="amuletToIssuePerYear"),
                *optional("amount", within="_2.", **SHARES),
            ),
            json="steps",
            each=True,
        ),
    }
)
