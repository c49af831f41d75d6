"""Reads the steps of the token standard, version 1: who sends how much to whom, and what the step did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec import field as member

from ledgerframes.economics.reading.choices import (
    ALLOCATE,
    ALLOCATION_STEPS,
    BURN_MINT,
    INSTRUCTION_STEPS,
    TRANSFER_FACTORY,
)
from ledgerframes.economics.reading.models import META, Meta
from ledgerframes.economics.reading.not_understood import NotUnderstood
from ledgerframes.economics.reading.parsing import fits, parsed

#: What a contract of an instruction or an allocation is needed for.
_OF_CONTRACTS: Final = (*INSTRUCTION_STEPS, *ALLOCATION_STEPS)
_GIVEN_UP: Final = ("TransferInstruction_Reject", "TransferInstruction_Withdraw")
COLUMNS: Final = (
    *("update_id", "event_id", "parent_event_id", "template_name", "choice", "interface_id", "contract_id"),
    *("payload", "exercise_result"),
)


class Instrument(Struct, frozen=True, gc=False):
    """An instrument's administrator and id."""

    admin: str
    id: str


class Leg(Struct, frozen=True, gc=False):
    """A transfer, or the leg of an allocation."""

    sender: str
    receiver: str
    amount: Decimal | None = None
    instrument: Instrument | None = member(name="instrumentId", default=None)
    meta: Meta | None = None


class Allocation(Struct, frozen=True, gc=False):
    """An allocation's leg."""

    leg: Leg = member(name="transferLeg")


class ExtraArgs(Struct, frozen=True, gc=False):
    """What a caller adds to a choice."""

    meta: Meta | None = None


class MintOutput(Struct, frozen=True, gc=False):
    """A holding to mint."""

    owner: str
    amount: Decimal


class StepArgument(Struct, frozen=True, gc=False):
    """The argument of any step; each has some of these members."""

    transfer: Leg | None = None
    allocation: Allocation | None = None
    instrument: Instrument | None = member(name="instrumentId", default=None)
    inputs: list[str] = member(name="inputHoldingCids", default_factory=list)
    outputs: list[MintOutput] = member(default_factory=list)
    admin: str | None = member(name="expectedAdmin", default=None)
    extra: ExtraArgs | None = member(name="extraArgs", default=None)
    meta: Meta | None = None

    @property
    def given(self) -> Meta | None:
        """The metadata of the extra arguments."""
        return None if self.extra is None else self.extra.meta


class StepContract(Struct, frozen=True, gc=False):
    """The contract of an instruction or an allocation."""

    transfer: Leg | None = None
    allocation: Allocation | None = None

    @property
    def leg(self) -> Leg | None:
        """What it transfers."""
        return self.transfer if self.allocation is None else self.allocation.leg


class StepOutput(Struct, frozen=True, gc=False):
    """What a step did."""

    tag: str
    value: Any = None


