"""Calls as values, and the three ways to run them: sent, previewed unsent, or sent with the body kept as it came.

The four interfaces declare their calls with `CallMethod`; `net.scan`, `net.scan.preview` and `net.scan.raw` run them.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import wraps
from inspect import getattr_static
from typing import Any, ClassVar, Concatenate, Final, Generic, ParamSpec, Self, TypeVar, overload

import msgspec

from ledgerframes.config.settings import Interface
from ledgerframes.errors import InputError, NotFoundError
from ledgerframes.transport import Answer, Sender, Stop, Transport
from ledgerframes.transport.request import Prepared, Request

T = TypeVar("T")
P = ParamSpec("P")


@dataclass(frozen=True)
class Call(Generic[T]):
    """One request and how its answer is read; sends nothing by itself.

    Attributes:
        request: what to ask.
        read: makes the value of a successful answer's body.
        alternatives: the same question on routes that older or newer releases know.
        missing: the value that a 404 stands for, where the route itself exists; unset, a 404 is an error.
    """

    request: Request
    read: Callable[[bytes], T]
    alternatives: tuple[Request, ...] = ()
    missing: T | msgspec.UnsetType = msgspec.UNSET

    def send(self, sender: Sender) -> T:
        """Send the request and give the value of its answer."""
        try:
            return sender.send(self.request, *self.alternatives, read=self.read).value
        except NotFoundError as error:
            if error.unknown_route or self.missing is msgspec.UNSET:
                raise
            # A 404 for the thing is the normal "there is none"; a 404 for the route is an error.
            return self.missing

    def send_raw(self, sender: Sender) -> Answer[bytes] | None:
        """Send the request and give its answer's body as it came; None where a 404 stands for a value."""
        try:
            return sender.send(self.request, *self.alternatives, read=_whole_json)
        except NotFoundError as error:
            if error.unknown_route or self.missing is msgspec.UNSET:
                raise
            return None


class CallMethod(Generic[P, T]):
    """A method that makes a `Call`; the kind of object it is read from decides how the call is run."""

    def __init__(self, make: Callable[Concatenate[Any, P], Call[T]]) -> None:
        self._make = make
        self.__module__, self.__doc__ = make.__module__, make.__doc__  # doctest finds examples by these

    @overload
    def __get__(self, instance: None, owner: type) -> Callable[Concatenate[Any, P], Call[T]]: ...
    @overload
    def __get__(self, instance: Calls[Any, Any], owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, instance: Preview, owner: type) -> Callable[P, Prepared]: ...
    @overload
    def __get__(self, instance: Raw, owner: type) -> Callable[P, Answer[bytes] | None]: ...
    def __get__(self, instance: Any, owner: type) -> Callable[..., Any]:
        """The method that runs the call the instance's way, with the signature and docstring as declared."""
        if instance is None:
            return self._make
        make = self._make.__get__(instance)  # bound, so that `inspect.signature` leaves `self` out

        @wraps(make)
        def run(*arguments: P.args, **options: P.kwargs) -> Any:
            return instance._run(make(*arguments, **options))  # noqa: SLF001 - the three runners of this module

        return run


class Runner:
    """Base of the objects whose `CallMethod`s can be called: holds the way to send, nothing else.

    Args:
        sender: the way to send, or the connection for the usual one.
    """

    interface: ClassVar[Interface]

    def __init__(self, sender: Sender | Transport) -> None:
        self._sender = sender if isinstance(sender, Sender) else Sender(sender)

    def _run(self, call: Call[Any]) -> Any:
        raise NotImplementedError

    def _named(self, name: str) -> Callable[..., Any]:
        """The method of a call's name.

        Raises:
            InputError: there is no such call.
        """
        if not isinstance(getattr_static(self, name, None), CallMethod):
            calls = [known for known in dir(self) if isinstance(getattr_static(self, known), CallMethod)]
            raise InputError(f"{name!r} is not a call of {self.interface}: give one of {', '.join(calls)}")
        method: Callable[..., Any] = getattr(self, name)
        return method


class Preview(Runner):
    """An interface's calls, shown unsent with the token masked."""

    def __call__(self, call: str, /, *arguments: Any, **options: Any) -> Prepared:
        """The request of a call that is given by name.

        Args:
            call: the method's name, such as `"updates"`.
            arguments: its arguments.
            options: its keyword arguments.

        Raises:
            InputError: there is no such call, or the arguments break a rule.
        """
        prepared: Prepared = self._named(call)(*arguments, **options)
        return prepared

    def _run(self, call: Call[Any]) -> Prepared:
        return self._sender.prepare(call.request)


class Raw(Runner):
    """An interface's calls, sent, with each answer's body as it came, checked to be whole JSON."""

    def __call__(self, call: str, /, *arguments: Any, **options: Any) -> Answer[bytes] | None:
        """Send the request of a call that is given by name.

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
        answer: Answer[bytes] | None = self._named(call)(*arguments, **options)
        return answer

    def _run(self, call: Call[Any]) -> Answer[bytes] | None:
        return call.send_raw(self._sender)


PreviewT = TypeVar("PreviewT", bound=Preview)
RawT = TypeVar("RawT", bound=Raw)
RunnerT = TypeVar("RunnerT", bound=Runner)


class Calls(Runner, Generic[PreviewT, RawT]):
    """Base of the four interfaces: each call sends its request and gives the value of the answer."""

    _preview: type[PreviewT]
    _raw: type[RawT]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {', '.join(self._sender.servers(self.interface)) or 'not connected'}>"

    @property
    def preview(self) -> PreviewT:
        """The same methods, run without sending: each returns its request as a `Prepared`, the token masked.

        `net.scan.preview.updates(page_size=10)`, or by name `net.scan.preview("updates", page_size=10)`.
        """
        return self._like(self._preview)

    @property
    def raw(self) -> RawT:
        """The same methods, run without decoding: each returns an `Answer` with the body's bytes.

        `net.scan.raw.validator_licenses()`, or by name `net.scan.raw("validator_licenses")`. The body is checked to be
        whole JSON. None where the call takes the server's 404 for "there is none".
        """
        return self._like(self._raw)

    def stoppable(self, stop: Stop) -> Self:
        """The same interface for one operation: once `stop` is set, its requests, waits and pauses end.

        Args:
            stop: set by any thread; a call that runs then, or comes later, raises a StoppedError in less than a second.
        """
        twin = copy(self)
        twin._sender = self._sender.stoppable(stop)  # noqa: SLF001 - its own
        return twin

    def _like(self, kind: type[RunnerT]) -> RunnerT:
        """This interface's calls, run by another runner."""
        twin = kind(self._sender)
        vars(twin).update(vars(self))
        return twin

    def _run(self, call: Call[T]) -> T:
        return call.send(self._sender)


_json = msgspec.json.Decoder(msgspec.Raw)
_PIECE: Final = 2**18


def _whole_json(body: bytes) -> bytes:
    # msgspec does not look inside the texts that it keeps raw, so bytes that are not UTF-8 would pass.
    check_text(body)
    _json.decode(body)
    return body


def check_text(body: bytes) -> None:
    """Look at a body as text, 256 KiB at a time, for readers that decode parts of it only.

    Raises:
        UnicodeDecodeError: it is not UTF-8.
    """
    if body.isascii():
        return
    reader = codecs.getincrementaldecoder("utf-8")()
    # In pieces: decoding the whole body at once would hold it in memory a second time.
    for start in range(0, len(body), _PIECE):
        reader.decode(body[start : start + _PIECE])
    reader.decode(b"", final=True)
