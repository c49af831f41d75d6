"""Sixty invented instruments, as other registries than the coin's have them; tests and the hostile ledger list them."""

from __future__ import annotations

from random import Random
from typing import Final

from ledgerframes.sandbox.world.instruments import COIN, Instrument

PAUSED_ID: Final = "HALCYON-NOTE-2026"
OLD_STYLE_ID: Final = "ORCHARD-POINT"
UNCOUNTED_ID: Final = "TESSERA-FUND"
_ISSUERS: Final = ("BLUEWATER", "COPPERFIELD", "HALCYON", "LANTERN", "MERIDIAN", "NORTHGATE", "ORCHARD", "TESSERA")
_KINDS: Final = ("BILL", "BOND", "CREDIT", "GOLD", "SHARE", "UNIT", "VOUCHER")
_DECIMALS: Final = (10, 10, 6, 2, 0)


def invent_instruments(rng: Random) -> tuple[Instrument, ...]:
    """Make up a registry's sixty instruments, ordered by id."""
    special = (
        COIN,
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
