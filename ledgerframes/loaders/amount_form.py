"""How pandas holds amounts where the caller does not say: as the network's settings do; called by every loader."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledgerframes.frames import Decimals

if TYPE_CHECKING:
    from ledgerframes.network import Network


def held(net: Network, decimals: Decimals | None) -> Decimals:
    """The form of amounts: what the caller asks for, else what `connect(decimals=)` or the profile says."""
    return net.settings.decimals if decimals is None else decimals
