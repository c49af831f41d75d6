"""Reads and checks the start options of a sandbox: its history, and how it is served; the server calls it."""

from __future__ import annotations

import math
import operator
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from inspect import signature
from typing import Any, Final

from ledgerframes.sandbox.faults import Faults
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.calendar import updates_of_days
from ledgerframes.sandbox.world.parties import OPERATOR
from ledgerframes.sandbox.world.views import Pruning

DEFAULT_UPDATES: Final = 2_000
LONGEST: Final = 3_650
MOST_ROUNDS: Final = 1_440
REWARD_VERSIONS: Final = ("markers", "traffic", "switch")

_WINDOW: Final = re.compile(r"(\d{1,6})(s|m|min|h|d)", re.ASCII)
_SECONDS: Final = {"s": 1, "m": 60, "min": 60, "h": 3_600, "d": 86_400}
_PER: Final = {"s": 1.0, "min": 60.0, "h": 3_600.0}
_RATE: Final = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)/(s|min|h)", re.ASCII)


def whole(value: Any, name: str, *, least: int | None = None, most: int | None = None) -> int:
    """Read a whole number of any library's integer type.

    Raises:
        ValueError: it is not a whole number, or lies outside the bounds.
    """
    bounds = "" if least is None else f" of {least} or more" if most is None else f" from {least} to {most}"
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or (least is not None and number < least) or (most is not None and number > most):
        raise ValueError(f"{name}={value!r} is not valid: give a whole number{bounds}")
    return number


def real(value: Any, name: str) -> float:
    """Read a number of 0 or more.

    Raises:
        ValueError: it is not a number, is below 0, or infinite.
    """
    try:
        number = math.nan if isinstance(value, bool | str) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0 <= number < math.inf:
        raise ValueError(f"{name}={value!r} is not valid: give a number of 0 or more")
    return number


@dataclass(frozen=True, slots=True)
class Serving:
    """How a ledger is served.

    Attributes:
        pruning: the part that its scan has pruned, if any.
        nobody: the user for requests without a token; empty if one is required.
        rate: the number of updates that the ledger grows by per second; None if it does not grow by itself.
    """

    port: int
    latency: float
    faults: Faults | None
    release: str
    pruning: Pruning | None
    nobody: str
    rate: float | None


def read_options(**options: Any) -> tuple[Serving, dict[str, Any]]:
    """Read how a ledger is to be served, and the arguments of `generate` for it.

    Raises:
        ValueError: a value is not valid, or goes together with one that it excludes.
        TypeError: there is no option of a name.
    """
    history = {name: options.pop(name) for name in signature(read_history).parameters if name in options}
    return read_serving(**options), read_history(**history)


def read_serving(
    *,
    port: Any = 0,
    latency: Any = 0.0,
    faults: Any = None,
    release: Any = "contract",
    prune_before: Any = None,
    prune: Any = None,
    auth: Any = "token",
    live: Any = None,
) -> Serving:
    """Read how a ledger is to be served.

    Raises:
        ValueError: a value is not valid, or goes together with one that it excludes.
    """
    from ledgerframes.sandbox.http.routes import RELEASES

    rate = None if live is None else parse_rate(live)
    port, latency = whole(port, "port", least=0, most=65_535), real(latency, "latency")
    if faults is not None and not isinstance(faults, Faults):
        raise ValueError(f"faults={faults!r} is not valid: give Faults(...), or text such as '429:0.1,reset:0.05'")
    pruning = read_pruning(prune_before, prune)
    nobody = {"token": "", "none": OPERATOR}[_choice(auth, "auth", ("token", "none"))]
    return Serving(port, latency, faults, _choice(release, "release", RELEASES), pruning, nobody, rate)


def read_history(
    *,
    seed: Any = 7,
    updates: Any = DEFAULT_UPDATES,
    days: Any = None,
    rounds_per_day: Any = None,
    reward_version: Any = "markers",
    migrations: Any = 3,
) -> dict[str, Any]:
    """Read what history is to be made up: the arguments of `generate`.

    Raises:
        ValueError: a value is not valid, or `days` and `updates` are both given.
    """
    seed, updates = whole(seed, "seed"), whole(updates, "updates", least=0)
    if rounds_per_day is not None:
        rounds_per_day = whole(rounds_per_day, "rounds_per_day", least=1, most=MOST_ROUNDS)
    reward_version = _choice(reward_version, "reward_version", REWARD_VERSIONS)
    if days is not None:
        days = whole(days, "days", least=1, most=LONGEST)
        if updates != DEFAULT_UPDATES:
            raise ValueError(f"days={days} and updates={updates} do not go together: leave one out")
        updates = updates_of_days(days, rounds_per_day)
    return {
        "seed": seed,
        "updates": updates,
        "migrations": whole(migrations, "migrations", least=1, most=30),
        "days": days,
        "rounds_per_day": rounds_per_day,
        "reward_version": reward_version,
    }


def _choice(value: Any, name: str, choices: tuple[str, ...]) -> str:
    """One of a few things; the first is the usual one."""
    if not isinstance(value, str) or value not in choices:
        known = f"{', '.join(map(repr, choices[:-1]))} or {choices[-1]!r}"
        raise ValueError(f"{name}={value!r} is not valid: give {known}")
    return value


def read_pruning(before: Any, window: Any) -> Pruning | None:
    """Read the pruned part of a server's history; None if it keeps everything.

    Args:
        before: a time, as text or datetime, or a pair of migration id and time.
        window: text such as `30d`, `6h`, `20min` or `90s`.

    Raises:
        ValueError: one is not valid, or both are given.
    """
    if window is None:
        return None if before is None else Pruning(before=_read_place(before))
    if before is not None:
        raise ValueError(f"prune_before={before!r} and prune={window!r} do not go together: leave one out")
    match = _WINDOW.fullmatch(window) if isinstance(window, str) else None
    if match is None:
        raise ValueError(f"prune={window!r} is not valid: give days, hours, minutes or seconds such as 30d or 20min")
    return Pruning(window=int(match[1]) * _SECONDS[match[2]] * timestamps.SECOND)


def _read_place(before: Any) -> int | timestamps.Cursor:
    if isinstance(before, tuple | list) and len(before) == 2:
        return whole(before[0], "prune_before", least=0), _read_time(before[1], before)
    return _read_time(before, before)


def _read_time(value: Any, argument: Any) -> int:
    """Microseconds of a time; without a zone it is in UTC."""
    try:
        time = value if isinstance(value, datetime) else datetime.fromisoformat(value)
        time = time if time.tzinfo is not None else time.replace(tzinfo=UTC)
        return timestamps.parse(time.isoformat())
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"prune_before={argument!r} is not valid: give a time such as 2025-03-03T09:30Z, or (migration id, time)"
        ) from error


def parse_rate(text: str) -> float:
    """Read a rate such as `50/s`, `90/min` or `0.5/h` as updates per second.

    Raises:
        ValueError: it is not a rate above zero.
    """
    match = _RATE.fullmatch(text) if isinstance(text, str) else None
    rate = float(match[1]) / _PER[match[2]] if match else 0.0
    if rate <= 0:
        raise ValueError(f"live={text!r} is not valid: give updates per second, minute or hour, such as 50/s or 90/min")
    return rate
