"""Sixty invented instruments, as other registries than the coin's have them; tests and the hostile ledger list them."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any, Final

from ledgerframes.sandbox.http.registry import instrument_record

_ISSUERS: Final = ("BLUEWATER", "COPPERFIELD", "HALCYON", "LANTERN", "MERIDIAN", "NORTHGATE", "ORCHARD", "TESSERA")
_KINDS: Final = ("BILL", "BOND", "CREDIT", "GOLD", "SHARE", "UNIT", "VOUCHER")


def invent_instruments(rng: Random) -> dict[str, dict[str, Any]]:
    """Make up the sixty instruments of a registry that the coin is not one of, by id.

    One is paused, one has the members of older registries alone, and of one the supply is not counted.
    """
    found = [
        _record("HALCYON-NOTE-2026", "Halcyon note 2026", "HN26", 2, "2500000.00"),
        _record("ORCHARD-POINT", "Orchard point", "OP", 0, None),
        _record("TESSERA-FUND", "Tessera fund", "TF", 6, None),
    ]
    until = {"reason": "Coupon date: holders are being fixed", "until": "2026-03-03T09:00:00Z"}
    found[0] |= {"paused": True, "pauseInfo": until}
    for name in ("totalSupply", "totalSupplyAsOf", "paused"):
        del found[1][name]
    for issuer, kind in product(_ISSUERS, _KINDS):
        decimals = rng.choice((10, 10, 6, 2, 0))
        supply = f"{rng.randrange(10**9)}" + (f".{rng.randrange(10**decimals):0{decimals}}" if decimals else "")
        name = f"{issuer.title()} {kind.lower()}"
        found.append(_record(f"{issuer}-{kind}", name, f"{issuer[:2]}{kind[:2]}", decimals, supply))
    return {one["id"]: one for one in found}


def _record(instrument_id: str, name: str, symbol: str, decimals: int, supply: str | None) -> dict[str, Any]:
    as_of = None if supply is None else "2025-03-03T08:00:00Z"
    return instrument_record(instrument_id, name, symbol, decimals, supply=supply, as_of=as_of)
