"""Commands that create contracts and exercise choices, and what may go with them; used by the ledger interface."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from ledgerframes.interfaces.rules import Count64, Nanos, Positive32, Text, each, fits, wrapped


class CreateCommand(Struct, frozen=True, kw_only=True, rename="camel"):
    """Creates a contract.

    Attributes:
        template_id: `#package-name:Module:Entity`, or with a package id, which is deprecated.
        create_arguments: the template's record; amounts as `Decimal` or text.
    """

    template_id: Text
    create_arguments: Any


class ExerciseCommand(Struct, frozen=True, kw_only=True, rename="camel"):
    """Exercises a choice on a contract.

    Attributes:
        template_id: template or interface that has the choice.
        contract_id: the contract.
        choice: the choice's name.
        choice_argument: the choice's record; `{}` where it takes nothing.
    """

    template_id: Text
    contract_id: Text
    choice: Text
    choice_argument: Any


class ExerciseByKeyCommand(Struct, frozen=True, kw_only=True, rename="camel"):
    """Exercises a choice on the contract that a key names.

    Attributes:
        template_id: the template that has key and choice.
        contract_key: the key, text or a record.
        choice: the choice's name.
        choice_argument: the choice's record; `{}` where it takes nothing.
    """

    template_id: Text
    contract_key: Any
    choice: Text
    choice_argument: Any


class CreateAndExerciseCommand(Struct, frozen=True, kw_only=True, rename="camel"):
    """Creates a contract and exercises a choice on it at once.

    Attributes:
        template_id: the template that has the choice.
        create_arguments: the template's record.
        choice: the choice's name.
        choice_argument: the choice's record; `{}` where it takes nothing.
    """

    template_id: Text
    create_arguments: Any
    choice: Text
    choice_argument: Any


Command = CreateCommand | ExerciseCommand | ExerciseByKeyCommand | CreateAndExerciseCommand


class Duration(Struct, frozen=True):
    """A span of time of the ledger interface, in seconds and nanoseconds."""

    seconds: Count64
    nanos: Nanos = 0


class DeduplicationDuration(Struct, frozen=True):
    """The same change is refused for this long."""

    seconds: Count64
    nanos: Nanos = 0


class DeduplicationOffset(Struct, frozen=True):
    """The same change is refused if it was completed after this offset of the participant."""

    offset: Count64


class EmptyDeduplication(Struct, frozen=True):
    """The variant without meaning, `Empty`: the participant's own period."""


DeduplicationPeriod = DeduplicationDuration | DeduplicationOffset | EmptyDeduplication


class PrefetchContractKey(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A key whose contracts are fetched ahead.

    Attributes:
        template_id: the template that has the key.
        contract_key: the key, text or a record.
        limit: how many contracts at most; without it, one.
    """

    template_id: Text
    contract_key: Any
    limit: Positive32 | None = None


def commands_json(commands: Iterable[Command], name: str) -> list[dict[str, Command]]:
    """Commands as the ledger interface writes them, each under its one variant's name.

    Raises:
        InputError: it is empty, or an item breaks a rule.
    """
    return [{type(command).__name__: command} for command in each(commands, name, kind=Command, least=1)]


def deduplication_json(period: DeduplicationPeriod, name: str) -> dict[str, Any]:
    """A deduplication period as the ledger interface writes it.

    Raises:
        InputError: it is of another type, or a member is out of its range.
    """
    checked = fits(period, DeduplicationPeriod, name)
    if isinstance(checked, DeduplicationOffset):
        return {"DeduplicationOffset": {"value": checked.offset}}
    return wrapped(checked)
