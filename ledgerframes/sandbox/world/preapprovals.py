"""Transfer preapprovals: standing consents to receive coin; the validator's routes look them up."""

from __future__ import annotations

from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.templates import PREAPPROVAL
from ledgerframes.sandbox.world.world import World


def preapproval_of(world: World, party: str) -> Contract | None:
    """A party's preapproval that has not run out, if it gave one."""
    given = (preapproval for preapproval in world.contracts.of(PREAPPROVAL) if preapproval.payload["receiver"] == party)
    return next(
        (preapproval for preapproval in given if timestamps.parse(preapproval.payload["expiresAt"]) > world.now), None
    )
