"""The ledger's records as structs: only the members that a table reads; `economics` decodes JSON into them."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Final

from msgspec import Meta as Bounds
from msgspec import Struct, field

AMULET: Final = "Splice.Amulet:Amulet"
LOCKED_AMULET: Final = "Splice.Amulet:LockedAmulet"
COINS: Final = (AMULET, LOCKED_AMULET)
PREAPPROVAL: Final = "Splice.AmuletRules:TransferPreapproval"
INSTRUCTION: Final = "Splice.AmuletTransferInstruction:AmuletTransferInstruction"
LICENSE: Final = "Splice.ValidatorLicense:ValidatorLicense"


#: A whole number that a column of 64 bits holds.
Int64 = Annotated[int, Bounds(ge=-(2**63), le=2**63 - 1)]


class Round(Struct, frozen=True, gc=False):
    """A round's number."""

    number: Int64


class Rate(Struct, frozen=True, gc=False):
    """A rate."""

    rate: Decimal


class ExpiringAmount(Struct, frozen=True, gc=False):
    """An amount and its holding fee."""

    initial: Decimal = field(name="initialAmount")
    created: Round = field(name="createdAt")
    rate: Rate = field(name="ratePerRound")


class Lock(Struct, frozen=True, gc=False):
    """Who holds a lock, and until when."""

    holders: list[str]
    expires: datetime = field(name="expiresAt")


class Amulet(Struct, frozen=True, gc=False):
    """A coin."""

    owner: str
    amount: ExpiringAmount


class LockedAmulet(Struct, frozen=True, gc=False):
    """A locked coin."""

    amulet: Amulet
    lock: Lock
