"""The faults between a server and its reader, as a value; `serve` draws from it for each request."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from types import MappingProxyType
from typing import Self

OK = "ok"

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "403": "access denied, as text: the server admits known addresses only",
        "429": "too many requests, as text, without Retry-After",
        "429-seconds": "too many requests, Retry-After in seconds",
        "429-date": "too many requests, Retry-After as an HTTP date",
        "500": "the server failed and says so in JSON",
        "502": "a gateway's HTML page",
        "503": "unavailable, as text",
        "503-not-replicated": "unavailable: this server has not yet replicated all data",
        "504": "a gateway's time-out without a body",
        "reset": "the connection is reset before the app sees the request",
        "reset-after": "the app runs, then the connection is reset: the answer is lost",
        "reset-in-body": "the connection is reset after the headers and a part of the body",
        "truncated": "well-formed HTTP around a body that is cut off",
        "short-body": "fewer bytes than Content-Length says, then the end of the connection",
        "html": "status 200 with an HTML page",
        "content-type": "the right body under text/plain",
        "drip": "the right body in small pieces with pauses between them",
        "empty": "status 200 with an empty body",
        "latency": "the right answer, later",
    }
)


@dataclass(frozen=True, slots=True)
class Drawn:
    """The fault of one request.

    Attributes:
        kind: a name from `KINDS`, or "ok".
        delay: seconds to wait before anything else.
        cut: where to cut the body, as a share from 0 to 1.
    """

    kind: str
    delay: float
    cut: float


@dataclass(frozen=True)
class Faults:
    """The faults that a server injects, and their frequency.

    Attributes:
        rates: the probability of each kind (see `KINDS`); together at most 1.
        sequence: kinds for the first requests in turn ("ok" for none), before the rates apply; see `script`.
        seed: the same seed and the same order of requests result in the same faults.
        paths: a path prefix, or several; requests to other paths get no fault and are not counted.
        latency: seconds that every request waits; only those drawn, where "latency" is among rates or sequence.
        retry_after: seconds that 429-seconds and 429-date name.
        drip: seconds between two pieces of a dripped body.

    Raises:
        ValueError: an unknown kind, or probabilities that are not between 0 and 1 in sum.
    """

    rates: Mapping[str, float] = field(default_factory=dict)
    _: KW_ONLY
    sequence: tuple[str, ...] = ()
    seed: int = 0
    paths: str | tuple[str, ...] = ()
    latency: float = 0.0
    retry_after: int = 1
    drip: float = 0.01

    def __post_init__(self) -> None:
        unknown = sorted((set(self.rates) - set(KINDS)) | (set(self.sequence) - set(KINDS) - {OK}))
        if unknown:
            raise ValueError(f"unknown fault {unknown[0]!r}; known: {', '.join(KINDS)}")
        if any(rate < 0 for rate in self.rates.values()) or sum(self.rates.values()) > 1 + 1e-9:
            raise ValueError(f"fault rates are probabilities and add up to at most 1, not {dict(self.rates)}")
        object.__setattr__(self, "rates", MappingProxyType(dict(self.rates)))

    @classmethod
    def parse(cls, text: str, *, seed: int = 0) -> Self:
        """Read the short form of the command line: `429:0.1,reset:0.05,latency:80ms`.

        A latency with a unit (ms or s) holds for every request; without one it is a probability, as for
        every other kind.
        """
        rates: dict[str, float] = {}
        latency = 0.0
        for part in filter(None, (part.strip() for part in text.split(","))):
            kind, _, value = part.partition(":")
            if kind == "latency" and value.endswith("s"):
                latency = _seconds(value, part=part)
            else:
                rates[kind] = _number(value, part=part)
        return cls(rates=rates, latency=latency, seed=seed)

    @classmethod
    def script(
        cls, kinds: Iterable[str], *, paths: str | tuple[str, ...] = (), latency: float = 0.0, drip: float = 0.01
    ) -> Self:
        """Set the faults of the first requests in order ("ok" for none); later requests get none."""
        return cls(sequence=tuple(kinds), paths=paths, latency=latency, drip=drip)


class FaultDraws:
    """Draws the fault of each request from a `Faults` value; safe to call from any thread."""

    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self._random = random.Random(faults.seed)
        self._lock = threading.Lock()
        self._asked = 0

    def draw(self, path: str) -> Drawn:
        """The fault of a request to this path."""
        faults = self.faults
        # A latency that is drawn for some requests is not that of all.
        always = 0.0 if "latency" in faults.rates or "latency" in faults.sequence else faults.latency
        if faults.paths and not path.startswith(faults.paths):
            return Drawn(OK, 0.0, 0.0)
        with self._lock:
            # Both are drawn for each request, so that one fault does not shift those that follow.
            kind, cut = self._kind(), self._random.random()
        return Drawn(kind, faults.latency if kind == "latency" else always, cut)

    def _kind(self) -> str:
        # Counted under the lock of `draw`, so threads share one sequence.
        position, self._asked = self._asked, self._asked + 1
        if position < len(self.faults.sequence):
            return self.faults.sequence[position]
        at = self._random.random()
        for kind, rate in self.faults.rates.items():
            at -= rate
            if at < 0:
                return kind
        return OK


def _number(text: str, *, part: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{part!r} is not KIND:PROBABILITY, such as 429:0.1 (or latency:80ms)") from None


def _seconds(text: str, *, part: str) -> float:
    if text.endswith("ms"):
        return _number(text[:-2], part=part) / 1000
    return _number(text[:-1], part=part)
