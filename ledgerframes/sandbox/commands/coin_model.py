"""The coin as commands meet it: its rules, locked coin, and standing consents to receive; `models` lists them."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, NamedTuple

from msgspec import Meta, field

from ledgerframes.sandbox.commands.bodies import Party, Text
from ledgerframes.sandbox.commands.command_context import Choice, Model, Scene
from ledgerframes.sandbox.commands.errors import failed
from ledgerframes.sandbox.commands.values import Amount, Moment, Record, write_record
from ledgerframes.sandbox.generator.coins import HOLDING_FEE, units_of
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.holdings import UNITS, decimal
from ledgerframes.sandbox.world.templates import COIN, COIN_RULES, LOCKED_COIN, OPEN_ROUND, PREAPPROVAL

TAP_MAXIMUM: Final = 10**9 * UNITS


class Input(Record):
    """A coin to be spent."""

    tag: Literal["InputAmulet"]
    value: Text


class Output(Record):
    """Coin to be made for a receiver."""

    receiver: Party
    amount: Amount
    receiver_fee_ratio: Amount = Amount(0)
    lock: None = None


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


class Lock(Record):
    """Until when a coin is locked, and who holds the lock."""

    holders: Annotated[list[Party], Meta(min_length=1)]
    expires_at: Moment
    opt_context: str | None = None


class LockCoin(Record):
    """The argument of AmuletRules_LockAmulet."""

    owner: Party
    amulet: Text
    lock: Lock


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
    """What a payment made: the receivers' contract ids, and the sender's change."""

    created: list[str]
    change: str | None


def move_coin(
    scene: Scene, sender: str, inputs: list[str], outputs: list[tuple[str, int]], *, open_round: Contract
) -> Moved:
    """Archive a sender's coins and make as much coin: what each receiver gets in ten-billionths, and the change.

    Raises:
        LedgerError: a coin is another party's or is named twice, or there is too little.
    """
    coins = [scene.act.fetch(one, COIN) for one in dict.fromkeys(inputs)]
    strange = next((one for one in coins if one.owner != sender), None)
    if strange is not None or len(coins) < len(inputs):
        raise failed(f"the coin {strange.contract_id} is not {sender}'s" if strange else "a coin is spent twice")
    if any(units <= 0 for _, units in outputs):
        raise failed("every output is above zero")
    rest = sum(map(units_of, coins)) - sum(units for _, units in outputs)
    if rest < 0:
        raise failed(f"the inputs are {decimal(-rest)} short of the outputs")
    for coin in coins:
        scene.archive(coin)
    created = [_make_coin(scene, receiver, units, open_round) for receiver, units in outputs]
    return Moved(created, _make_coin(scene, sender, rest, open_round) if rest else None)


def _make_coin(scene: Scene, owner: str, units: int, open_round: Contract) -> str:
    terms = {
        "initialAmount": decimal(units),
        "createdAt": open_round.payload["round"],
        "ratePerRound": {"rate": HOLDING_FEE},
    }
    return scene.create(COIN, {"dso": scene.stage.cast.dso, "owner": owner, "amount": terms})


def _transfer(scene: Scene) -> dict[str, Any]:
    expected = scene.argument.expected_dso
    if expected not in (None, scene.stage.cast.dso):
        raise failed(f"the coin's rules are not {expected}'s")
    wanted, open_round = scene.argument.transfer, scene.act.fetch(scene.argument.context.open_mining_round, OPEN_ROUND)
    outputs = [(one.receiver, int(one.amount)) for one in wanted.outputs]
    moved = move_coin(scene, wanted.sender, [one.value for one in wanted.inputs], outputs, open_round=open_round)
    return {
        "round": open_round.payload["round"],
        "createdAmulets": [{"tag": "TransferResultAmulet", "value": one} for one in moved.created],
        "senderChangeAmulet": moved.change,
        "amuletPrice": open_round.payload["amuletPrice"],
    }


def _tap(scene: Scene) -> dict[str, Any]:
    units = int(scene.argument.amount)
    if not 0 < units <= TAP_MAXIMUM:
        raise failed(f"the tap gives an amount above zero and up to {decimal(TAP_MAXIMUM)}, not {decimal(units)}")
    open_round = scene.act.fetch(scene.argument.open_round, OPEN_ROUND)
    coin = _make_coin(scene, scene.argument.receiver, units, open_round)
    return {"amuletSum": {"amulet": coin, "round": open_round.payload["round"]}}


def _lock(scene: Scene) -> str:
    coin, lock = scene.act.fetch(scene.argument.amulet, COIN), scene.argument.lock
    if coin.owner != scene.argument.owner:
        raise failed(f"the coin {coin.contract_id} is not {scene.argument.owner}'s")
    if lock.expires_at <= scene.act.now:
        raise failed(f"the lock would have run out at {timestamps.trimmed(lock.expires_at)}")
    scene.archive(coin)
    return scene.create(LOCKED_COIN, {"amulet": coin.payload, "lock": write_record(lock)})


def _unlock(scene: Scene) -> dict[str, Any]:
    scene.act.fetch(scene.argument.open_round_cid, OPEN_ROUND)
    return {"amuletSum": {"amulet": scene.create(COIN, scene.payload["amulet"])}, "meta": None}


def _expire_lock(scene: Scene) -> dict[str, Any]:
    until = scene.payload["lock"]["expiresAt"]
    if timestamps.parse(until) > scene.act.now:
        raise failed(f"the lock runs until {until}")
    return _unlock(scene)


def _consent(scene: Scene) -> dict[str, Any]:
    wanted = write_record(scene.argument)
    if scene.argument.expires_at <= scene.act.now:
        raise failed(f"the consent would have run out at {wanted['expiresAt']}")
    begin = timestamps.trimmed(scene.act.now)
    payload = {
        "dso": scene.stage.cast.dso,
        "receiver": wanted["receiver"],
        "provider": wanted["provider"],
        "validFrom": begin,
        "lastRenewedAt": begin,
        "expiresAt": wanted["expiresAt"],
    }
    return {"transferPreapprovalCid": scene.create(PREAPPROVAL, payload), "amuletPaid": decimal(0)}


def _send(scene: Scene) -> dict[str, Any]:
    wanted = scene.argument
    if timestamps.parse(scene.payload["expiresAt"]) <= scene.act.now:
        raise failed(f"the consent ran out at {scene.payload['expiresAt']}")
    outputs = [(scene.payload["receiver"], int(wanted.amount))]
    open_round = scene.act.fetch(wanted.open_round, OPEN_ROUND)
    moved = move_coin(scene, wanted.sender, wanted.inputs, outputs, open_round=open_round)
    return {"transferResult": moved.created, "senderChangeAmulet": moved.change}


def _cancel(scene: Scene) -> None:
    if scene.argument.p not in (scene.payload["receiver"], scene.payload["provider"]):
        raise failed(f"{scene.argument.p} is neither receiver nor provider")


COIN_MODEL: Final = Model(
    COIN,
    signatories=lambda payload: (payload["dso"], payload["owner"]),
    owner=lambda payload: str(payload["owner"]),
)
LOCKED_COIN_MODEL: Final = Model(
    LOCKED_COIN,
    signatories=lambda payload: (payload["amulet"]["dso"], payload["amulet"]["owner"], *payload["lock"]["holders"]),
    choices=(
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
            lambda _, argument: (argument.transfer.sender, *(one.receiver for one in argument.transfer.outputs)),
            _transfer,
            consuming=False,
        ),
        Choice("AmuletRules_DevNet_Tap", Tap, lambda _, argument: (argument.receiver,), _tap, consuming=False),
        Choice(
            "AmuletRules_LockAmulet",
            LockCoin,
            lambda _, argument: (argument.owner, *argument.lock.holders),
            _lock,
            consuming=False,
        ),
        Choice(
            "AmuletRules_CreateTransferPreapproval",
            Consent,
            lambda _, argument: (argument.receiver, argument.provider),
            _consent,
            consuming=False,
        ),
    ),
)
