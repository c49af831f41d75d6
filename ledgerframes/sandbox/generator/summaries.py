"""The texts of a transfer about itself: the summary of its inputs, fees and balances, and its metadata."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from ledgerframes.sandbox.world.amounts import ZERO, shown, spelled, units
from ledgerframes.sandbox.world.contracts import Contract

PREFIX: Final = "splice.lfdecentralizedtrust.org"

TX_KIND: Final = f"{PREFIX}/tx-kind"
REASON: Final = f"{PREFIX}/reason"
SENDER: Final = f"{PREFIX}/sender"
BURNED: Final = f"{PREFIX}/burned"
_REWARDS: Final = ("app", "validator", "sv")

Metadata = dict[str, dict[str, str]]


@dataclass(slots=True)
class Balances:
    """How the parties' coins change, counted as if they had all been made in round zero."""

    _changes: dict[str, list[int]] = field(default_factory=dict)

    def add(self, terms: dict[str, Any], owner: str, sign: int) -> None:
        """Count a coin that was made (1) or archived (-1), by the terms of its amount."""
        amount, rate = units(terms["initialAmount"]), units(terms["ratePerRound"]["rate"])
        change = self._changes.setdefault(owner, [0, 0])
        change[0] += sign * (amount + int(terms["createdAt"]["number"]) * rate)
        change[1] += sign * rate

    def record(self) -> list[list[Any]]:
        """The changes in the order of the parties' ids."""
        return [
            [
                owner,
                {
                    "changeToInitialAmountAsOfRoundZero": spelled(amount),
                    "changeToHoldingFeesRate": spelled(rate),
                },
            ]
            for owner, (amount, rate) in sorted(self._changes.items())
        ]


@dataclass(slots=True)
class Sums:
    """The inputs and costs of a transfer, in ten-billionths of a coin.

    Attributes:
        app: issued for app rewards; likewise `validator`, which the faucets are part of, `sv` and `faucet`.
        fund: from a coupon of the development fund.
        coin: the initial amounts of its coins.
        holding_fees: the fees for the time that its coins were held.
        output_fees: the fee of each output.
        change_fee: the fee of the sender's change.
        change: the amount returned to the sender.
    """

    app: int = 0
    validator: int = 0
    sv: int = 0
    faucet: int = 0
    fund: int = 0
    coin: int = 0
    holding_fees: int = 0
    output_fees: list[int] = field(default_factory=list)
    change_fee: int = 0
    change: int = 0

    @property
    def available(self) -> int:
        """The amount available to spend."""
        return self.coin - self.holding_fees + self.app + self.validator + self.sv + self.fund

    @property
    def burned(self) -> int:
        """The fees that the transfer burns."""
        return self.holding_fees + sum(self.output_fees) + self.change_fee

    def record(self, balances: Balances, *, price: str) -> dict[str, Any]:
        """The TransferSummary."""
        return {
            "inputAppRewardAmount": spelled(self.app),
            "inputValidatorRewardAmount": spelled(self.validator),
            "inputSvRewardAmount": spelled(self.sv),
            "inputAmuletAmount": spelled(self.coin),
            "balanceChanges": balances.record(),
            "holdingFees": spelled(self.holding_fees),
            "outputFees": [spelled(fee) for fee in self.output_fees],
            "senderChangeFee": spelled(self.change_fee),
            "senderChangeAmount": spelled(self.change),
            "amuletPrice": price,
            "inputValidatorFaucetAmount": spelled(self.faucet),
            "inputUnclaimedActivityRecordAmount": ZERO,
            "inputDevelopmentFundAmount": spelled(self.fund) if self.fund else None,
        }

    def metadata(self, kind: str, *, sender: str = "", reason: str = "") -> Metadata:
        """The metadata of the result: the rewards among the inputs, and the kind of the transfer."""
        rewards = {f"amulet.{PREFIX}/{name}-rewards": getattr(self, name) for name in _REWARDS}
        values = {name: shown(amount) for name, amount in rewards.items() if amount}
        return {"values": {**values, **holding_metadata(kind, burned=self.burned, sender=sender, reason=reason)}}


def holding_metadata(kind: str, *, burned: int = 0, sender: str = "", reason: str = "") -> dict[str, str]:
    """The entries about a change of holdings; empty ones are left out."""
    values = {BURNED: shown(burned) if burned else "", REASON: reason, SENDER: sender, TX_KIND: kind}
    return {name: text for name, text in values.items() if text}


def creation(contract_id: str, open_round: Contract) -> dict[str, Any]:
    """The AmuletCreateSummary of a new coin."""
    return {
        "amulet": contract_id,
        "amuletPrice": open_round.payload["amuletPrice"],
        "round": open_round.payload["round"],
    }
