"""The participants of a simulated ledger under invented names: parties, validators, synchronizers, users and rights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, NamedTuple


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


_PEOPLE: Final = (
    "alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi", "ivan", "judy", "kamal", "lena", "mallory",
    "nadia", "oscar", "peggy", "quentin", "rosa", "sybil", "trent", "ursula", "victor", "wendy", "xavier", "yara",
    "zoltan", "amara", "bruno", "chiara", "dmitri", "elif", "fatou", "giulia", "hiro", "ines", "jorge", "kofi",
    "linnea", "mateo", "noor",
)  # fmt: skip
_FIRMS: Final = ("meridian", "northgate", "halcyon", "copperfield", "bluewater", "tessera", "orchard", "lantern")

# The number of validators that have users.
_HOSTS: Final = 8


@dataclass(frozen=True, slots=True)
class LedgerParties:
    """The parties of a ledger, as party ids.

    Attributes:
        dso: the organization that runs the ledger.
        sponsors: its members, who sponsor validators.
        validators: the operators that hold a validator license.
        people: users, the busiest first.
    """

    dso: str
    sponsors: tuple[str, ...]
    validators: tuple[str, ...]
    people: tuple[str, ...]

    @property
    def fund_manager(self) -> str:
        """The member that manages the development fund."""
        return self.sponsors[-1]

    def person(self, rng: Random) -> str:
        """Pick a user; the first few act far more often than the last."""
        return self.people[int(len(self.people) * rng.random() ** 2.5)]

    def people_but(self, rng: Random, party: str) -> str:
        """Pick a user other than that one."""
        chosen = self.person(rng)
        return chosen if chosen != party else self.people[(self.people.index(party) + 1) % len(self.people)]

    def host(self, party: str) -> str:
        """The validator that a party is on: a user's, or the party itself."""
        if party not in self.people:
            return party
        return self.validators[self.people.index(party) % _HOSTS]


def name_of(party: str) -> str:
    """The name in a party id."""
    return party.partition("::")[0]


def fingerprint(rng: Random) -> str:
    """A hash as the ledger writes them: `1220` and 64 hex digits."""
    return f"1220{rng.getrandbits(256).to_bytes(32).hex()}"


def invent_parties(rng: Random) -> LedgerParties:
    """Invent the parties of one ledger."""
    return LedgerParties(
        dso=f"DSO::{fingerprint(rng)}",
        sponsors=tuple(f"{firm}-sv-1::{fingerprint(rng)}" for firm in _FIRMS[:4]),
        validators=tuple(f"{firm}-validator-{n}::{fingerprint(rng)}" for n in (1, 2, 3) for firm in _FIRMS),
        people=tuple(f"{name}::{fingerprint(rng)}" for name in _PEOPLE),
    )


def invent_synchronizers(rng: Random, count: int) -> tuple[str, ...]:
    """Invent synchronizer ids, the main one first."""
    names = ["global-domain", *(f"sync-{_letters(n)}" for n in range(count - 1))]
    return tuple(f"{name}::{fingerprint(rng)}" for name in names[:count])


def _letters(number: int) -> str:
    """0 is a, 25 is z, 26 is aa."""
    quotient, rest = divmod(number, 26)
    return (_letters(quotient - 1) if quotient else "") + chr(ord("a") + rest)


ADMIN: Final = "participant_admin"
OPERATOR: Final = "validator_operator"
DEACTIVATED: Final = "mallory"
SERVICES: Final = 280

_APPLICATIONS: Final = ("wallet-backend", "audit.report", "market_data", "settlement+batch", "tax@ledger", "kiosk#till")
_TEAMS: Final = ("treasury", "operations", "Käffchen & Partner", "compliance")


def invent_accounts(rng: Random, parties: LedgerParties) -> dict[str, User]:
    """Generate a participant's users by id: two administrators, all users of the parties, and services.

    `participant_admin` may manage but not read; `validator_operator` may do both and has a wallet; the people act as
    their own party; `mallory` is deactivated. Services mostly have no party of their own.
    """
    operator = parties.validators[0]
    manage, read_all = Right("ParticipantAdmin"), Right("CanReadAsAnyParty")
    users = [
        User(ADMIN, rights=frozenset({manage})),
        User(OPERATOR, primary_party=operator, rights=frozenset({manage, read_all, Right("CanActAs", operator)})),
    ]
    for party in parties.people:
        name = party.partition("::")[0]
        rights = frozenset({Right("CanActAs", party)})
        users.append(User(name, primary_party=party, deactivated=name == DEACTIVATED, rights=rights))
    users += [_service(rng, parties, number) for number in range(SERVICES)]
    return {user.id: user for user in users}


def _service(rng: Random, parties: LedgerParties, number: int) -> User:
    party = rng.choice(parties.people)
    annotations = {"team": rng.choice(_TEAMS)} if rng.random() < 0.5 else {}
    if rng.random() < 0.2:
        annotations["billing.example.com/cost-center"] = str(rng.randrange(1_000, 9_999))
    return User(
        f"{rng.choice(_APPLICATIONS)}-{number:03}",
        primary_party=party if rng.random() < 0.3 else "",
        deactivated=rng.random() < 0.04,
        annotations=annotations,
        resource_version=str(rng.randrange(5)),
        rights=frozenset({Right("CanReadAs", party)}),
    )
