"""Turns a world into plain records and back, whatever it is made of; world files hold these records.

Every object that a world reaches becomes one record `[kind, ...]`, and records point at each other by number, so that
what was shared or circular is so again. Records are JSON, not pickles: a file that somebody else wrote can name classes
and functions of the sandbox, and nothing else is ever made or called from it.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from decimal import Decimal
from importlib import import_module
from random import Random
from types import FunctionType, MethodType
from typing import Any, Final

PACKAGE: Final = "ledgerframes.sandbox."
PLAIN: Final = (str, int, float, bool, type(None))

Record = list[Any]
_LOCKS: Final = (type(threading.RLock()), type(threading.Lock()))
_MAPPINGS: Final[dict[str, type]] = {"dict": dict, "counter": Counter, "ordered": OrderedDict}
_GROUPS: Final[dict[str, type]] = {"list": list, "set": set, "tuple": tuple, "frozenset": frozenset, "deque": deque}
_NAMES: Final = {kind: name for name, kind in (_MAPPINGS | _GROUPS).items()}


class KeepingError(Exception):
    """An object that cannot be saved, or records that cannot be rebuilt."""


def records_of(root: object) -> Iterator[tuple[Record, bytes]]:
    """Every object that can be reached from one, each as a record and the bytes that belong to it.

    The same state gives the same records. A reference is a list of one number; the root has the number 0.

    Raises:
        KeepingError: an object is of a sort that cannot be kept.
    """
    writer = _Writer()
    writer.refer(root)
    position = 0
    while position < len(writer.objects):
        yield writer.record(writer.objects[position])
        position += 1


class _Writer:
    """Numbers objects as it meets them; it holds on to them, so that no identity is used twice."""

    def __init__(self) -> None:
        self.objects: list[Any] = []
        self._constants = _constants()
        self._numbers: dict[int, int] = {}

    def refer(self, value: Any) -> Any:
        """How a record mentions a value: plain ones as they are, others by number."""
        if type(value) in PLAIN:
            return value
        number = self._numbers.setdefault(id(value), len(self.objects))
        if number == len(self.objects):
            self.objects.append(value)
        return [number]

    def record(self, value: Any) -> tuple[Record, bytes]:
        kind = type(value)
        if kind in _NAMES:
            return [_NAMES[kind], *self._members(value)], b""
        if kind is bytes:
            return ["bytes"], value
        if id(value) in self._constants:
            return ["constant", self._constants[id(value)]], b""
        if kind.__module__.startswith(PACKAGE):
            return self._instance(value), b""
        return self._special(value), b""

    def _members(self, value: Any) -> Record:
        if isinstance(value, dict):
            return [[self.refer(element) for pair in value.items() for element in pair]]
        if isinstance(value, set | frozenset):
            return [[self.refer(element) for element in sorted(value, key=repr)]]
        limit = [value.maxlen] if isinstance(value, deque) else []
        return [[self.refer(element) for element in value], *limit]

    def _instance(self, value: Any) -> Record:
        names = _names(type(value), value)
        attributes = value if isinstance(value, tuple) else [getattr(value, name) for name in names]
        return ["object", _path(type(value)), names, [self.refer(attribute) for attribute in attributes]]

    def _special(self, value: Any) -> Record:
        if isinstance(value, _LOCKS):
            return ["lock"]
        if isinstance(value, Random):
            version, numbers, gauss = value.getstate()
            return ["random", version, list(numbers), gauss]
        if isinstance(value, Decimal):
            return ["decimal", str(value)]
        if isinstance(value, MethodType):
            return ["method", self.refer(value.__self__), value.__name__]
        if isinstance(value, FunctionType) and value.__module__.startswith(PACKAGE):
            return ["function", _path(value)]
        raise KeepingError(f"a {type(value).__module__}.{type(value).__qualname__} cannot be kept")


def rebuild(records: Sequence[Record], contents: Sequence[bytes]) -> Any:
    """Rebuild the objects from the records of `records_of`.

    Args:
        records: in their order.
        contents: the bytes that belong to each.

    Returns:
        The root.

    Raises:
        KeepingError: the records make no sense, or were written by a release with other classes.
    """
    try:
        return _Reader(records, contents).root()
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        raise KeepingError(f"the records make no sense ({error!r})") from error


class _Reader:
    """Makes what can be changed empty first and fills it later, so that circles close."""

    def __init__(self, records: Sequence[Record], contents: Sequence[bytes]) -> None:
        self._records = records
        self._contents = contents
        self._made: dict[int, Any] = {}
        self._strings: dict[str, str] = {}
        self._unfilled: list[Callable[[], None]] = []

    def root(self) -> Any:
        for number in range(len(self._records)):
            self._make(number)
        for fill in self._unfilled:
            fill()
        return self._made[0]

    def _value(self, mention: Any) -> Any:
        if type(mention) is list:
            (number,) = mention
            return self._make(number)
        # The same text stands in many records; one copy of it is enough.
        return self._strings.setdefault(mention, mention) if type(mention) is str else mention

    def _values(self, mentions: list[Any]) -> list[Any]:
        return [self._value(mention) for mention in mentions]

    def _make(self, number: int) -> Any:
        if number not in self._made:
            kind, *rest = self._records[number]
            make = getattr(self, f"_make_{kind}", None)
            self._made[number] = made = self._group(kind, *rest) if make is None else make(number, *rest)
            return made
        return self._made[number]

    def _group(self, kind: str, members: list[Any], limit: int | None = None) -> Any:
        """A list, set, mapping or the like; tuples and frozen sets have their members from the beginning."""
        if kind in ("tuple", "frozenset"):
            return _GROUPS[kind](self._values(members))
        if kind in _MAPPINGS:
            mapping = _MAPPINGS[kind]()
            self._unfilled.append(lambda: _put(mapping, self._values(members)))
            return mapping
        group: Any = deque(maxlen=limit) if kind == "deque" else _GROUPS[kind]()
        fill = group.update if kind == "set" else group.extend
        self._unfilled.append(lambda: fill(self._values(members)))
        return group

    def _make_object(self, _number: int, path: str, names: list[str], mentions: list[Any]) -> Any:
        kind = _found(path)
        if not isinstance(kind, type):
            raise KeepingError(f"{path} is no class")
        if issubclass(kind, tuple):
            _check_names(kind, names)
            return kind.__new__(kind, *self._values(mentions))
        made = kind.__new__(kind)
        _check_names(kind, names)
        if _is_frozen(kind):
            _fill(made, names, self._values(mentions))
        else:
            self._unfilled.append(lambda: _fill(made, names, self._values(mentions)))
        return made

    def _make_constant(self, _number: int, path: str) -> Any:
        module, _, name = path.partition(":")
        constant = getattr(_module(module), name, None)
        if not _is_frozen(type(constant)):
            raise KeepingError(f"this release has no {path}")
        return constant

    def _make_bytes(self, number: int) -> bytes:
        return self._contents[number]

    def _make_lock(self, _number: int) -> Any:
        return threading.RLock()

    def _make_random(self, _number: int, version: int, numbers: list[int], gauss: float | None) -> Random:
        made = Random()
        made.setstate((version, tuple(numbers), gauss))
        return made

    def _make_decimal(self, _number: int, text: str) -> Decimal:
        return Decimal(text)

    def _make_method(self, _number: int, owner: Any, name: str) -> Any:
        bound = self._value(owner)
        if not isinstance(getattr(type(bound), name), FunctionType):
            raise KeepingError(f"{name} is no method")
        return getattr(bound, name)

    def _make_function(self, _number: int, path: str) -> Any:
        function = _found(path)
        if not isinstance(function, FunctionType):
            raise KeepingError(f"{path} is no function")
        return function


def _names(kind: type, value: Any) -> list[str]:
    """What an object's attributes are called, in their order."""
    if is_dataclass(kind):
        return [field.name for field in fields(kind)]
    if isinstance(value, tuple):
        return list(getattr(kind, "_fields", ()))
    return list(getattr(kind, "__struct_fields__", ())) or list(vars(value))


