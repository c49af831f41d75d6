"""Every error the package raises, grouped by what the caller can do about it.

LedgerframesError
├── ConfigurationError          fix the settings: an address, a token, a profile
├── InputError (ValueError)     fix the argument that the message names
├── RequestError                a server did not give what was asked
│   ├── NoAnswerError           nothing, or only part of an answer, arrived
│   └── StatusError             the server refused the request
│       ├── NotFoundError       404
│       ├── ConflictError       409
│       ├── RateLimitedError    429
│       ├── NotAuthorizedError  401, 403
│       └── ServerError         5xx
├── PagingError                 a server's pages contradict each other; going on would lose rows
├── DecodeError                 an answer breaks the contract; names endpoint, table, column, item
├── PartialResultError          the result would have a gap; `allow_partial=True` returns it as it is
├── StoreError                  a lake on disk cannot be used as asked
└── StoppedError                an operation was ended by its caller; start it again to continue
"""

from __future__ import annotations

import inspect
import re
import sys
import warnings
from collections.abc import Mapping
from copy import copy
from types import TracebackType
from typing import Final


class LedgerframesError(Exception):
    """Base of every error raised on purpose by this package; its message is one printable line, whatever it quotes."""

    def __init__(self, message: str = "") -> None:
        super().__init__(visible(message))

    def _render_traceback_(self) -> list[str]:
        """The lines for IPython: the caller's own frames and the message; everything in the modes Plain and Verbose."""
        shell = sys.modules["IPython"].get_ipython()
        if shell.InteractiveTB.mode in {"Plain", "Verbose"}:
            lines = shell.InteractiveTB.structured_traceback(type(self), self, self.__traceback__, tb_offset=1)
        else:
            bare = copy(self)  # without its causes, whose frames are all inside
            bare.__cause__, bare.__suppress_context__ = None, True
            lines = shell.InteractiveTB.structured_traceback(
                type(self), bare, _outside(self.__traceback__), tb_offset=1
            )
        return list(lines)


def _outside(trace: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames of this package and of its libraries."""
    frames = []
    while trace is not None and not trace.tb_frame.f_globals.get("__name__", "").startswith("ledgerframes."):
        frames.append(trace)
        trace = trace.tb_next
    outside: TracebackType | None = None
    for frame in reversed(frames):
        outside = TracebackType(outside, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return outside


class ConfigurationError(LedgerframesError):
    """The settings cannot be used: an address, a token or a profile is wrong or missing."""


class InputError(LedgerframesError, ValueError):
    """An argument breaks a rule; nothing was sent."""


class RequestError(LedgerframesError):
    """A server did not return what was requested."""


class NoAnswerError(RequestError):
    """No answer, or only a part of one, arrived within the attempts and the time allowed."""


class StatusError(RequestError):
    """A server answered with an error status (contract: Errors).

    Attributes:
        status: the HTTP status.
        detail: the server's own message, shortened; empty when there was none.
        code: the ledger interface's error code, if the body has one.
        category: the ledger interface's errorCategory, if the body has one.
        correlation_id: an id that the operator of the server can look up; often all there is.
        trace_id: another such id.
        context: the ledger interface's context map.
        unknown_route: the server does not know the path at all (an older or newer release).
        server: the base URL that answered.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int,
        detail: str = "",
        code: str | None = None,
        category: int | None = None,
        correlation_id: str | None = None,
        trace_id: str | None = None,
        context: Mapping[str, str] | None = None,
        unknown_route: bool = False,
        server: str = "",
    ) -> None:
        super().__init__(message)
        self.status = status
        self.detail = detail
        self.code = code
        self.category = category
        self.correlation_id = correlation_id
        self.trace_id = trace_id
        self.context = dict(context or {})
        self.unknown_route = unknown_route
        self.server = server

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.args, self.__dict__)


class NotFoundError(StatusError):
    """404: the server does not know the item, or the path."""


class ConflictError(StatusError):
    """409: the state of the ledger forbids it now (a contract in the middle of a reassignment)."""


