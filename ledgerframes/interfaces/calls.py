"""What the four interfaces have in common: sending through the transport, and showing a request unsent."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from copy import copy
from typing import Any, Final, Protocol, Self, TypeVar

import msgspec

from ledgerframes.config.settings import Interface
from ledgerframes.errors import InputError, RequestError
from ledgerframes.transport import Answer, Stop
from ledgerframes.transport.request import Prepared, Request

T = TypeVar("T")
Revise = Callable[[Request, RequestError], Request | None]


class Sender(Protocol):
    """What an interface needs of the transport."""

    def send(
        self,
        request: Request,
        *alternatives: Request,
        read: Callable[[bytes], T],
        server: str | tuple[str, ...] | None = None,
        revise: Revise | None = None,
        attempts: int | None = None,
    ) -> Answer[T]:
        """Send one request and read its answer."""

    def prepare(self, request: Request) -> Prepared:
        """Show a request as it would go out."""

    def servers(self, interface: Interface) -> tuple[str, ...]:
        """The interface's base URLs, the preferred one first."""

    def pause(self, seconds: float) -> None:
        """Wait, by the transport's clock."""

    def page_maximum(self, server: str | None) -> int | None:
        """The largest page of updates that a scan has named, if it has."""

    def learn_page_maximum(self, server: str, maximum: int) -> None:
        """Keep the largest page of updates that a scan has named."""

    def stoppable(self, stop: Stop) -> Sender:
        """The same for one operation, which ends once `stop` is set."""


class _Unsent(Exception):  # noqa: N818 - carries the request out of the call, never leaves this module
    def __init__(self, request: Request) -> None:
        super().__init__()
        self.request = request


class _Catcher:
    def send(self, request: Request, *_alternatives: Request, **_options: Any) -> Answer[Any]:
        raise _Unsent(request)

    def prepare(self, request: Request) -> Prepared:
        raise _Unsent(request)

    def servers(self, _interface: Interface) -> tuple[str, ...]:
        return ()

    def pause(self, _seconds: float) -> None:
        return

    def page_maximum(self, _server: str | None) -> None:
        return

    def learn_page_maximum(self, _server: str, _maximum: int) -> None:
        return

    def stoppable(self, _stop: Stop) -> _Catcher:
        return self


class _Kept(Exception):  # noqa: N818 - carries the answer out of the call, never leaves this module
    def __init__(self, answer: Answer[bytes]) -> None:
        super().__init__()
        self.answer = answer


class _Keeper:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def send(self, request: Request, *alternatives: Request, **options: Any) -> Answer[Any]:
        raise _Kept(self._sender.send(request, *alternatives, **{**options, "read": _whole}))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sender, name)


_json = msgspec.json.Decoder(msgspec.Raw)
_PIECE: Final = 2**18


def _whole(body: bytes) -> bytes:
    check_text(body)
    _json.decode(body)
    return body


def check_text(body: bytes) -> None:
    """Look at a body as text, a piece at a time, for those who decode parts of it only.

    Raises:
        UnicodeDecodeError: it is not UTF-8.
    """
    if body.isascii():
        return
    reader = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(body), _PIECE):
        reader.decode(body[start : start + _PIECE])
    reader.decode(b"", final=True)


class Calls:
    """Base of the interfaces: holds the way to send, nothing else."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def stoppable(self, stop: Stop) -> Self:
        """The same interface for one operation: once `stop` is set, its requests, waits and pauses end.

        Args:
            stop: set by any thread; a call that runs then, or comes later, raises a StoppedError in less than a second.
        """
        return self._sending_by(self._sender.stoppable(stop))

    def preview(self, call: str, /, *arguments: Any, **options: Any) -> Prepared:
        """Show the request that a call would send, without sending it; a token is masked.

        Args:
            call: the method's name, such as `"updates"`.
            arguments: its arguments.
            options: its keyword arguments.

        Raises:
            InputError: there is no such call, or the arguments break a rule.
        """
        try:
            self._redirected(_Catcher(), call)(*arguments, **options)
        except _Unsent as unsent:
            return self._sender.prepare(unsent.request)
        raise InputError(f"{call!r} sends no request with these arguments")

    def raw(self, call: str, /, *arguments: Any, **options: Any) -> Answer[bytes] | None:
        """Send the request of a call and give the answer's body as it was sent, checked to be whole JSON.

        Args:
            call: the method's name, such as `"validator_licenses"`.
            arguments: its arguments.
            options: its keyword arguments.

        Returns:
            The answer, or None where the call takes the server's 404 for "there is none".

        Raises:
            InputError: there is no such call, or the arguments break a rule.
            RequestError: the server did not give an answer.
        """
        try:
            self._redirected(_Keeper(self._sender), call)(*arguments, **options)
        except _Kept as kept:
            return kept.answer
        return None

    def _redirected(self, sender: Sender, call: str) -> Callable[..., Any]:
        """A call that sends by another way."""
        known = not call.startswith(("_", "iter_")) and call not in {"on", "preview", "raw", "stoppable"}
        if not known or not callable(getattr(type(self), call, None)):
            raise InputError(f"{call!r} is no call of {type(self).__name__.lower()}")
        method: Callable[..., Any] = getattr(self._sending_by(sender), call)
        return method

    def _sending_by(self, sender: Sender) -> Self:
        twin = copy(self)
        twin._sender = sender  # noqa: SLF001 - its own
        return twin
