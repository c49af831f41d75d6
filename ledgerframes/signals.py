"""Ctrl-C while a call waits for servers or threads: the call is told to end, and then it counts, as in asyncio.Runner.

Around pure computing Python's own KeyboardInterrupt is right, and nothing here is used.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final, NoReturn


class Signalled(SystemExit):
    """Ctrl-C or SIGTERM ended a command; the exit code is 128 and the signal's number, as shells have it."""


#: Signals that ended the command that runs.
_LEFT: Final[list[int]] = []


def leave(number: int, _frame: FrameType | None) -> NoReturn:
    """The handler of the command line."""
    _LEFT.append(number)
    raise Signalled(128 + number)


def forget_signals() -> None:
    """Forget the signals that ended a command before."""
    _LEFT.clear()


def end_if_signalled() -> None:
    """Raise again what ended the command: finalizers, and C++ that calls Python, drop what a handler raises there.

    Raises:
        Signalled: a signal came since the command began.
    """
    for number in _LEFT:
        if signal.getsignal(number) is leave:
            raise Signalled(128 + number)


#: Handlers that only raise, so that they may do it later.
_RAISING: Final = (signal.default_int_handler, leave)
#: What tells the calls to end that run in the main thread, one within the other.
_STOPS: Final[list[Callable[[], object]]] = []
_TOLD: Final[list[int]] = []


@contextmanager
def held_back(stop: Callable[[], object]) -> Iterator[None]:
    """While a call runs in the main thread, the first signal calls `stop`, and is raised once the call has ended.

    A second one is raised at once. Handlers of the user's program stay as they are, and other threads get no signals.

    Args:
        stop: tells the call to end, which it does in less than a second.

    Raises:
        KeyboardInterrupt: Ctrl-C came meanwhile.
        Signalled: a signal did, in a command.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    if _LEFT:
        end_if_signalled()
    if _STOPS:
        yield from _within(stop)
        return
    handlers = _raising()

    def tell(number: int, frame: FrameType | None) -> None:
        if not _STOPS:  # a signal at the call's end has left this handler behind
            handlers[number](number, frame)
        _set(handlers)
        _TOLD.append(number)
        for each in _STOPS:
            each()

    _TOLD.clear()
    try:
        _STOPS.append(stop)
        _set(dict.fromkeys(handlers, tell))
        yield
    except Exception:
        if not _TOLD:
            raise
    finally:
        _STOPS.clear()
        _set(handlers)
    if _TOLD:
        try:
            handlers[_TOLD[0]](_TOLD[0], None)
        except BaseException as raised:
            raise raised from None  # that the call was stopped says nothing more


def _within(stop: Callable[[], object]) -> Iterator[None]:
    """A part of a call, which has the handlers."""
    _STOPS.append(stop)
    try:
        if _TOLD:
            stop()
        yield
    finally:
        _STOPS.pop()


def _raising() -> dict[int, Any]:
    """The handlers of now that only raise, by signal."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    return {number: handler for number, handler in handlers.items() if handler in _RAISING}


def _set(handlers: dict[int, Any]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)
