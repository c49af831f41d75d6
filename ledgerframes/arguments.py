"""Reads callers' arguments: every public function checks them with these before anything is sent, read or written."""

from __future__ import annotations

import math
import operator
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from datetime import timedelta
from difflib import get_close_matches
from functools import wraps
from inspect import signature
from numbers import Real
from typing import Any, Final, NoReturn, ParamSpec, TypeVar

from ledgerframes.errors import ConfigurationError, InputError
from ledgerframes.number_format import rows_text
from ledgerframes.timestamps import DAY

P = ParamSpec("P")
R = TypeVar("R")

_LONGEST_SHOWN: Final = 100
#: Words of a choice that a message lists although one of them is near.
_FEW: Final = 10
_UNITS: Final = {
    unit: micros
    for units, micros in (
        ("us micro micros microsecond microseconds", 1),
        ("ms milli millis millisecond milliseconds", 1_000),
        ("s sec secs second seconds", 1_000_000),
        ("m min mins minute minutes", 60_000_000),
        ("h hr hrs hour hours", 3_600_000_000),
        ("d day days", DAY),
        ("w week weeks", 7 * DAY),
    )
    for unit in units.split()
}
_ENTITY: Final = re.compile(r"[^:#]+:[^:]+")
_DURATION: Final = re.compile(r"\s*(?:\d+(?:\.\d+)?\s*[A-Za-z]+\s*)+", re.ASCII)
_PART: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]+)", re.ASCII)
#: 100 years; a lock cannot wait for 300.
_LONGEST_DURATION: Final = 36_525 * DAY
_LESS_MEMORY: Final = (
    "raise the limit (of models and SQL, LEDGERFRAMES_MEMORY_LIMIT), or ask for less at once: a shorter range,"
    " columns=, workers=1, commit_bytes="
)
#: The messages of Python and Arrow if a thread's stack does not fit.
_NO_THREAD: Final = re.compile(r"can't start new thread|Failed to launch worker thread")
_DURATION_FORMS: Final = 'such as "30min", "1h" or "7d", as a timedelta, or as a number of seconds'
_WITH_UNIT_FORMS: Final = 'such as "30min", "1h" or "7d", or as a timedelta; a bare number has no unit'


def refuse(name: str, value: object, rule: str) -> NoReturn:
    """Raise the error for a wrong argument: the value, the rule, the remedy.

    Raises:
        InputError: always.
    """
    raise InputError(f"{name}={shown(value)} is not valid: {rule}")


def shown(value: object) -> str:
    """A value for a message: on one line, and shortened; frames by their size."""
    if isinstance(value, tuple | list) and any(_rows(item) is not None for item in value):
        return f"a {type(value).__name__} of {len(value)} frames"
    if (rows := _rows(value)) is not None:
        return f"a {type(value).__name__} of {rows_text(rows)}"
    text = " ".join(repr(value).split()) if not isinstance(value, str) else repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"


def _rows(value: object) -> int | None:
    """The number of rows of a frame of any library; None if it is none."""
    size = getattr(value, "shape", None)
    return size[0] if isinstance(size, tuple) and len(size) == 2 and isinstance(size[0], int) else None


def whole_number(value: Any, name: str, *, least: int | None = None, most: int | None = None) -> int:
    """Read a whole number of any library's integer type; True and False are not numbers.

    Args:
        value: the caller's value.
        name: the argument's name, for the message.
        least: the smallest number allowed.
        most: the largest number allowed.

    Raises:
        InputError: it is not a whole number, or lies outside the bounds.
    """
    number = _index(value)
    if number is None or (least is not None and number < least) or (most is not None and number > most):
        refuse(name, value, f"give a whole number{_bounds(least, most)}")
    return number


def _index(value: Any) -> int | None:
    # numpy counts a timedelta64 among its integers
    if isinstance(value, bool) or _kind(value) in {"b", "m"}:
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def _kind(value: Any) -> str:
    """The kind of a numpy scalar, such as "i"; empty for everything else."""
    return str(getattr(getattr(value, "dtype", None), "kind", ""))


def _bounds(least: int | None, most: int | None) -> str:
    if least is not None and most is not None:
        return f" from {least:,} to {most:,}"
    if least is not None:
        return f" of {least:,} or more"
    return "" if most is None else f" of {most:,} or less"


def flag(value: Any, name: str) -> bool:
    """Read True or False, numpy's too.

    Raises:
        InputError: it is neither.
    """
    if not isinstance(value, bool) and _kind(value) != "b":
        refuse(name, value, "give True or False")
    return bool(value)


