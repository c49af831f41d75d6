"""The contract's rules for single arguments; the interfaces apply them before anything is sent."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any, Final, get_args

import msgspec
from msgspec import Meta, Struct

from ledgerframes.arguments import names, shown
from ledgerframes.errors import InputError

# Far beyond what ledgers take. Python's own limit comes at any instruction, also in code that tidies up behind objects.
_DEEPEST: Final = 400
#: The most items in a request's list: the maximum of scans of 0.9 and later.
LARGEST_LIST: Final = 1_000

Text = Annotated[str, Meta(min_length=1, description="text that is not empty")]
# `\Z` in these patterns, because `$` also matches before a line feed at the end.
LedgerString = Annotated[
    str,
    Meta(pattern=r"^[A-Za-z0-9#:\-_/ ]{1,255}\Z", description="1 to 255 of A-Z a-z 0-9 # : - _ / and space"),
]
PartyId = Annotated[
    str, Meta(pattern=r"^[A-Za-z0-9:\-_ ]{1,255}\Z", description="a party id: 1 to 255 of A-Z a-z 0-9 : - _ and space")
]
UserId = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z0-9@^$.!\-#+'~_|:()`]{1,128}\Z",
        description="a user id: 1 to 128 of A-Z a-z 0-9 @ ^ $ . ! - # + ' ~ _ | : ( ) `",
    ),
]
Positive32 = Annotated[int, Meta(ge=1, le=2**31 - 1, description="a whole number from 1 to 2147483647")]
Count32 = Annotated[int, Meta(ge=0, le=2**31 - 1, description="a whole number from 0 to 2147483647")]
Count64 = Annotated[int, Meta(ge=0, le=2**63 - 1, description="a whole number from 0 to 9223372036854775807")]
Whole64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1, description="a whole number of 64 bits")]
Nanos = Annotated[int, Meta(ge=0, le=999_999_999, description="a whole number from 0 to 999999999")]


def fits(value: Any, kind: Any, name: str) -> Any:
    """Check one value; whole numbers of other libraries become Python's own.

    Args:
        value: the caller's value.
        kind: one of the kinds above, any type that msgspec knows, or Structs of this package, whose members are
            checked too; `| None` if it may be left out.
        name: the argument, for the message.

    Raises:
        InputError: the value is not of the kind, or a member of it is a number that JSON cannot represent.
    """
    if structs := _structs(kind):
        if not isinstance(value, structs):
            raise InputError(f"{name}={shown(value)}; give {_described(kind) or _either(structs)}")
        _check_members(value, name)
        return value
    if not isinstance(value, int | str | float | Struct) and hasattr(value, "__index__"):
        # Whole numbers of numpy and pandas are accepted too; msgspec knows only Python's.
        with suppress(TypeError):
            value = operator.index(value)
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        # Without a description of its own, a kind is described by what msgspec expected.
        rule = _described(kind) or str(error).removeprefix("Expected ").replace(" | null", "")
        raise InputError(f"{name}={shown(value)}; give {rule}") from error


def _structs(kind: Any) -> tuple[type[Struct], ...]:
    """The Structs that a kind names; none for every other kind."""
    bare = get_args(kind)[0] if hasattr(kind, "__metadata__") else kind
    kinds = get_args(bare) or (bare,)
    return kinds if all(isinstance(one, type) and issubclass(one, Struct) for one in kinds) else ()


def _either(structs: Sequence[type[Struct]]) -> str:
    names = [one.__name__ for one in structs]
    words = " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return f"{'an' if words[0] in 'AEIOU' else 'a'} {words}"


def _check_members(value: Struct, name: str) -> None:
    """Check every member of a value against the type its declaration states."""
    for field in msgspec.structs.fields(value):
        member = getattr(value, field.name)
        if field.type is Any:
            writable(member, f"{name}.{field.name}")
        else:
            fits(member, field.type, f"{name}.{field.name}")


def wrapped(value: Struct) -> dict[str, Any]:
    """One of several variants as the ledger interface writes it: under its name, which is `Empty` for an empty one."""
    name = type(value).__name__
    return {"Empty": {}} if name.startswith("Empty") else {name: {"value": msgspec.to_builtins(value)}}


def each(values: Iterable[Any], name: str, *, kind: Any = Any, least: int = 0) -> tuple[Any, ...]:
    """Check a list, an array or a column of values.

    Args:
        values: any iterable except text and mappings, whose parts are rarely intended.
        name: the argument, for the message.
        kind: what every value has to be.
        least: the minimum number of values.

    Raises:
        InputError: there are too few, or one is not of the kind.
    """
    if isinstance(values, str | bytes | Mapping | Struct) or not isinstance(values, Iterable):
        raise InputError(f"{name}={shown(values)}; give a list")
    listed = tuple(values)
    if len(listed) < least:
        raise InputError(f"{name}={shown(list(listed))}; give at least {least}")
    return tuple(fits(value, kind, f"{name}[{position}]") for position, value in enumerate(listed))


def distinct(values: Iterable[str], name: str, kind: Any = Text) -> list[str]:
    """Check several texts, as `names` takes them, and keep each once, in the caller's order.

    Raises:
        InputError: they are not texts, there is none, or one is not of the kind.
    """
    listed = list(dict.fromkeys(each(names(values, name), name, kind=kind)))
    if not listed:
        raise InputError(f"{name} is empty: give at least one")
    return listed


def writable(value: Any, name: str) -> None:
    """Refuse NaN and infinity, which would go out as null, anywhere in a value to be written as JSON.

    Raises:
        InputError: there is one, or the value is nested too deeply, or without end.
    """
    _search(value, name, name, 0)


def without_none(**members: Any) -> dict[str, Any]:
    """The members of a JSON object, without those that are None."""
    return {name: value for name, value in members.items() if value is not None}


def listed(values: Iterable[Any], name: str, kind: Any, *, splits: str) -> tuple[Any, ...]:
    """Check the list of a request: 1 to 1,000 items.

    Args:
        values: what the caller gave.
        name: the argument, for the message.
        kind: what every value has to be.
        splits: the loader that sends a longer list as several requests, by `thousands`.

    Raises:
        InputError: it has none or too many, or one is not of the kind.
    """
    checked = each(values, name, kind=kind, least=1)
    if len(checked) > LARGEST_LIST:
        raise InputError(
            f"{name} has {len(checked):,} items; a request takes {LARGEST_LIST:,} at most: lf.{splits} splits longer"
            " lists"
        )
    return checked


def thousands(values: Sequence[str]) -> list[list[str]]:
    """Split the list of a request into parts that `listed` accepts."""
    return [list(values[start : start + LARGEST_LIST]) for start in range(0, len(values), LARGEST_LIST)]


def _search(value: Any, name: str, place: str, depth: int) -> None:
    if depth > _DEEPEST:
        raise InputError(f"{name} is nested too deeply, or contains itself; give a flatter value")
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{place}={value!r}; JSON has no such number, give another or decimal text")
    if isinstance(value, Mapping):
        for key, member in value.items():
            _search(member, name, f"{place}[{key!r}]", depth + 1)
    elif isinstance(value, list | tuple):
        for position, member in enumerate(value):
            _search(member, name, f"{place}[{position}]", depth + 1)


def _described(kind: Any) -> str:
    """A kind's own description, empty if it has none."""
    rules = (rule for part in (kind, *get_args(kind)) for rule in getattr(part, "__metadata__", ()))
    return next((str(rule.description) for rule in rules if rule.description), "")