class StepResult(Struct, frozen=True, gc=False):
    """What a step returned."""

    output: StepOutput | None = None
    receivers: list[str] = member(name="receiverHoldingCids", default_factory=list)
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One leg of a step of the token standard; what is not known is null.

    Attributes:
        row: the row of its exercise.
        leg: its number in the exercise.
        sender: who sends.
        receiver: who receives.
        amount: how much.
        instrument: of what.
        meta: the merged metadata, the last to state a key counting.
        step: pending, completed, failed or allocated.
        kind: transfer, mint or burn, by what the choice is.
        receivers: the holdings that the receiver was given.
        admin: the instrument's administrator, where the instrument is not stated.
    """

    row: int
    leg: int
    sender: str | None
    receiver: str | None
    amount: Decimal | None
    instrument: Instrument | None
    meta: Mapping[str, Any]
    step: str
    kind: str = "transfer"
    receivers: list[str] = field(default_factory=list)
    admin: str | None = None

    def stated(self, key: str) -> str | None:
        """A text of the metadata."""
        value = self.meta.get(META + key)
        return value if isinstance(value, str) and value else None


def steps_of(rows: pa.Table, contracts: pa.Table, notes: NotUnderstood) -> list[Step]:
    """The legs of some steps.

    Args:
        rows: exercises, with `COLUMNS`.
        contracts: the contracts of instructions and allocations that are known: contract_id and payload.
        notes: where exercises that cannot be read are counted.
    """
    pairs = zip(rows["template_name"].to_pylist(), rows["choice"].to_pylist(), strict=True)
    names = [f"{template}/{choice}" for template, choice in pairs]
    arguments = parsed(rows["payload"], StepArgument, names, notes)
    results = parsed(_records(rows["exercise_result"]), StepResult, names, notes)
    legs = _legs(rows, contracts)
    all_steps = []
    columns = zip(rows["choice"].to_pylist(), rows["contract_id"].to_pylist(), arguments, results, strict=True)
    for row, (choice, contract, argument, result) in enumerate(columns):
        if argument is None or result is None:
            continue
        steps = _steps(row, choice, argument, result, legs.get(contract))
        if all(fits(step.amount) for step in steps):
            all_steps += steps
        else:
            notes[names[row]] += 1
    return all_steps


def _records(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.if_else(pc.fill_null(pc.starts_with(texts, "{"), False), texts, "{}")  # noqa: FBT003


def _legs(rows: pa.Table, contracts: pa.Table) -> dict[str, Leg | None]:
    """What each contract of an instruction or an allocation transfers."""
    asked = rows["contract_id"].filter(pc.is_in(rows["choice"], pa.array(_OF_CONTRACTS)))
    known = contracts.filter(pc.is_in(contracts["contract_id"], asked))
    # Instructions of other tokens are of other shapes, so what cannot be read is not known, and no error.
    read = parsed(_records(known["payload"]), StepContract, [""] * known.num_rows, NotUnderstood())
    legs = [None if contract is None else contract.leg for contract in read]
    return dict(zip(known["contract_id"].to_pylist(), legs, strict=True))


def _steps(row: int, choice: str, argument: StepArgument, result: StepResult, leg: Leg | None) -> list[Step]:
    if choice == BURN_MINT:
        return _burn_mint(row, argument, result)
    if choice == TRANSFER_FACTORY:
        leg = argument.transfer
    elif choice == ALLOCATE:
        leg = None if argument.allocation is None else argument.allocation.leg
    meta = _merged(None if leg is None else leg.meta, argument.given, argument.meta, result.meta)
    given = result.receivers
    if result.output is not None and isinstance(result.output.value, dict):
        given = [name for name in result.output.value.get("receiverHoldingCids", []) if isinstance(name, str)]
    step = _step(choice, result)
    if leg is None:
        return [Step(row, 0, None, None, None, None, meta, step, receivers=given, admin=argument.admin)]
    said = (leg.sender, leg.receiver, leg.amount, leg.instrument)
    return [Step(row, 0, *said, meta, step, receivers=given, admin=argument.admin)]


def _step(choice: str, result: StepResult) -> str:
    if choice in ALLOCATION_STEPS:
        return "completed" if choice == ALLOCATION_STEPS[0] else "failed"
    tag = "" if result.output is None else result.output.tag.rpartition("_")[2].lower()
    if choice == ALLOCATE:
        return "allocated" if tag in {"", "completed"} else tag
    return tag or ("failed" if choice in _GIVEN_UP else "completed")


def _burn_mint(row: int, argument: StepArgument, result: StepResult) -> list[Step]:
    meta = _merged(argument.given, argument.meta, result.meta)
    made = [
        Step(row, leg, None, output.owner, output.amount, argument.instrument, meta, "completed", "mint")
        for leg, output in enumerate(argument.outputs)
    ]
    if not argument.inputs:
        return made
    # The amounts of what is burned are in the views of its holdings, which the argument does not state.
    return [*made, Step(row, len(made), None, None, None, argument.instrument, meta, "completed", "burn")]


def _merged(*metas: Meta | None) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for meta in metas:
        merged |= {} if meta is None else meta.values
    return merged


def kind_of(meta: Mapping[str, Any], sender: str | None, receiver: str | None, *, burned: bool = False) -> str:
    """What a transfer is: what its metadata says, but for one to oneself."""
    stated = meta.get(f"{META}tx-kind")
    if isinstance(stated, str) and stated and stated != "transfer":
        return stated
    if burned:
        return "burn"
    return "self" if sender is not None and sender == receiver else "transfer"
