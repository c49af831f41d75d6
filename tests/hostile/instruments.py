"""Sixty invented instruments, as other registries than the coin's have them; tests and the hostile ledger list them."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any, Final

from ledgerframes.sandbox.http.registry import instrument_record

PAUSED_ID: Final = "HALCYON-NOTE-2026"
OLD_STYLE_ID: Final = "ORCHARD-POINT"
UNCOUNTED_ID: Final = "TESSERA-FUND"
_ISSUERS: Final = ("BLUEWATER", "COPPERFIELD", "HALCYON", "LANTERN", "MERIDIAN", "NORTHGATE", "ORCHARD", "TESSERA")
_KINDS: Final = ("BILL", "BOND", "CREDIT", "GOLD", "SHARE", "UNIT", "VOUCHER")
_DECIMALS: Final = (10, 10, 6, 2, 0)


def invent_instruments(rng: Random) -> dict[str, dict[str, Any]]:
    """Make up the sixty instruments of a registry that the coin is not one of, by id."""
    paused = _record(PAUSED_ID, "Halcyon note 2026", "HN26", 2, "2500000.00") | {
        "paused": True,
        "pauseInfo": {"reason": "Coupon date: holders are being fixed", "until": "2026-03-03T09:00:00Z"},
    }
    old_style = _record(OLD_STYLE_ID, "Orchard point", "OP", 0, None)
    for name in ("totalSupply", "totalSupplyAsOf", "paused"):
        del old_style[name]
    uncounted = _record(UNCOUNTED_ID, "Tessera fund", "TF", 6, None)
    return {one["id"]: one for one in (paused, old_style, uncounted, *_ordinary(rng))}


def _ordinary(rng: Random) -> Iterator[dict[str, Any]]:
    for issuer in _ISSUERS:
        for kind in _KINDS:
            decimals = rng.choice(_DECIMALS)
            supply = f"{rng.randrange(10**9)}" + (f".{rng.randrange(10**decimals):0{decimals}}" if decimals else "")
            name = f"{issuer.title()} {kind.lower()}"
            yield _record(f"{issuer}-{kind}", name, f"{issuer[:2]}{kind[:2]}", decimals, supply)


def _record(instrument_id: str, name: str, symbol: str, decimals: int, supply: str | None) -> dict[str, Any]:
    as_of = None if supply is None else "2025-03-03T08:00:00Z"
    return instrument_record(instrument_id, name, symbol, decimals, supply=supply, as_of=as_of)
