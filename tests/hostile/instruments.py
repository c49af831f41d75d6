"""Invented instruments, as other registries than the coin's have them; tests and the hostile ledger list them."""

from typing import Any

from ledgerframes.sandbox.http.registry import instrument_record


def invent_instruments() -> dict[str, dict[str, Any]]:
    """Make up the instruments of a registry that the coin is not one of, by id.

    One is paused, one has the members of older registries alone, and of one the supply is not counted.
    """
    supplies = {"HALCYON-NOTE-2026": (2, "2500000.00"), "ORCHARD-POINT": (0, None), "TESSERA-FUND": (6, None)}
    supplies |= {f"UNIT-{number:02}": (10, f"{number**5}.{number:010}") for number in range(56)}
    found = {
        name: instrument_record(
            name, name.title(), name[:4], decimals, supply=supply, as_of=supply and "2025-03-03T08:00:00Z"
        )
        for name, (decimals, supply) in supplies.items()
    }
    until = {"reason": "Coupon date: holders are being fixed", "until": "2026-03-03T09:00:00Z"}
    found["HALCYON-NOTE-2026"] |= {"paused": True, "pauseInfo": until}
    for name in ("totalSupply", "totalSupplyAsOf", "paused"):
        del found["ORCHARD-POINT"][name]
    return found
