"""The coupons that have not ended, by round; the world keeps it, rounds and claims look their coupons up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.templates import (
    APP_COUPON,
    FAUCET_COUPON,
    FUND_COUPON,
    LIVENESS_RECORD,
    REWARD_COUPON,
    SV_COUPON,
    VALIDATOR_COUPON,
)

_KINDS: Final = frozenset(
    template.entity for template in (APP_COUPON, VALIDATOR_COUPON, SV_COUPON, FAUCET_COUPON, LIVENESS_RECORD)
)


@dataclass(slots=True)
class CouponBook:
    """Every coupon there is; transactions write it as they create and archive.

    Attributes:
        allotted: the coupons of the development fund, by id; they are of no round.
        in_coin: the coupons of the second version, by id; they state coin, which no round issues.
    """

    allotted: dict[str, Contract] = field(default_factory=dict)
    in_coin: dict[str, Contract] = field(default_factory=dict)
    _rounds: dict[int, dict[str, Contract]] = field(default_factory=dict)

    def create(self, contract: Contract) -> None:
        """Enter a new contract, if it is a coupon."""
        if contract.template.entity in _KINDS:
            self._rounds.setdefault(round_of(contract), {})[contract.contract_id] = contract
        elif contract.template.entity == FUND_COUPON.entity:
            self.allotted[contract.contract_id] = contract
        elif contract.template.entity == REWARD_COUPON.entity:
            self.in_coin[contract.contract_id] = contract

    def archive(self, contract: Contract) -> None:
        """Strike a contract that has ended, if it is a coupon."""
        if contract.template.entity in _KINDS:
            number = round_of(contract)
            del self._rounds[number][contract.contract_id]
            if not self._rounds[number]:
                del self._rounds[number]
        elif contract.template.entity == FUND_COUPON.entity:
            del self.allotted[contract.contract_id]
        elif contract.template.entity == REWARD_COUPON.entity:
            del self.in_coin[contract.contract_id]

    def of(self, number: int, synchronizer_id: str) -> Iterator[Contract]:
        """A round's coupons that are on a synchronizer and that no command made, the oldest first."""
        for coupon in self._rounds.get(number, {}).values():
            if coupon.synchronizer_id == synchronizer_id and not coupon.commanded:
                yield coupon

    def all_of(self, number: int) -> Iterator[Contract]:
        """A round's coupons wherever they are, those in flight too."""
        yield from self._rounds.get(number, {}).values()


def round_of(contract: Contract) -> int:
    """The round that a coupon, a round or a coin's payload names."""
    return int(contract.payload["round"]["number"])
