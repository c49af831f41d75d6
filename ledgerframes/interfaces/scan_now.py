"""Scan's calls for the present state of the network: rounds, names, traffic, faucets, apps, and its operators.

`Scan` inherits them; the shapes are those of scan's published interface file.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Final

from msgspec import Meta, Raw, Struct

from ledgerframes.interfaces.answers import Contract, ContractWithState, ListPage, reads, reads_optional
from ledgerframes.interfaces.calls import Call, Calls, sends
from ledgerframes.interfaces.rules import PartyId, Positive32, Text, Whole64, each, fits, listed
from ledgerframes.transport import Endpoint

ROUNDS: Final = Endpoint("scan", "POST", "/v0/open-and-issuing-mining-rounds")
CLOSED_ROUNDS: Final = Endpoint("scan", "GET", "/v0/closed-rounds")
TRAFFIC: Final = Endpoint("scan", "GET", "/v0/domains/{domain_id}/members/{member_id}/traffic-status")
NAMES: Final = Endpoint("scan", "GET", "/v0/ans-entries")
NAME_BY_NAME: Final = Endpoint("scan", "GET", "/v0/ans-entries/by-name/{name}")
FAUCETS: Final = Endpoint("scan", "GET", "/v0/validators/validator-faucets")
FEATURED_APPS: Final = Endpoint("scan", "GET", "/v0/featured-apps")
FEATURED_APP: Final = Endpoint("scan", "GET", "/v0/featured-apps/{provider_party_id}")
DSO: Final = Endpoint("scan", "GET", "/v0/dso")
SCANS: Final = Endpoint("scan", "GET", "/v0/scans")
VOTE_REQUESTS: Final = Endpoint("scan", "GET", "/v0/admin/sv/voterequests")
VOTE_REQUESTS_BY_ID: Final = Endpoint("scan", "POST", "/v0/voterequest")
VOTE_RESULTS: Final = Endpoint("scan", "POST", "/v0/admin/sv/voteresults")

MemberId = Annotated[
    str,
    Meta(
        pattern=r"^(PAR|MED)::[A-Za-z0-9:\-_ ]{1,250}\Z",
        description="a member id: PAR:: for a participant or MED:: for a mediator, then its name and fingerprint",
    ),
]


class RoundsNow(Struct, frozen=True):
    """The rounds that rewards can be registered for, and those whose rewards can be collected, by contract id."""

    open_mining_rounds: dict[str, ContractWithState]
    issuing_mining_rounds: dict[str, ContractWithState]


class TrafficNow(Struct, frozen=True):
    """Extra traffic in effect, in bytes."""

    total_consumed: int
    total_limit: int


class TrafficBought(Struct, frozen=True):
    """Extra traffic that was bought, in bytes; a purchase takes time to raise the limit."""

    total_purchased: int


class TrafficStatus(Struct, frozen=True):
    """A member's extra traffic on a synchronizer."""

    actual: TrafficNow
    target: TrafficBought


class NetworkName(Struct, frozen=True):
    """A name of the name service; the operator's own have neither contract nor expiry."""

    user: str
    name: str
    url: str = ""
    description: str = ""
    contract_id: str | None = None
    expires_at: str | None = None


class ValidatorFaucets(Struct, frozen=True, rename="camel"):
    """The rounds that a validator collected a faucet coupon for."""

    validator: str
    num_rounds_collected: int
    num_rounds_missed: int
    first_collected_in_round: int
    last_collected_in_round: int


class Dso(Struct, frozen=True):
    """The operators of the network, and its rules."""

    dso_party_id: str
    voting_threshold: int
    latest_mining_round: ContractWithState
    amulet_rules: ContractWithState
    dso_rules: ContractWithState
    sv_node_states: list[ContractWithState]


class ScanAddress(Struct, frozen=True, rename="camel"):
    """A super validator's scan."""

    public_url: str
    sv_name: str


class SynchronizerScans(Struct, frozen=True, rename="camel"):
    """The scans of a synchronizer."""

    domain_id: str
    scans: list[ScanAddress]


class VoteResults(ListPage, frozen=True):
    """A page of results of votes, as the ledger's `DsoRules_CloseVoteRequestResult` has them.

    Attributes:
        dso_rules_vote_results: the latest to take effect first.
        next_page_token: of the page that follows; None after the last page.
    """

    dso_rules_vote_results: list[Raw]
    next_page_token: int | None = None


