"""The inputs of an attempt, a credential and limits, and its outcome: a whole answer, or why there is none."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from ledgerframes.config.settings import Secret
from ledgerframes.errors import LedgerframesError, NoAnswerError, RequestError
from ledgerframes.transport.stopping import Stop

ERROR_BODY: Final = 2**16
LONGEST_LENGTH: Final = 20  # digits; Python refuses to convert thousands of them
#: Bytes per second below which a download is abandoned.
SLOWEST: Final = 50_000


@dataclass(frozen=True)
class Credential:
    """The header that carries a token, and its template; shown as `***`."""

    name: str
    template: str
    token: Secret

    def header(self) -> dict[str, str]:
        """The header itself, for sending only."""
        return {self.name: self.template.format(self.token.reveal())}


@dataclass(frozen=True)
class Received:
    """A whole answer, header names in lower case; of an error's body only the first `ERROR_BODY` bytes.

    Attributes:
        with_token: whether the request carried a token.
        poured: bytes that went into a sink in place of the body.
    """

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    with_token: bool = False
    poured: int = 0

    @property
    def succeeded(self) -> bool:
        """Whether the status is a success and the body is not partial content."""
        # No range was requested, so a 206 is a part that would be taken for the whole.
        return 200 <= self.status < 300 and self.status != 206


@dataclass(frozen=True)
class Failure:
    """Why there is no usable answer, and what may be tried next.

    Attributes:
        reason: what went wrong; after `judge_…`, the whole message.
        advice: the remedy, if it is more specific than checking the address.
        transient: another attempt at the same server may succeed.
        elsewhere: another server may succeed.
        final: no other request to this server can succeed: neither a later one nor one for a smaller page.
        reached: a connection was established.
        sent: the request may have been sent; otherwise there was no token for it.
        unknown_route: a request for the same on another route may be answered.
        not_found: the server knows the path, but not the item.
        whole: the answer arrived complete and is wrong, so no other page size helps.
        wait: seconds the server asks to wait, if it does.
        body: digest of a whole JSON body of the wrong kind; if the same body comes again, the error is final.
        made: creates the error, given a text to end its message; by default a NoAnswerError with the reason.
    """

    reason: str
    advice: str = ""
    transient: bool = True
    elsewhere: bool = True
    final: bool = False
    reached: bool = True
    sent: bool = True
    unknown_route: bool = False
    not_found: bool = False
    whole: bool = False
    wait: float | None = None
    body: bytes | None = None
    made: Callable[[str], LedgerframesError] | None = None

    @classmethod
    def for_good(cls, reason: str, advice: str = "") -> Failure:
        """A fault that no further request to this server can fix; another server may succeed."""
        return cls(reason, transient=False, final=True, advice=advice)

    def error(self, ending: str = "") -> LedgerframesError:
        """Create the error to raise, with a text to end its message."""
        return NoAnswerError(self.reason + ending) if self.made is None else self.made(ending)

    def request_error(self) -> RequestError:
        """Create the failure as a RequestError for `revise` callbacks."""
        error = self.error()
        return error if isinstance(error, RequestError) else NoAnswerError(str(error))


@dataclass
class Attempt:
    """The time limit of one attempt: until an instant, or until it is stopped."""

    at: float = float("inf")
    stop: Stop = field(default_factory=Stop)

    def left(self) -> float:
        """The seconds left."""
        return self.at - time.monotonic()

    def over(self) -> bool:
        """Whether nothing more may be read or sent."""
        return self.left() <= 0 or self.stop.is_set()


class BodySink(Protocol):
    """Receives a body that is too large for memory."""

    def begin(self, length: int | None) -> None:
        """Start a new body; discard what was received so far.

        Args:
            length: its number of bytes, if the server announces it.

        Raises:
            LedgerframesError: there is no room for it.
            OSError: what is there of the body before cannot be discarded.
        """

    def write(self, piece: bytes) -> None:
        """Write the next bytes of the body.

        Raises:
            LedgerframesError: there is no room for them.
            OSError: they cannot be written.
        """