class RateLimitedError(StatusError):
    """429: too many requests."""


class NotAuthorizedError(StatusError):
    """401 or 403: the token is missing, expired, or does not allow this."""


class ServerError(StatusError):
    """5xx: the server, or a gateway before it, failed."""


class PagingError(LedgerframesError):
    """A server's pages contradict each other, so that reading on would lose or repeat rows."""


class DecodeError(LedgerframesError):
    """An answer breaks the contract.

    Attributes:
        endpoint: the path that answered.
        table: the table being filled, if any.
        column: the column being filled, if any.
        item: which item of the answer (its id, or its position).
    """

    def __init__(
        self,
        message: str,
        *,
        endpoint: str = "",
        table: str | None = None,
        column: str | None = None,
        item: str | None = None,
    ) -> None:
        super().__init__(message)
        self.endpoint = endpoint
        self.table = table
        self.column = column
        self.item = item

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.args, self.__dict__)


class PartialResultError(LedgerframesError):
    """The result would have a gap; `allow_partial=True` returns it with `complete` set to False."""


class StoreError(LedgerframesError):
    """A store on disk or object storage cannot be used as asked."""


class StoppedError(LedgerframesError):
    """An operation was ended by its caller, or its connection was closed, before it was done."""


def visible(text: str, *, lines: bool = False) -> str:
    """Text that a terminal, a log or a page can show: unprintable characters are replaced by their codes, as in JSON.

    So text from a server cannot run escape sequences, fake lines or change the writing direction.

    Args:
        text: any text.
        lines: keep line breaks and tabs.
    """
    if text.isprintable():
        return text
    allowed = "\n\t" if lines else ""
    return "".join(sign if sign.isprintable() or sign in allowed else _code(sign) for sign in text)


# Errors of the storage library contain the escape codes of terminal colours.
_COLOURS: Final = re.compile("\x1b" + r"\[[0-9;]*m")
# S3 repeats credentials in what follows: a session's as `Token-0`, and whatever was signed, or a signature itself.
_REFUSAL: Final = re.compile(r"<Error>\s*(<Code>[^<]*</Code>)?\s*(<Message>[^<]*</Message>)?.*", re.DOTALL)


def without_credentials(text: str) -> str:
    """An object store's refusal with its code and message alone; any other text is unchanged."""
    return _REFUSAL.sub(r"\1 \2", text)


def storage_words(error: BaseException) -> str:
    """The message of the storage library in one line, without credentials, which are removed from the error, too."""
    text = _COLOURS.sub("", str(error))
    if (shown := without_credentials(text)) != text:
        error.args = (shown,)  # it is chained, and shown with its effect
    return " ".join(shown.split())


def _code(sign: str) -> str:
    units = sign.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def _rebuild(kind: type[LedgerframesError], args: tuple[object, ...], state: dict[str, object]) -> object:
    """Rebuild an error with keyword-only arguments after pickling."""
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class BeginsLateWarning(UserWarning):
    """The history of a server, a folder of objects or a lake begins after ledger begin."""


class RoundedAmountsWarning(UserWarning):
    """An export received amounts as floats, so its files contain rounded numbers."""


class IncompleteFiguresWarning(UserWarning):
    """Figures lack contracts from before the range, or something unknown to this version."""


class InsecureHttpWarning(UserWarning):
    """`insecure_http=True` sends a token over plain http: anyone on the network path can read and use it."""


class FailoverWarning(UserWarning):
    """`failover="network"` found no further scans; the message says why."""


class DeprecatedEndpointWarning(FutureWarning):
    """An endpoint is deprecated; the message names the replacement."""


class SnapshotWarning(UserWarning):
    """A snapshot differs from the expected one: far older than requested, or without the fees of its time."""


def warn(message: str, kind: type[Warning]) -> None:
    """Warn at the line that called the package."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and str(frame.f_globals.get("__name__", "")).partition(".")[0] == "ledgerframes":
        frame, level = frame.f_back, level + 1
    warnings.warn(message, kind, stacklevel=level + 1)
