"""Classifies one attempt as an `Answer`, or as a `Failure` with what may be tried next; called by `retrying`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

import msgspec

from ledgerframes.decoding.splitting import UNREADABLE
from ledgerframes.errors import DecodeError, visible
from ledgerframes.transport.failures import SHORTENED, is_page, page_words, preview
from ledgerframes.transport.outcome import Failure, Received
from ledgerframes.transport.request import PREFIXES, Request

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
Masking = Callable[[str], str]


@dataclass(frozen=True)
class Answer(Generic[T_co]):
    """What was read from a server's answer, and where it came from.

    Attributes:
        value: what `read` made of the body.
        status: the HTTP status.
        server: the base URL that answered: scheme, host and path only.
        request: the request that was answered, which may be an alternative or a revised one.
        size: bytes of the body, after decompression.
        seconds: how long this attempt took.
        headers: the answer's headers, names in lower case.
    """

    value: T_co = field(repr=False)
    status: int
    server: str
    request: Request
    size: int
    seconds: float
    headers: Mapping[str, str] = field(repr=False)


def judge_broken(failure: Failure, request: Request, server: str, *, mask: Masking) -> Failure:
    """No whole answer arrived."""
    advice = f" What to do: check {request.endpoint.interface}_url= and the network, or give a further URL."
    if not failure.elsewhere:
        advice = ""
    elif failure.advice:
        advice = f" What to do: {failure.advice.replace('{interface}', request.endpoint.interface)}."
    elif not request.endpoint.safe:
        advice = " What to do: check whether the command was carried out before sending it again."
    reason = visible(mask(failure.reason))  # may quote a line that a server or a proxy has sent
    reason = reason if len(reason) <= SHORTENED else f"{reason[: SHORTENED - 1]}…"
    said = "got no answer" if failure.sent else "was not sent"
    return replace(failure, reason=f"{request} at {server} {said}: {reason}.{advice}")


def judge_body(
    received: Received,
    request: Request,
    server: str,
    *,
    read: Callable[[bytes], T],
    mask: Masking,
    seconds: float,
    met: bool = False,
) -> Answer[T] | Failure:
    """Read a whole answer whose status is a success.

    A body that is not whole JSON was damaged in transit, so asking again may help. The same holds for a body of another
    kind than was asked for (`[]`, `{"error": …}`), unless the same body comes again. An item that breaks the contract
    does so each time: only another server may have it right. An HTML page means a wrong address, unless the server has
    answered before (`met`): then something in between failed for the moment.
    """
    if is_page(received):
        return _judge_page(received, request, server, mask=mask, met=met)
    problem: Exception
    try:
        value = read(received.body)
    except DecodeError as error:
        broken = error
        doubtful = isinstance(error.__cause__, UNREADABLE) and _is_doubtful(error.__cause__)
        body = _digest(received.body) if doubtful else None
        return Failure(str(error), transient=doubtful, whole=True, body=body, made=lambda _ending: broken)
    except UNREADABLE as error:
        problem = error
    else:
        headers = {name: mask(text) for name, text in received.headers.items()}
        return Answer(value, received.status, server, request, len(received.body), seconds, headers)
    said = mask(str(problem))
    cause = problem if said == str(problem) else None
    # msgspec raises this only for whole JSON; what is cut off or damaged is a plain DecodeError.
    lasting = isinstance(problem, msgspec.ValidationError)
    text = (
        f"{request} at {server} answered {received.status} with a body that "
        f"{'breaks the contract' if lasting else 'is not whole JSON'}: {said} ({preview(received, mask)}). "
        f"{'' if request.endpoint.safe else 'The command itself was most likely carried out. '}What to do: "
        f"check {request.endpoint.interface}_url= and the release the server runs"
        f"{'' if lasting else ', or try again later'}."
    )

    def made(ending: str) -> DecodeError:
        error = DecodeError(text + ending, endpoint=request.endpoint.path)
        error.__cause__ = cause
        return error

    doubtful = _is_doubtful(problem)
    body = _digest(received.body) if lasting and doubtful else None
    return Failure(text, transient=doubtful, whole=lasting, body=body, made=made)


def _is_doubtful(problem: Exception) -> bool:
    """Whether the body may be damaged, rather than be whole with one member that breaks the contract.

    msgspec names the path of a member or an item, and no path where the body as a whole is of the wrong type.
    """
    return not isinstance(problem, msgspec.ValidationError) or " - at `" not in str(problem)


def _digest(body: bytes) -> bytes:
    return hashlib.sha256(body).digest()


def _judge_page(received: Received, request: Request, server: str, *, mask: Masking, met: bool) -> Failure:
    """The answer is an HTML page: something other than the expected server sent it."""
    interface = request.endpoint.interface
    prefix = PREFIXES.get(interface)
    perhaps = f"it may lack the prefix {prefix}, or be" if prefix else "it may be"
    unsure = "" if request.endpoint.safe else "Check whether the command was carried out. "
    text = (
        f"{request} at {server} answered {received.status} with an HTML page, not JSON: "
        f"{page_words(received, mask)!r}. {unsure}What to do: check {interface}_url=: {perhaps} the address of another "
        "kind of server, or of a log-in page."
    )
    return Failure(
        text,
        transient=met,
        final=not met,
        made=lambda ending: DecodeError(text + ending, endpoint=request.endpoint.path),
    )
