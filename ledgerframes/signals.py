"""Ctrl-C while a call waits for servers or threads: the call is asked to end, then it is raised, as in asyncio.Runner.

For pure computing Python's own KeyboardInterrupt is right, and nothing here is used.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final, NoReturn


class Signalled(SystemExit):
    """Ctrl-C or SIGTERM ended a command; the exit code is 128 plus the signal's number, as in shells."""


#: Signals that ended the running command.
_LEFT: Final[list[int]] = []


def leave(number: int, _frame: FrameType | None) -> NoReturn:
    """The handler of the command line."""
    _LEFT.append(number)
    raise Signalled(128 + number)


def forget_signals() -> None:
    """Forget the signals that ended an earlier command."""
    _LEFT.clear()


def end_if_signalled() -> None:
    """Raise again the signal that ended the command: finalizers, and C++ that calls Python, drop a handler's exception.

    Raises:
        Signalled: a signal came since the command began.
    """
    for number in _LEFT:
        if signal.getsignal(number) is leave:
            raise Signalled(128 + number)


#: Handlers that only raise, so that they can be called later.
_RAISING: Final = (signal.default_int_handler, leave)
#: The functions that ask the nested calls of the main thread to end.
_STOPS: Final[list[Callable[[], object]]] = []
_TOLD: Final[list[int]] = []


@contextmanager
def held_back(stop: Callable[[], object]) -> Iterator[None]:
    """While a call runs in the main thread, the first signal calls `stop`, and is raised once the call has ended.

    A second one is raised at once. Handlers of the user's program stay as they are, and other threads get no signals.

    Args:
        stop: asks the call to end, which it does in less than a second.

    Raises:
        KeyboardInterrupt: Ctrl-C came meanwhile.
        Signalled: a signal came meanwhile, in a command.
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
            raise raised from None  # the call's own StoppedError adds nothing


def _within(stop: Callable[[], object]) -> Iterator[None]:
    """Run a nested call; the outer one has the handlers."""
    _STOPS.append(stop)
    try:
        if _TOLD:
            stop()
        yield
    finally:
        _STOPS.pop()


def _raising() -> dict[int, Any]:
    """The current handlers that only raise, by signal."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    return {number: handler for number, handler in handlers.items() if handler in _RAISING}


def _set(handlers: dict[int, Any]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)
