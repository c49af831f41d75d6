"""What coins and payments are made of, for items that a test writes by hand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.economics.items import DSO, Node, exercise

RULES = "Splice.AmuletRules:AmuletRules"


def coin(owner: str, amount: str, *, number: int = 1, rate: str = "0.1000000000") -> dict[str, Any]:
    """The arguments of a coin."""
    return {
        "dso": DSO, "owner": owner,
        "amount": {"initialAmount": amount, "createdAt": {"number": str(number)}, "ratePerRound": {"rate": rate}},
    }  # fmt: skip


def locked(owner: str, amount: str, *, holders: tuple[str, ...] = ("bob",), number: int = 1) -> dict[str, Any]:
    """The arguments of a locked coin."""
    lock = {"holders": list(holders), "expiresAt": "2026-02-01T00:00:00Z", "optContext": None}
    return {"amulet": coin(owner, amount, number=number), "lock": lock}


def result(number: int = 7, *, meta: dict[str, str] | None = None, **values: Any) -> dict[str, Any]:
    """What a transfer returns; what is not given of its summary is 0."""
    inputs = (
        f"input{name}Amount" for name in ("AppReward", "ValidatorReward", "ValidatorFaucet", "SvReward", "Amulet")
    )
    none = dict.fromkeys((*inputs, "holdingFees", "senderChangeFee", "senderChangeAmount"), "0E-10")
    summary = none | {"outputFees": [], "balanceChanges": [], "amuletPrice": "0.0050000000"} | values
    found = {"round": {"number": str(number)}, "summary": summary, "createdAmulets": []}
    return found | {"senderChangeAmulet": None, "meta": None if meta is None else {"values": meta}}


def transfer(
    sender: str, inputs: list[tuple[str, str]], outputs: list[dict[str, Any]], provider: str = "app"
) -> dict[str, Any]:
    """The argument of a transfer."""
    listed = [{"tag": tag, "value": value} for tag, value in inputs]
    return {"transfer": {"sender": sender, "provider": provider, "inputs": listed, "outputs": outputs}, "context": {}}


def paid(
    *children: Node, inputs: Iterable[tuple[str, str]] = (("InputAmulet", "in"),), outputs: Iterable[Any] = (),
    sender: str = "alice", provider: str = "app", number: int = 7, meta: dict[str, str] | None = None, **values: Any,
) -> Node:  # fmt: skip
    """A transfer with its result, whose summary states these values."""
    given = result(number, meta=meta, **values)
    argument = transfer(sender, [*inputs], [*outputs], provider)
    return exercise(RULES, "rules", "AmuletRules_Transfer", argument, given, *children)


def output(receiver: str, amount: str, ratio: str = "0.0000000000", lock: Any = None) -> dict[str, Any]:
    """An output of a transfer."""
    return {"receiver": receiver, "amount": amount, "receiverFeeRatio": ratio, "lock": lock}
