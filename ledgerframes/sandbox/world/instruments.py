"""The instruments of the token registries: the coin, and what another issuer has; the registries' routes list them."""

from __future__ import annotations

from typing import Any, Final

COIN_ID: Final = "Amulet"
#: Issued by an app with an admin of its own, whose registry lists it.
SECOND_ID: Final = "HARBOR-SILVER"

SUPPORTED_APIS: Final = {
    "splice-api-token-metadata-v1": 1,
    "splice-api-token-holding-v1": 1,
    "splice-api-token-transfer-instruction-v1": 1,
    "splice-api-token-allocation-v1": 1,
    "splice-api-token-allocation-instruction-v1": 1,
}


def instrument_record(
    instrument_id: str, name: str, symbol: str, decimals: int, *, supply: str | None, as_of: str | None
) -> dict[str, Any]:
    """An instrument as a registry sends it.

    Args:
        instrument_id: its id.
        name: for display.
        symbol: for display.
        decimals: its decimal places.
        supply: total supply as decimal text; None if nobody has counted it.
        as_of: when it was counted.
    """
    return {
        "id": instrument_id,
        "name": name,
        "symbol": symbol,
        "totalSupply": supply,
        "totalSupplyAsOf": as_of,
        "decimals": decimals,
        "supportedApis": SUPPORTED_APIS,
        "paused": False,
    }
