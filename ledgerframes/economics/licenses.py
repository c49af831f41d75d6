"""`License`: a validator's license, of which the star schema keeps one per day."""

from __future__ import annotations

from msgspec import Struct
from msgspec import field as member

from ledgerframes.economics.reading.models import Int64, Round

#: What ends a license for good; every other choice makes it anew.
GONE = ("ValidatorLicense_Cancel", "ValidatorLicense_Withdraw")


class FaucetState(Struct, frozen=True, gc=False):
    """The rounds that a validator reported for."""

    first: Round = member(name="firstReceivedFor")
    last: Round = member(name="lastReceivedFor")
    missed: Int64 = member(name="numCouponsMissed")


class Metadata(Struct, frozen=True, gc=False):
    """What a validator says of itself."""

    version: str | None = None


class License(Struct, frozen=True, gc=False):
    """A validator's license."""

    validator: str
    sponsor: str
    faucet: FaucetState | None = member(name="faucetState", default=None)
    metadata: Metadata | None = None
