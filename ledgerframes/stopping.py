"""Ends an operation before it is done: `Stop`, set by any thread, and Ctrl-C, held back while a call waits.

Ctrl-C while a call waits for servers or threads asks the call to end, then it is raised, as in asyncio.Runner. For pure
computing Python's own KeyboardInterrupt is right, and nothing here is used. `Clock` is for every wait.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from traceback import walk_tb
from types import FrameType
from typing import Any, Final, NoReturn, Protocol

from ledgerframes.errors import StoppedError

#: Seconds that a thread waits at a time: far below the two that Ctrl-C may take.
SLICE: Final = 0.2


class Clock(Protocol):
    """The clock functions that the transport needs; all in seconds."""

    def monotonic(self) -> float:
        """Seconds since some fixed instant."""
        ...

    def now(self) -> float:
        """Seconds since 1970 in UTC."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class SystemClock:
    """The real time."""

    def monotonic(self) -> float:
        """Seconds since some fixed instant."""
        return time.monotonic()

    def now(self) -> float:
        """Seconds since 1970 in UTC."""
        return time.time()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)


class Stop:
    """A cancellation flag; once set, it stays set. Any thread may set it.

    Args:
        above: other flags that also end this operation: that of a surrounding operation, that of the connection.

    Example:
        >>> import ledgerframes as lf
        >>> net, stop = lf.connect(scan_url="https://scan.example.com/api/scan"), Stop()
        >>> scan = net.scan.stoppable(stop)  # another thread that calls stop.set() ends its requests and pauses
    """

    def __init__(self, *above: Stop) -> None:
        self._above = above
        self._flag = False

    def set(self) -> None:
        """End the operation: its waits and reads raise a StoppedError in less than a second."""
        self._flag = True

    def is_set(self) -> bool:
        """Whether the operation is to end."""
        # Looked up rather than passed down, so that a long-lived parent keeps no list of its operations.
        return self._flag or any(stop.is_set() for stop in self._above)

    def check(self) -> None:
        """Raise if the operation was stopped.

        Raises:
            StoppedError: the operation was stopped.
        """
        if self.is_set():
            raise StoppedError("the operation was stopped before it was done; start it again to continue")

    def sleep(self, clock: Clock, seconds: float) -> None:
        """Wait by a clock.

        Raises:
            StoppedError: the operation was stopped.
        """
        # a test's clock does not sleep and records each wait once
        longest = SLICE if isinstance(clock, SystemClock) else seconds
        left = seconds
        while left > 0:
            self.check()
            clock.sleep(min(left, longest))
            left -= longest
        self.check()


def raised_by_handler(error: BaseException, handled: BaseException | None) -> BaseException | None:
    """The exception of a signal's handler that an error is or goes back to; None if there is none.

    A caller's handler may raise a TimeoutError, which looks like a socket's, and of which urllib3 makes its own error.

    Args:
        error: the error.
        handled: what was being handled before, by `sys.exc_info`, to which every later error goes back.
    """
    codes = {getattr(signal.getsignal(number), "__code__", None) for number in signal.valid_signals()}
    raised: BaseException | None = None
    each: BaseException | None = error
    while each is not None and each is not handled:
        # urllib3 gives the traceback to its own error, too: the last one is the handler's.
        if any(frame.f_code in codes for frame, _ in walk_tb(each.__traceback__)):
            raised = each
        each = each.__cause__ or each.__context__
    return raised


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
_RECEIVED: Final[list[int]] = []


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
    found = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    handlers: dict[int, Any] = {number: handler for number, handler in found.items() if handler in _RAISING}

    def tell(number: int, frame: FrameType | None) -> None:
        if not _STOPS:  # a signal at the call's end has left this handler behind
            handlers[number](number, frame)
        _set(handlers)
        _RECEIVED.append(number)
        for each in _STOPS:
            each()

    _RECEIVED.clear()
    try:
        _STOPS.append(stop)
        _set(dict.fromkeys(handlers, tell))
        yield
    except Exception:
        if not _RECEIVED:
            raise
    finally:
        _STOPS.clear()
        _set(handlers)
    if _RECEIVED:
        try:
            handlers[_RECEIVED[0]](_RECEIVED[0], None)
        except BaseException as raised:
            raise raised from None  # the call's own StoppedError adds nothing


def _within(stop: Callable[[], object]) -> Iterator[None]:
    """Run a nested call; the outer one has the handlers."""
    _STOPS.append(stop)
    try:
        if _RECEIVED:
            stop()
        yield
    finally:
        _STOPS.pop()


def _set(handlers: dict[int, Any]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)
