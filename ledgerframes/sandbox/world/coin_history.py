"""Every coin there has been, with its beginning and end, and the rounds; holdings at any time are read off it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from ledgerframes.sandbox.world.amounts import units
from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.templates import COIN, LOCKED_COIN
from ledgerframes.sandbox.world.timestamps import Cursor

_TEMPLATES: Final = (COIN, LOCKED_COIN)

# A coin that holding fees use up within this many rounds counts as dust.
_SOON: Final = 24


@dataclass(slots=True)
class Coin:
    """One coin contract, locked or not; it counts while it is in flight between synchronizers too.

    Attributes:
        units: its initial amount in ten-billionths.
        round_number: the round of its creation.
        rate: holding fee a round, as decimal text.
        since: migration id and record time of its creation.
        until: the same of its end, if it has ended.
    """

    owner: str
    units: int
    round_number: int
    rate: str
    locked: bool
    since: Cursor
    until: Cursor | None = None

    def is_active(self, at: Cursor) -> bool:
        """Whether it was there after everything up to that migration id and record time."""
        return self.since <= at and (self.until is None or self.until > at)


@dataclass(slots=True)
class CoinHistory:
    """The life of every coin; transactions write it as they create and archive.

    Attributes:
        units: the current value of all coins, in ten-billionths.
        earliest_round: the earliest round that is open now, if any is.
        dust: the small coins by contract id, each with the round from which on it can be expired.
    """

    units: int = 0
    earliest_round: int | None = None
    dust: dict[str, int] = field(default_factory=dict)
    _living: dict[str, Coin] = field(default_factory=dict)
    _by_owner: dict[str, list[Coin]] = field(default_factory=dict)

    def create(self, contract: Contract, at: Cursor) -> None:
        """Enter a new contract, if it is coin."""
        if contract.template not in _TEMPLATES:
            return
        locked = contract.template is LOCKED_COIN
        payload = contract.payload["amulet"] if locked else contract.payload
        terms = payload["amount"]
        coin = Coin(
            owner=payload["owner"],
            units=units(terms["initialAmount"]),
            round_number=int(terms["createdAt"]["number"]),
            rate=terms["ratePerRound"]["rate"],
            locked=locked,
            since=at,
        )
        self.units += coin.units
        lasts = -(-coin.units // units(coin.rate))
        if lasts <= _SOON:
            self.dust[contract.contract_id] = coin.round_number + lasts
        self._living[contract.contract_id] = coin
        self._by_owner.setdefault(coin.owner, []).append(coin)

    def end(self, contract_id: str, at: Cursor) -> None:
        """Note the end of a coin by its contract's id; another contract's is ignored."""
        coin = self._living.pop(contract_id, None)
        if coin is not None:
            coin.until = at
            self.units -= coin.units
            self.dust.pop(contract_id, None)

    def held(self, owner: str, at: Cursor) -> list[Coin]:
        """A party's coins after everything up to that migration id and record time."""
        return [coin for coin in self._by_owner.get(owner, ()) if coin.is_active(at)]