class CurrentCalls(Calls):
    """Calls of scan for the present state of the network. One method, one request."""

    @sends(ROUNDS, neighbour=True)
    def open_and_issuing_rounds(self) -> Call[RoundsNow]:
        """Read the open and the issuing rounds (POST /v0/open-and-issuing-mining-rounds)."""
        body = dict[str, list[str]](cached_open_mining_round_contract_ids=[], cached_issuing_round_contract_ids=[])
        return Call(ROUNDS.request(json=body), reads(RoundsNow))

    @sends(CLOSED_ROUNDS, neighbour=True)
    def closed_rounds(self) -> Call[list[Contract]]:
        """Read the closed rounds that are not yet settled, the earliest first (GET /v0/closed-rounds)."""
        return Call(CLOSED_ROUNDS.request(), reads(list[Contract], "rounds"))

    @sends(TRAFFIC, neighbour=True)
    def traffic_status(self, *, synchronizer: str, member: str) -> Call[TrafficStatus | None]:
        """Read a member's extra traffic (GET /v0/domains/{domain_id}/members/{member_id}/traffic-status).

        Args:
            synchronizer: id of the synchronizer.
            member: `PAR::…` of a participant or `MED::…` of a mediator.

        Returns:
            None if the synchronizer does not know the member.
        """
        path = {
            "domain_id": fits(synchronizer, Text, "synchronizer"),
            "member_id": fits(member, MemberId, "member"),
        }
        return Call(TRAFFIC.request(path=path), reads(TrafficStatus, "traffic_status"), missing=None)

    @sends(NAMES, neighbour=True)
    def ans_entries(self, *, prefix: str = "", page_size: int = 1000) -> Call[list[NetworkName]]:
        """Read names that begin with a prefix (GET /v0/ans-entries); `page_size` names may not be all of them.

        Args:
            prefix: the beginning of the names; empty for all names.
            page_size: return at most this many names; there is no next page.
        """
        query = {
            "name_prefix": fits(prefix, str, "prefix") or None,
            "page_size": fits(page_size, Positive32, "page_size"),
        }
        return Call(NAMES.request(query=query), reads(list[NetworkName], "entries"))

    @sends(NAME_BY_NAME, neighbour=True)
    def ans_entry_by_name(self, name: str) -> Call[NetworkName | None]:
        """Read the entry of exactly this name (GET /v0/ans-entries/by-name/{name}); None if there is none."""
        path = {"name": fits(name, Text, "name")}
        return Call(NAME_BY_NAME.request(path=path), reads(NetworkName, "entry"), missing=None)

    @sends(FAUCETS, neighbour=True)
    def validator_faucets(self, validators: Iterable[str]) -> Call[list[ValidatorFaucets]]:
        """Read the faucet rounds of validators (GET /v0/validators/validator-faucets).

        Args:
            validators: party ids; those without a license are ignored. All of them are part of the URL, whose length
                servers limit; `load_validator_faucets` splits longer lists.
        """
        query = {"validator_ids": each(validators, "validators", kind=PartyId, least=1)}
        return Call(FAUCETS.request(query=query), reads(list[ValidatorFaucets], "validatorsReceivedFaucets"))

    @sends(FEATURED_APPS, neighbour=True)
    def featured_apps(self) -> Call[list[Contract]]:
        """Read the featured app rights (GET /v0/featured-apps)."""
        return Call(FEATURED_APPS.request(), reads(list[Contract], "featured_apps"))

    @sends(FEATURED_APP, neighbour=True)
    def featured_app(self, provider: str) -> Call[Contract | None]:
        """Read a provider's featured app right (GET /v0/featured-apps/{provider_party_id}); None without one.

        Args:
            provider: the party id.
        """
        path = {"provider_party_id": fits(provider, PartyId, "provider")}
        return Call(FEATURED_APP.request(path=path), reads_optional(Contract, "featured_app_right"))

    @sends(DSO, neighbour=True)
    def dso(self) -> Call[Dso]:
        """Read the operators of the network and its rules (GET /v0/dso)."""
        return Call(DSO.request(), reads(Dso))

    @sends(SCANS, neighbour=True)
    def scans(self) -> Call[list[SynchronizerScans]]:
        """Read the addresses of all scans of the network (GET /v0/scans)."""
        return Call(SCANS.request(), reads(list[SynchronizerScans], "scans"))

    @sends(VOTE_REQUESTS, neighbour=True)
    def vote_requests(self) -> Call[list[Contract]]:
        """Read the requests for votes that are open (GET /v0/admin/sv/voterequests)."""
        return Call(VOTE_REQUESTS.request(), reads(list[Contract], "dso_rules_vote_requests"))

    @sends(VOTE_REQUESTS_BY_ID, neighbour=True)
    def vote_requests_by_id(self, requests: Iterable[str]) -> Call[list[Contract]]:
        """Read open requests for votes (POST /v0/voterequest).

        Args:
            requests: the id of each one's first contract; 1,000 at most.
        """
        body = {"vote_request_contract_ids": listed(requests, "requests", Text, splits="load_votes")}
        return Call(VOTE_REQUESTS_BY_ID.request(json=body), reads(list[Contract], "vote_requests"))

    @sends(VOTE_RESULTS, neighbour=True)
    def vote_results(self, *, limit: int = 1000, page_token: int | None = None) -> Call[VoteResults]:
        """Read results of votes, the latest to take effect first (POST /v0/admin/sv/voteresults).

        Args:
            limit: return at most this many.
            page_token: the `next_page_token` of the page before; None is the first page.
        """
        body: dict[str, int] = {"limit": fits(limit, Positive32, "limit")}
        if page_token is not None:
            body["pageToken"] = fits(page_token, Whole64, "page_token")
        return Call(VOTE_RESULTS.request(json=body), reads(VoteResults))
