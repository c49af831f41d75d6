"""Calls that a signal's handler breaks off at every place where Python runs one, a place at a time.

Signals sent at random hit a place of a few nanoseconds once in days; here each is hit in every run.
"""

from __future__ import annotations

import dis
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from types import CodeType, FrameType, ModuleType
from typing import Any, NamedTuple

import pytest

#: How often a place is hit in one call: the first time and the second; loops go on.
OFTEN = 2
#: Calls that show the places; how threads meet decides which are reached.
LOOKS = 5
#: A call may miss a place, for the same reason.
TRIES = 3
#: Seconds after which a call hangs.
HANGS = 20.0
#: Whether this Python traces each instruction.
TRACES = sys.version_info < (3, 13)
WHY_NOT = "this Python traces the instructions of a function from its second call on; 3.12 does at once"


class Broken(BaseException):
    """What the handler raises."""


class Place(NamedTuple):
    """Where a handler runs: the instruction of each function that is being called, the innermost first."""

    calls: tuple[tuple[CodeType, int], ...]
    time: int

    def __str__(self) -> str:
        names = [f"{code.co_qualname}+{offset}" for code, offset in self.calls]
        return f"{' < '.join(names)}, time {self.time}"


class Trace:
    """Notes each place of some modules where a handler could run, and raises at one of them.

    Python runs handlers where a function begins, where a generator goes on, behind a call into C, and where a loop
    goes back.

    Args:
        modules: what is broken off.
        at: where to raise.
    """

    def __init__(self, modules: tuple[ModuleType, ...], at: Place | None = None) -> None:
        self._files = {module.__file__ for module in modules}
        self._at = at
        self._times: Counter[tuple[tuple[CodeType, int], ...]] = Counter()
        self._due = False  # whether a handler runs before the next instruction
        self.places: list[Place] = []
        self.hit = False

    def __enter__(self) -> Trace:
        self._before = sys.gettrace()
        sys.settrace(self._enter)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        sys.settrace(self._before)
        return kind is Broken

    def _enter(self, frame: FrameType, event: str, arg: Any) -> Any:
        del event, arg
        # Not raised here: a generator that is closed or thrown into is entered as well, and runs no handler then.
        self._due = frame.f_code.co_filename in self._files
        if not self._due:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._step

    def _step(self, frame: FrameType, event: str, arg: Any) -> Any:
        del arg
        due, self._due = self._due, False
        if event == "opcode":
            name = _names(frame.f_code)[frame.f_lasti]
            self._due = name.startswith("CALL")
            if due or name.startswith("JUMP_BACKWARD"):
                self._may_run(frame)
        return self._step

    def _may_run(self, frame: FrameType) -> None:
        calls = tuple(self._calls(frame))
        self._times[calls] += 1
        place = Place(calls, self._times[calls])
        if place.time <= OFTEN:
            self.places.append(place)
        if place == self._at and not self.hit:
            self.hit = True
            raise Broken

    def _calls(self, frame: FrameType | None) -> Iterator[tuple[CodeType, int]]:
        while frame is not None:
            if frame.f_code.co_filename in self._files:
                yield frame.f_code, frame.f_lasti
            frame = frame.f_back


_NAMES: dict[CodeType, dict[int, str]] = {}


def _names(code: CodeType) -> dict[int, str]:
    if code not in _NAMES:
        _NAMES[code] = {one.offset: one.opname for one in dis.get_instructions(code)}
    return _NAMES[code]


def everywhere(use: Callable[[Trace], None], *modules: ModuleType, most: int | None = None) -> int:
    """Do something again and again, broken off at another place each time; gives how many there were.

    Args:
        use: does it, in a function called under the trace that it is given, and then looks at what is left.
        modules: where to break it off.
        most: so many of the places, the same ones every time; None takes all.

    Raises:
        AssertionError: it hangs, or leaves what it must not; says where it was broken off.
    """
    if not TRACES:
        pytest.skip(WHY_NOT)
    places: dict[Place, None] = {}
    for _ in range(LOOKS):
        trace = Trace(modules)
        _run(use, trace, "nowhere")
        places |= dict.fromkeys(trace.places)
    hit = 0
    chosen = list(places)
    if most is not None:
        Random(most).shuffle(chosen)
    for place in chosen[:most]:
        for _ in range(TRIES):
            trace = Trace(modules, place)
            _run(use, trace, str(place))
            if trace.hit:
                hit += 1
                break
    return hit


def _run(use: Callable[[Trace], None], trace: Trace, where: str) -> None:
    def run() -> None:
        try:
            use(trace)
        except BaseException as error:  # noqa: BLE001 - raised again in the test's thread
            errors.append(error)

    errors: list[BaseException] = []
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(HANGS)
    assert not thread.is_alive(), f"broken off in {where}: hangs"
    if errors:
        raise AssertionError(f"broken off in {where}: {errors[0]!r}") from errors[0]
