"""The coin as commands meet it: its rules, locked coin, and standing consents to receive; `models` lists them."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, NamedTuple

from msgspec import Meta, field

from ledgerframes.sandbox.commands.bodies import Party, Text
from ledgerframes.sandbox.commands.command_context import Choice, ChoiceContext, Model
from ledgerframes.sandbox.commands.errors import failed
from ledgerframes.sandbox.commands.values import Amount, Moment, Record, write_record
from ledgerframes.sandbox.generator import transfers
from ledgerframes.sandbox.generator.coupons import reward_usage
from ledgerframes.sandbox.generator.fees import fees_of
from ledgerframes.sandbox.generator.summaries import Balances, Sums, creation, holding_metadata
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.amounts import UNITS, decimal, spelled
from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.templates import COIN, COIN_RULES, LOCKED_COIN, OPEN_ROUND, PREAPPROVAL

TAP_MAXIMUM: Final = 10**9 * UNITS


class Input(Record):
    """A coin to be spent."""

    tag: Literal["InputAmulet"]
    value: Text


class Lock(Record):
    """Until when a coin is locked, and who holds the lock."""

    holders: Annotated[list[Party], Meta(min_length=1)]
    expires_at: Moment
    opt_context: str | None = None


class Output(Record):
    """Coin to be made for a receiver, who pays a share of its fee."""

    receiver: Party
    amount: Amount
    receiver_fee_ratio: Amount = Amount(0)
    lock: Lock | None = None


class Transfer(Record):
    """Who pays with which coins, and what becomes of them; the rest goes back to the sender."""

    sender: Party
    provider: Party
    inputs: Annotated[list[Input], Meta(min_length=1)]
    outputs: list[Output]
    beneficiaries: None = None


class TransferContext(Record):
    """The contracts that a transfer goes by."""

    open_mining_round: Text
    issuing_mining_rounds: list[Any] = field(default_factory=list)
    validator_rights: list[Any] = field(default_factory=list)
    featured_app_right: None = None


class RulesTransfer(Record):
    """The argument of AmuletRules_Transfer."""

    transfer: Transfer
    context: TransferContext
    expected_dso: Party | None = None


class Tap(Record):
    """The argument of AmuletRules_DevNet_Tap."""

    receiver: Party
    amount: Amount
    open_round: Text


class OpenRound(Record):
    """The argument of what ends a lock."""

    open_round_cid: Text


class Consent(Record):
    """The argument of AmuletRules_CreateTransferPreapproval."""

    receiver: Party
    provider: Party
    expires_at: Moment


class Send(Record):
    """The argument of TransferPreapproval_Send."""

    sender: Party
    inputs: Annotated[list[Text], Meta(min_length=1)]
    amount: Amount
    open_round: Text


class Cancel(Record):
    """The argument of TransferPreapproval_Cancel."""

    p: Party


class Moved(NamedTuple):
    """What a payment made: the receivers' contract ids, the sender's change, and the TransferResult about both."""

    created: list[str]
    change: str | None
    result: dict[str, Any]


def move_coin(
    context: ChoiceContext, sender: str, inputs: list[str], outputs: list[transfers.Output], payment: transfers.Payment
) -> Moved:
    """Archive a sender's coins and make as much coin, less the fees of the round: the outputs, and the change.

    Raises:
        LedgerError: a coin is another party's or is named twice, there is too little, or an output does not pay for
            its fee.
    """
    # Without repeats; a coin that is named twice is then noticed by the count.
    coins = [context.commands.fetch(contract_id, COIN) for contract_id in dict.fromkeys(inputs)]
    strange = next((coin for coin in coins if coin.owner != sender), None)
    if strange is not None or len(coins) < len(inputs):
        raise failed(f"the coin {strange.contract_id} is not {sender}'s" if strange else "a coin is spent twice")
    open_round = payment.open_round
    fees, sums, balances = fees_of(open_round), Sums(), Balances()
    for coin in coins:
        transfers.count_coin(sums, balances, coin, fees, open_round)
    made = [transfers.after_fees(output, fees, sums, sender=sender) for output in outputs]
    if any(amount <= 0 for amount, _ in made):
        raise failed("every output is above zero, also less the fee that its receiver pays")
    rest = sums.available - sum(taken for _, taken in made)
    if rest < 0:
        raise failed(f"the inputs are {decimal(-rest)} short of the outputs and their fees")
    transfers.settle_change(sums, made, fees)
    for coin in coins:
        context.archive(coin)
    provider = payment.provider or sender
    reward_usage(
        context.commands.tx,
        context.sim,
        user=sender,
        provider=provider,
        burned=sums.burned,
        featured=False,
        open_round=open_round,
        under=context.event,
    )
    created = [
        _make_coin(context, output.receiver, amount, open_round, balances, lock=output.lock)
        for output, (amount, _) in zip(outputs, made, strict=True)
    ]
    change = _make_coin(context, sender, sums.change, open_round, balances) if sums.change else None
    to_others = any(output.receiver != sender for output in outputs)
    result = {
        "round": open_round.payload["round"],
        "summary": sums.record(balances, price=open_round.payload["amuletPrice"]),
        "createdAmulets": [
            {"tag": "TransferResultLockedAmulet" if output.lock else "TransferResultAmulet", "value": contract_id}
            for output, contract_id in zip(outputs, created, strict=True)
        ],
        "senderChangeAmulet": change,
        "meta": sums.metadata("transfer" if to_others else "merge-split", sender=sender if to_others else ""),
    }
    return Moved(created, change, result)


def _make_coin(
    context: ChoiceContext,
    owner: str,
    amount: int,
    open_round: Contract,
    balances: Balances | None = None,
    *,
    lock: dict[str, Any] | None = None,
) -> str:
    terms = {
        "initialAmount": decimal(amount),
        "createdAt": open_round.payload["round"],
        "ratePerRound": {"rate": spelled(fees_of(open_round).holding)},
    }
    if balances is not None:
        balances.add(terms, owner, 1)
    payload = {"dso": context.sim.parties.dso, "owner": owner, "amount": terms}
    if lock is None:
        return context.create(COIN, payload)
    return context.create(LOCKED_COIN, {"amulet": payload, "lock": lock})


def _transfer(context: ChoiceContext) -> dict[str, Any]:
    expected = context.argument.expected_dso
    if expected not in (None, context.sim.parties.dso):
        raise failed(f"the coin's rules are not {expected}'s")
    wanted, open_round = (
        context.argument.transfer,
        context.commands.fetch(context.argument.context.open_mining_round, OPEN_ROUND),
    )
    outputs = [_output(context, output) for output in wanted.outputs]
    inputs = [spent.value for spent in wanted.inputs]
    payment = transfers.Payment(open_round, provider=wanted.provider)
    return move_coin(context, wanted.sender, inputs, outputs, payment).result


def _output(context: ChoiceContext, wanted: Output) -> transfers.Output:
    ratio = int(wanted.receiver_fee_ratio)
    if not 0 <= ratio <= UNITS:
        raise failed(f"the receiver pays a share of the fee from 0 to 1, not {decimal(ratio)}")
    if wanted.amount <= 0:
        raise failed(f"every output is above zero, not {decimal(wanted.amount)}")
    if wanted.lock is not None and wanted.lock.expires_at <= context.commands.now:
        raise failed(f"the lock would have run out at {timestamps.trimmed(wanted.lock.expires_at)}")
    lock = None if wanted.lock is None else write_record(wanted.lock)
    return transfers.Output(wanted.receiver, int(wanted.amount), ratio, lock)


def _parties(wanted: Transfer) -> list[str]:
    """Who must agree: the sender, and of each output the receiver and the holders of its lock."""
    holders = (holder for output in wanted.outputs if output.lock is not None for holder in output.lock.holders)
    return [wanted.sender, *(output.receiver for output in wanted.outputs), *holders]


def _tap(context: ChoiceContext) -> dict[str, Any]:
    amount = int(context.argument.amount)
    if not 0 < amount <= TAP_MAXIMUM:
        raise failed(f"the tap gives an amount above zero and up to {decimal(TAP_MAXIMUM)}, not {decimal(amount)}")
    open_round = context.commands.fetch(context.argument.open_round, OPEN_ROUND)
    coin = _make_coin(context, context.argument.receiver, amount, open_round)
    return {"amuletSum": creation(coin, open_round), "meta": {"values": holding_metadata("mint")}}


def _unlock(context: ChoiceContext) -> dict[str, Any]:
    open_round = context.commands.fetch(context.argument.open_round_cid, OPEN_ROUND)
    coin = context.create(COIN, context.payload["amulet"])
    return {"amuletSum": creation(coin, open_round), "meta": {"values": holding_metadata("unlock")}}


def _expire_lock(context: ChoiceContext) -> dict[str, Any]:
    until = context.payload["lock"]["expiresAt"]
    if timestamps.parse(until) > context.commands.now:
        raise failed(f"the lock runs until {until}")
    return _unlock(context)


def _consent(context: ChoiceContext) -> dict[str, Any]:
    wanted = write_record(context.argument)
    if context.argument.expires_at <= context.commands.now:
        raise failed(f"the consent would have run out at {wanted['expiresAt']}")
    begin = timestamps.trimmed(context.commands.now)
    payload = {
        "dso": context.sim.parties.dso,
        "receiver": wanted["receiver"],
        "provider": wanted["provider"],
        "validFrom": begin,
        "lastRenewedAt": begin,
        "expiresAt": wanted["expiresAt"],
    }
    return {"transferPreapprovalCid": context.create(PREAPPROVAL, payload), "amuletPaid": decimal(0)}


def _send(context: ChoiceContext) -> dict[str, Any]:
    wanted = context.argument
    if timestamps.parse(context.payload["expiresAt"]) <= context.commands.now:
        raise failed(f"the consent ran out at {context.payload['expiresAt']}")
    output = _output(context, Output(context.payload["receiver"], wanted.amount))
    open_round = context.commands.fetch(wanted.open_round, OPEN_ROUND)
    payment = transfers.Payment(open_round, provider=context.payload["provider"])
    moved = move_coin(context, wanted.sender, wanted.inputs, [output], payment)
    return {"result": moved.result, "meta": moved.result["meta"]}


def _cancel(context: ChoiceContext) -> None:
    if context.argument.p not in (context.payload["receiver"], context.payload["provider"]):
        raise failed(f"{context.argument.p} is neither receiver nor provider")


COIN_MODEL: Final = Model(
    COIN,
    signatories=lambda payload: (payload["dso"], payload["owner"]),
    owner=lambda payload: str(payload["owner"]),
)
LOCKED_COIN_MODEL: Final = Model(
    LOCKED_COIN,
    signatories=lambda payload: (payload["amulet"]["dso"], payload["amulet"]["owner"], *payload["lock"]["holders"]),
    choices=(
        # The first signatory is the governing organization, which need not consent to an unlock.
        Choice("LockedAmulet_Unlock", OpenRound, lambda contract, _: contract.signatories[1:], _unlock),
        Choice(
            "LockedAmulet_OwnerExpireLock",
            OpenRound,
            lambda contract, _: (contract.payload["amulet"]["owner"],),
            _expire_lock,
        ),
    ),
)
PREAPPROVAL_MODEL: Final = Model(
    PREAPPROVAL,
    signatories=lambda payload: (payload["dso"], payload["receiver"], payload["provider"]),
    owner=lambda payload: str(payload["receiver"]),
    choices=(
        Choice("TransferPreapproval_Send", Send, lambda _, argument: (argument.sender,), _send, consuming=False),
        Choice("TransferPreapproval_Cancel", Cancel, lambda _, argument: (argument.p,), _cancel),
    ),
)
COIN_RULES_MODEL: Final = Model(
    COIN_RULES,
    signatories=lambda payload: (payload["dso"],),
    choices=(
        Choice(
            "AmuletRules_Transfer",
            RulesTransfer,
            lambda _, argument: _parties(argument.transfer),
            _transfer,
            consuming=False,
        ),
        Choice("AmuletRules_DevNet_Tap", Tap, lambda _, argument: (argument.receiver,), _tap, consuming=False),
        Choice(
            "AmuletRules_CreateTransferPreapproval",
            Consent,
            lambda _, argument: (argument.receiver, argument.provider),
            _consent,
            consuming=False,
        ),
    ),
)