def text(value: Any, name: str, example: str) -> str:
    """Read a text that is not empty.

    Args:
        value: the caller's value.
        name: the argument's name, for the message.
        example: what to give, in words.

    Raises:
        InputError: it is not text, or empty, or a shell passed it in another encoding than it says.
    """
    if not isinstance(value, str) or not value:
        refuse(name, value, f"give {example}")
    if any("\ud800" <= letter <= "\udfff" for letter in value):
        refuse(name, value, f"give {example}, in Unicode")
    return str(value)


def entity(value: Any, name: str) -> str:
    """Read the name of a template, `Module:Entity`.

    Raises:
        InputError: it has another form, such as that of a template id.
    """
    form = "Module:Entity, such as 'Splice.Amulet:Amulet', as the column template_name has it"
    spelled = text(value, name, form)
    if not _ENTITY.fullmatch(spelled):
        refuse(name, value, f"give {form}")
    return spelled


def path(value: Any, name: str) -> str:
    """Read the path of a file or folder; a leading `~` is the home folder, as in a shell.

    Raises:
        InputError: it is neither text nor an `os.PathLike` of text, empty, the beginning of a URL alone, or has a null
            character.
    """
    spelled = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(spelled, str) or not spelled or "\0" in spelled:
        refuse(name, value, "give a path as text or pathlib.Path; the current folder is '.'")
    if re.fullmatch(r"\w{2,}://+", spelled):
        refuse(name, value, f"give the bucket and folder, too, such as {spelled.rstrip('/')}//bucket/folder")
    return os.path.expanduser(spelled)  # noqa: PTH111 - a Path would change URLs


def choice(value: Any, name: str, allowed: Sequence[str]) -> str:
    """Read one of a few words.

    Raises:
        InputError: it is not one of them.
    """
    if not isinstance(value, str) or value not in allowed:
        near = did_you_mean(value, allowed)
        if near and len(allowed) > _FEW:
            refuse(name, value, near.removeprefix("; "))
        words = [repr(word) for word in allowed]
        listed = f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]
        refuse(name, value, f"give {listed}{near}")
    return str(value)


#: Words of other libraries, and ours.
_OURS: Final = {
    **dict.fromkeys(("since", "after", "from_", "begin", "from_time", "start_time"), "start"),
    **dict.fromkeys(("until", "to", "before", "stop", "to_time", "end_time"), "end"),
    **dict.fromkeys(("days", "hours", "period"), "last"),
    **dict.fromkeys(("filename", "file", "target", "dest", "folder"), "path"),
}


def did_you_mean(value: object, allowed: Iterable[str]) -> str:
    """The end of a message that names the nearest word; empty if none is near."""
    known = list(allowed)
    if isinstance(value, str) and _OURS.get(value) in known:
        return f"; did you mean {_OURS[value]!r}?"
    near = get_close_matches(value, known, n=1) if isinstance(value, str) else []
    return f"; did you mean {near[0]!r}?" if near else ""


def names(value: Any, name: str) -> tuple[str, ...]:
    """Read several texts: a list, a tuple, a Series, an Index, an array, a generator; a set in sorted order.

    Args:
        value: the caller's value.
        name: the argument's name, for the message.

    Returns:
        The texts in the caller's order; the caller checks for empty lists and duplicates.

    Raises:
        InputError: it is a single text, a mapping, not iterable, or contains something other than texts.
    """
    if isinstance(value, str):
        shortened = value if len(value) <= _LONGEST_SHOWN else f"{value[: _LONGEST_SHOWN - 1]}…"
        raise InputError(f'{name}="{shortened}": give a list, for example ["{shortened}"]')
    values = _listed(value)
    if values is None:
        refuse(name, value, "give a list of texts")
    for place, item in enumerate(values):
        if not isinstance(item, str) or not item:
            raise InputError(f"{name}: item {place} is {shown(item)}; give a list of texts, none of them empty")
    # JSON writers and msgspec do not know numpy's text scalars
    return tuple(str(item) for item in values)


def party_ids(value: Any, name: str) -> tuple[str, ...]:
    """Read several ids of parties; what charts and people call a party, such as alice, is none.

    Raises:
        InputError: it is not several texts, or one of them is no whole id.
    """
    parties = names(value, name)
    for party in parties:
        if "::" not in party:
            refuse(name, party, f"give a whole party id, such as 'alice::1220…'; without {name}= the table has all")
    return parties


def _listed(value: Any) -> list[Any] | None:
    """The items of a sequence; None if it is not one."""
    if isinstance(value, Set):
        return sorted(value, key=str)
    if isinstance(value, bytes | bytearray | Mapping) or hasattr(value, "columns"):
        return None
    for method in ("to_pylist", "tolist", "to_list"):  # Arrow; numpy and pandas; polars
        if hasattr(value, method):
            items = getattr(value, method)()
            return items if isinstance(items, list) else None
    return list(value) if isinstance(value, Iterable) else None


