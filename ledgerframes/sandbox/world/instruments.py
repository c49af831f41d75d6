"""The instruments of the token registries: the coin, and what another issuer has; the registries' routes list them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

COIN_ID: Final = "Amulet"

SUPPORTED_APIS: Final = {
    "splice-api-token-metadata-v1": 1,
    "splice-api-token-holding-v1": 1,
    "splice-api-token-transfer-instruction-v1": 1,
    "splice-api-token-allocation-v1": 1,
    "splice-api-token-allocation-instruction-v1": 1,
}
_AGO: Final = "2025-03-03T08:00:00Z"


@dataclass(frozen=True, slots=True)
class Instrument:
    """One instrument.

    Attributes:
        supply: total supply as decimal text; None if nobody has counted it. The coin's is counted on request.
        pause: why and until when it is paused; None if it is not.
        old_style: it is reported with the members of the oldest release only.
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


#: The instruments in the coin's registry.
COIN: Final = Instrument(COIN_ID, COIN_ID, "CC")
#: Issued by an app with an admin of its own, whose registry lists it.
SECOND: Final = Instrument("HARBOR-SILVER", "Harbor silver", "HS", 2)
