"""The instruments of the made-up token registry: the coin itself and what its admin has issued besides."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, Final

COIN_ID: Final = "Amulet"
PAUSED_ID: Final = "HALCYON-NOTE-2026"
OLD_STYLE_ID: Final = "ORCHARD-POINT"
UNCOUNTED_ID: Final = "TESSERA-FUND"

SUPPORTED_APIS: Final = {
    "splice-api-token-metadata-v1": 1,
    "splice-api-token-holding-v1": 1,
    "splice-api-token-transfer-instruction-v1": 1,
    "splice-api-token-allocation-v1": 1,
    "splice-api-token-allocation-instruction-v1": 1,
}
_ISSUERS: Final = ("BLUEWATER", "COPPERFIELD", "HALCYON", "LANTERN", "MERIDIAN", "NORTHGATE", "ORCHARD", "TESSERA")
_KINDS: Final = ("BILL", "BOND", "CREDIT", "GOLD", "SHARE", "UNIT", "VOUCHER")
_DECIMALS: Final = (10, 10, 6, 2, 0)
_AGO: Final = "2025-03-03T08:00:00Z"


@dataclass(frozen=True, slots=True)
class Instrument:
    """One instrument.

    Attributes:
        supply: total supply as decimal text; None where nobody has counted it. The coin's is counted when asked for.
        pause: why and until when it is paused; None where it is not.
        old_style: it is told with the members of the oldest release only.
    """

    id: str
    name: str
    symbol: str
    decimals: int = 10
    supply: str | None = None
    pause: tuple[str, str] | None = None
    old_style: bool = False

    def record(self, *, supply: str | None, as_of: str | None) -> dict[str, Any]:
        """The instrument as the registry sends it."""
        members: dict[str, Any] = {"id": self.id, "name": self.name, "symbol": self.symbol}
        if not self.old_style:
            members |= {"totalSupply": supply, "totalSupplyAsOf": as_of}
        members |= {"decimals": self.decimals, "supportedApis": SUPPORTED_APIS}
        if self.old_style:
            return members
        members["paused"] = self.pause is not None
        if self.pause is not None:
            members["pauseInfo"] = {"reason": self.pause[0], "until": self.pause[1]}
        return members

    def counted(self) -> str | None:
        """When the supply was counted, if it was."""
        return _AGO if self.supply is not None else None


#: Issued by an app with an admin of its own, whose registry lists it.
SECOND: Final = Instrument("HARBOR-SILVER", "Harbor silver", "HS", 2)


def invent_instruments(rng: Random) -> tuple[Instrument, ...]:
    """Make up a registry's sixty instruments, ordered by id."""
    special = (
        Instrument(COIN_ID, COIN_ID, "CC"),
        Instrument(
            PAUSED_ID,
            "Halcyon note 2026",
            "HN26",
            2,
            "2500000.00",
            ("Coupon date: holders are being fixed", "2026-03-03T09:00:00Z"),
        ),
        Instrument(OLD_STYLE_ID, "Orchard point", "OP", 0, old_style=True),
        Instrument(UNCOUNTED_ID, "Tessera fund", "TF", 6),
    )
    return tuple(sorted((*special, *_ordinary(rng)), key=lambda instrument: instrument.id))


def _ordinary(rng: Random) -> list[Instrument]:
    made = []
    for issuer in _ISSUERS:
        for kind in _KINDS:
            decimals = rng.choice(_DECIMALS)
            supply = f"{rng.randrange(10**9)}" + (f".{rng.randrange(10**decimals):0{decimals}}" if decimals else "")
            name = f"{issuer.title()} {kind.lower()}"
            made.append(Instrument(f"{issuer}-{kind}", name, f"{issuer[:2]}{kind[:2]}", decimals, supply))
    return made