def pair(value: Any, name: str) -> tuple[int, Any]:
    """Read a pair (migration id, time); the caller reads the time.

    Raises:
        InputError: it is not a pair, or the migration id is not a whole number of 64 bits.
    """
    number = _index(value[0]) if isinstance(value, tuple | list) and len(value) == 2 else None
    if number is None or not -(2**63) <= number < 2**63:
        refuse(name, value, "give a time, or a pair (migration id, time) such as (4, '2026-01-30')")
    return number, value[1]


def duration(value: Any, name: str, *, zero: bool = False, bare: bool = True) -> int:
    """Read a duration as microseconds.

    Args:
        value: text (`"1h"`, `"90 s"`, `"1 day"`, `"1h 30min"`), a timedelta of any library, or a number of seconds.
        name: the argument's name, for the message.
        zero: whether it may be zero.
        bare: whether it may be a bare number, of seconds.

    Raises:
        InputError: it is not a duration, negative, or longer than 100 years.
    """
    forms = _DURATION_FORMS if bare else _WITH_UNIT_FORMS
    allowed = bare or isinstance(value, str | timedelta) or _kind(value) == "m"
    micros = _micros(value) if allowed else None
    if micros is None or micros < 0:
        refuse(name, value, f"give a duration {forms}")
    if micros == 0 and not zero:
        refuse(name, value, f"give a duration above 0, {forms}")
    if micros > _LONGEST_DURATION:
        refuse(name, value, "give a duration of 100 years at most")
    return micros


def _micros(value: Any) -> int | None:
    if isinstance(value, timedelta):
        # pandas' NaT is a timedelta that differs from itself
        return value // timedelta(microseconds=1) if value == value else None
    if isinstance(value, str):
        return spelled_duration(value)
    if _kind(value) == "m":
        return int(value.astype("timedelta64[us]").astype("int64"))
    whole = _index(value)
    if whole is not None:
        return whole * 1_000_000
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        return None
    return int(float(value) * 1e6)


def spelled_duration(value: str) -> int | None:
    """A duration in words, such as `1h 30min`, as microseconds; None if it is none."""
    if value.strip() == "0":
        return 0
    if _DURATION.fullmatch(value) is None:
        return None
    micros = 0.0
    for number, unit in _PART.findall(value):
        # "1M" is a month to pandas
        known = _UNITS.get(unit if unit == "M" else unit.lower())
        if known is None:
            return None
        micros += float(number) * known
    return int(micros) if math.isfinite(micros) else None


def suggesting(function: Callable[P, R]) -> Callable[P, R]:
    """Check unknown keywords and networks of every public function, and report a lack of memory.

    The TypeError for an unknown keyword names the nearest one, as Python 3.13 does by itself.
    """
    parameters = signature(function).parameters
    known = tuple(parameters)
    # One that is annotated otherwise takes a store, too, and checks it itself.
    named = [name for name in known if name in {"net", "net_a", "net_b"} and parameters[name].annotation != "Any"]
    networks = {name: known.index(name) for name in named}

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs:
            if name not in known:
                hint = did_you_mean(name, known) or f"; it takes {', '.join(known).removeprefix('self, ')}"
                raise TypeError(f"{function.__name__}() got an unexpected keyword argument {name!r}{hint}")
        for name, place in networks.items():
            net = args[place] if place < len(args) else kwargs.get(name)
            if net is not None and not hasattr(net, "settings"):  # None is for the function to refuse
                refuse(name, net, "give a network, such as net = lf.connect('https://HOST/api/scan')")
        with enough_memory(function.__name__):
            return function(*args, **kwargs)

    return checked


@contextmanager
def enough_memory(name: str) -> Iterator[None]:
    """Turn a lack of memory into an error with a remedy; `name` is the called function.

    Raises:
        ConfigurationError: memory ran out.
    """
    try:
        yield
    except Exception as error:
        from pyarrow import ArrowException  # a shell's completion has no time for it

        if not isinstance(error, MemoryError | RuntimeError | ArrowException):
            raise
        if not isinstance(error, MemoryError) and _NO_THREAD.search(str(error)) is None:
            raise
        raise ConfigurationError(f"{name} ran out of memory{_reason(error)}; {_LESS_MEMORY}") from error


def _reason(error: Exception) -> str:
    """The reason why memory ran out, in words, if it is known: the room for what is spilled, or a limit."""
    if "max_temp_directory_size" in str(error):  # as DuckDB says
        return f", and {tempfile.gettempdir()}, which takes the rest, is full (TMPDIR names another folder)"
    try:
        import resource
    except ImportError:  # on Windows
        return ""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return "" if limit == resource.RLIM_INFINITY else f": this process may take {limit / 1e9:.1f} GB (ulimit -v)"
