"""Invents the users of a simulated participant: a few with names to remember, and hundreds of services."""

from __future__ import annotations

from random import Random
from typing import Final

from ledgerframes.sandbox.world.accounts import Right, User
from ledgerframes.sandbox.world.parties import LedgerParties

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
