"""Calls as values, and the three ways to run them: sent, previewed unsent, or sent with the body unchanged.

The four interfaces declare their calls with `sends`; `net.scan`, `net.scan.preview` and `net.scan.raw` run them.
"""

from __future__ import annotations

import codecs
import inspect
import warnings
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import wraps
from typing import Any, ClassVar, Concatenate, Final, Generic, NoReturn, ParamSpec, Self, TypeVar, cast

import msgspec

from ledgerframes.config.settings import Interface
from ledgerframes.docstrings import described, documented
from ledgerframes.errors import DeprecatedEndpointWarning, InputError, LedgerframesError, NotFoundError
from ledgerframes.transport import Answer, Endpoint, Prepared, Request, Sender, Stop

T = TypeVar("T")
P = ParamSpec("P")
S = TypeVar("S", bound="Calls")

_UNSERVED: Final = "NotFoundError: the server does not serve the route."
_REFUSED: Final = "InputError: an argument breaks a rule; nothing was sent."


@dataclass(frozen=True)
class Call(Generic[T]):
    """One request and the decoder of its answer; sends nothing by itself.

    Attributes:
        request: what to ask.
        read: makes the value of a successful answer's body.
        alternatives: the same question on routes that older or newer releases know.
        missing: the value that a 404 stands for, if the route itself exists; unset, a 404 is an error.
    """

    request: Request
    read: Callable[[bytes], T]
    alternatives: tuple[Request, ...] = ()
    missing: T | msgspec.UnsetType = msgspec.UNSET

    def send(self, sender: Sender) -> T:
        """Send the request for a user, who is warned of a deprecated endpoint; returns the value of the answer."""
        endpoint = self.request.endpoint
        # Before a command is sent: a warning raised as an error must not hide its result.
        if endpoint.deprecated and not endpoint.safe:
            self._warn_once(sender)
        answer = self.answer(sender, self.read)
        if endpoint.deprecated and endpoint.safe and answer is not None and answer.request.endpoint == endpoint:
            self._warn_once(sender)
        assert answer is not None or self.missing is not msgspec.UNSET
        return self.missing if answer is None else answer.value  # type: ignore[return-value]

    def _warn_once(self, sender: Sender) -> None:
        endpoint, warned = self.request.endpoint, sender.transport.warned
        if endpoint not in warned:
            warned.add(endpoint)
            # Above are `send` and the method of the interface.
            warnings.warn(f"{endpoint}: {endpoint.deprecated}", DeprecatedEndpointWarning, stacklevel=4)

    def answer(self, sender: Sender, read: Callable[[bytes], Any]) -> Answer[Any] | None:
        """Send the request and return its answer, read in some way; None if a 404 stands for a value."""
        try:
            return sender.send(self.request, *self.alternatives, read=read)
        except NotFoundError as error:
            # A 404 for the item is the normal "there is none"; a 404 for the route is an error.
            if error.unknown_route or self.missing is msgspec.UNSET:
                raise
            return None


def sends(
    endpoint: Endpoint | None = None, *, neighbour: bool = False, like: Callable[..., Any] | None = None
) -> Callable[[Callable[Concatenate[S, P], Call[T]]], Callable[Concatenate[S, P], T]]:
    """Declare a call of an interface: its method sends what `make` returns, `preview` and `raw` run it otherwise.

    Args:
        endpoint: the endpoint to try first; None if the caller passes it.
        neighbour: whether it is not of the contract, but a further endpoint of the same server.
        like: the call whose docstring describes the arguments that this one's leaves out.
    """
    shared = {} if like is None else described(like, "Args")

    def declare(make: Callable[Concatenate[S, P], Call[T]]) -> Callable[Concatenate[S, P], T]:
        @wraps(make)
        def sent(self: S, *arguments: P.args, **options: P.kwargs) -> T:
            return make(self, *arguments, **options).send(self._sender)

        declared: Any = sent
        declared.makes, declared.endpoint, declared.neighbour = make, endpoint, neighbour
        parameters = list(inspect.signature(make).parameters)[1:]
        if text := inspect.getdoc(make):  # missing under python -OO
            errors = [*([_UNSERVED] if neighbour else []), *([_REFUSED] if parameters else [])]
            declared.__doc__ = documented(text, parameters, shared, errors)
        return cast("Callable[Concatenate[S, P], T]", declared)

    return declare