def _check_names(kind: type, names: list[str]) -> None:
    """Refuse an object that this release would build otherwise, as far as its class declares how."""
    declared = [field.name for field in fields(kind)] if is_dataclass(kind) else None
    declared = list(getattr(kind, "_fields", ())) or declared or list(getattr(kind, "__struct_fields__", ())) or names
    if declared != names:
        raise KeepingError(f"a {kind.__name__} has {', '.join(declared)} in this release, not {', '.join(names)}")


def _is_frozen(kind: type) -> bool:
    return is_dataclass(kind) and bool(kind.__dataclass_params__.frozen)  # type: ignore[attr-defined]


def _fill(made: object, names: list[str], values: list[Any]) -> None:
    for name, value in zip(names, values, strict=True):
        object.__setattr__(made, name, value)


def _constants() -> dict[int, str]:
    """The frozen values that the sandbox's modules define at their top, such as templates, by identity."""
    modules = [module for name, module in sorted(sys.modules.items()) if name.startswith(PACKAGE)]
    return {
        id(vars(module)[name]): f"{module.__name__}:{name}"
        for module in modules
        for name in getattr(module, "__annotations__", ())
        if _is_frozen(type(vars(module).get(name)))
    }


def _put(mapping: Any, flat: list[Any]) -> None:
    """Fill a mapping, one by one: a Counter's own update would count."""
    for key, value in zip(flat[::2], flat[1::2], strict=True):
        mapping[key] = value


def _path(named: Any) -> str:
    """Where a class or function is defined; one inside another cannot be found again."""
    path = f"{named.__module__}:{named.__qualname__}"
    if getattr(sys.modules[named.__module__], named.__qualname__, None) is not named:
        raise KeepingError(f"{path} cannot be kept, since it is not defined at the top of its module")
    return path


def _found(path: str) -> Any:
    """The class or function of that path; of the sandbox's modules alone."""
    module, _, name = path.partition(":")
    found = getattr(_module(module), name, None)
    # A name that a module only imports, such as `os`, must not be reachable from a file.
    if getattr(found, "__module__", "") != module:
        raise KeepingError(f"this release has no {path}")
    return found


def _module(name: str) -> Any:
    # Importing a `__main__` would run a program.
    if not name.startswith(PACKAGE) or name.endswith("__main__"):
        raise KeepingError(f"{name} is not of the sandbox")
    try:
        return import_module(name)
    except ImportError as error:
        raise KeepingError(f"this release has no {name}") from error
