"""The users of the simulated participant and their rights; tokens name them, the ledger's routes list them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Right(NamedTuple):
    """A right of a user (contract: Resources, Right).

    Attributes:
        kind: the variant's name, such as `CanActAs`.
        party: the party concerned; empty for variants without a party.
    """

    kind: str
    party: str = ""


@dataclass(frozen=True, slots=True)
class User:
    """A user of the participant (contract: Resources, User).

    Attributes:
        own_key: the user may sign its token with the key of its primary party.
    """

    id: str
    primary_party: str = ""
    deactivated: bool = False
    annotations: Mapping[str, str] = field(default_factory=dict)
    resource_version: str = "0"
    rights: frozenset[Right] = frozenset()
    own_key: bool = False

    def is_admin(self) -> bool:
        """Whether the user manages the participant."""
        return Right("ParticipantAdmin") in self.rights

    def reads_everything(self) -> bool:
        """Whether the user reads as any party."""
        return not self.rights.isdisjoint({Right("CanReadAsAnyParty"), Right("CanActAsAnyParty")})

    def acts_as(self, parties: Iterable[str]) -> bool:
        """Whether the user may authorize commands for all of these parties."""
        anybody = Right("CanActAsAnyParty") in self.rights
        return anybody or all(Right("CanActAs", party) in self.rights for party in parties)

    def reads_as(self, parties: Iterable[str]) -> bool:
        """Whether the user reads as all of these parties."""
        return self.reads_everything() or self.readable().issuperset(parties)

    def readable(self) -> frozenset[str]:
        """The parties the user reads as by name; acting includes reading, executing does not."""
        return frozenset(right.party for right in self.rights if right.kind in ("CanReadAs", "CanActAs"))

    def record(self) -> dict[str, Any]:
        """The user as the ledger interface sends it; unset text is empty."""
        return {
            "id": self.id,
            "primaryParty": self.primary_party,
            "isDeactivated": self.deactivated,
            "metadata": {"resourceVersion": self.resource_version, "annotations": dict(self.annotations)},
            "identityProviderId": "",
            "primaryPartyAuthentication": self.own_key,
        }
