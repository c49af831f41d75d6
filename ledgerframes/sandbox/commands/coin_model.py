"""The coin as commands see it: its payload, and the tap that creates it; `models` lists them."""

from __future__ import annotations

from typing import Any, Final

from ledgerframes.sandbox.commands.bodies import Party, Text
from ledgerframes.sandbox.commands.command_context import Choice, ChoiceContext, Model
from ledgerframes.sandbox.commands.errors import failed
from ledgerframes.sandbox.commands.values import Amount, Record
from ledgerframes.sandbox.generator.fees import fees_of
from ledgerframes.sandbox.generator.summaries import creation, holding_metadata
from ledgerframes.sandbox.world.amounts import UNITS, decimal, spelled
from ledgerframes.sandbox.world.templates import COIN, COIN_RULES, OPEN_ROUND

TAP_MAXIMUM: Final = 10**9 * UNITS


class Tap(Record):
    """The argument of AmuletRules_DevNet_Tap."""

    receiver: Party
    amount: Amount
    open_round: Text


def _tap(context: ChoiceContext) -> dict[str, Any]:
    amount = int(context.argument.amount)
    if not 0 < amount <= TAP_MAXIMUM:
        raise failed(f"the tap gives an amount above zero and up to {decimal(TAP_MAXIMUM)}, not {decimal(amount)}")
    open_round = context.commands.fetch(context.argument.open_round, OPEN_ROUND)
    terms = {
        "initialAmount": decimal(amount),
        "createdAt": open_round.payload["round"],
        "ratePerRound": {"rate": spelled(fees_of(open_round).holding)},
    }
    payload = {"dso": context.sim.parties.dso, "owner": context.argument.receiver, "amount": terms}
    coin = context.create(COIN, payload)
    return {"amuletSum": creation(coin, open_round), "meta": {"values": holding_metadata("mint")}}


COIN_MODEL: Final = Model(
    COIN,
    signatories=lambda payload: (payload["dso"], payload["owner"]),
    owner=lambda payload: str(payload["owner"]),
)
COIN_RULES_MODEL: Final = Model(
    COIN_RULES,
    signatories=lambda payload: (payload["dso"],),
    choices=(Choice("AmuletRules_DevNet_Tap", Tap, lambda _, argument: (argument.receiver,), _tap, consuming=False),),
)