def calls_of(interface: type[Calls]) -> dict[str, Any]:
    """The functions that make an interface's calls, by the name of the call."""
    makes = ((name, getattr(getattr(interface, name), "makes", None)) for name in dir(interface))
    return {name: make for name, make in makes if make is not None}


def declared_call(calls: Calls, name: str) -> Callable[..., Call[Any]]:
    """The method that creates an interface's call of a name.

    Raises:
        AttributeError: there is no such call.
    """
    own = calls_of(type(calls))
    if name not in own:
        raise AttributeError(f"{name!r} is not a call of {calls.interface}: give one of {', '.join(own)}")
    make: Callable[..., Call[Any]] = own[name].__get__(calls)
    return make


class Calls:
    """Base of the four interfaces: each call sends its request and returns the value of the answer.

    Args:
        sender: the way to send.
    """

    interface: ClassVar[Interface]

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def __repr__(self) -> str:
        try:
            return f"<{type(self).__name__} {', '.join(self.servers)}>"
        except LedgerframesError:
            return f"<{type(self).__name__} not connected>"

    @property
    def servers(self) -> tuple[str, ...]:
        """The interface's base URLs, the one that worked last first."""
        return self._sender.servers(self.interface)

    @property
    def preview(self) -> Runner[Prepared]:
        """The same methods, run without sending: each returns its request as a `Prepared`, the token masked.

        Such as `net.scan.preview.updates(page_size=10)`.
        """
        return Runner(self, lambda call: self._sender.prepare(call.request))

    @property
    def raw(self) -> Runner[Answer[bytes] | None]:
        """The same methods, run without decoding: each returns an `Answer` with the body's bytes.

        Such as `net.scan.raw.validator_licenses()`. The body is checked to be whole JSON. None if the call takes the
        server's 404 for "there is none".
        """
        return Runner(self, lambda call: call.answer(self._sender, _whole_json))

    def on(self, server: str) -> Self:
        """The same interface, asking one of its servers only: its page tokens mean nothing to the others.

        Args:
            server: one of `servers`.

        Returns:
            A copy; this one still asks every server.
        """
        return self._sending(self._sender.on(server))

    def stoppable(self, stop: Stop) -> Self:
        """The same interface for one operation: once `stop` is set, its requests, waits and pauses end.

        Args:
            stop: set by any thread; a call that runs then, or comes later, raises a StoppedError in less than a second.
        """
        return self._sending(self._sender.stoppable(stop))

    def _sending(self, sender: Sender) -> Self:
        twin = copy(self)
        twin._sender = sender  # noqa: SLF001 - its own
        return twin


class Runner(Generic[T]):
    """An interface's calls, each run in one way other than sent and read; `preview` and `raw` of the interfaces.

    Args:
        calls: the interface.
        run: runs a call.
    """

    def __init__(self, calls: Calls, run: Callable[[Call[Any]], T]) -> None:
        self._calls = calls
        self._run = run

    def __call__(self, *arguments: Any, **_options: Any) -> NoReturn:
        """Refuse a call's name as an argument."""
        names = calls_of(type(self._calls))
        name = next((one for one in names if one in arguments), next(iter(names)))
        line = f"net.{self._calls.interface}.preview.{name}(…)"
        raise InputError(f"preview and raw have the calls as methods: write {line}, or raw in place of preview")

    def __getattr__(self, name: str) -> Callable[..., T]:
        """The call's method, with its signature and docstring."""
        make = declared_call(self._calls, name)

        @wraps(getattr(self._calls, name))
        def run(*arguments: Any, **options: Any) -> T:
            return self._run(make(*arguments, **options))

        return run

    def __dir__(self) -> list[str]:
        return list(calls_of(type(self._calls)))


_json = msgspec.json.Decoder(msgspec.Raw)
_PIECE: Final = 2**18


def _whole_json(body: bytes) -> bytes:
    # msgspec does not look inside the texts that it keeps raw, so bytes that are not UTF-8 would pass.
    check_text(body)
    _json.decode(body)
    return body


def check_text(body: bytes) -> None:
    """Check a body as text, 256 KiB at a time, for readers that decode only parts of it.

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
