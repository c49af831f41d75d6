"""Says why an attempt has no usable answer: a `Failure` with the next steps to try; `sending` calls it."""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from ledgerframes.arguments import spelled_duration
from ledgerframes.decoding.splitting import UNREADABLE
from ledgerframes.errors import (
    ConflictError,
    DecodeError,
    NotAuthorizedError,
    NotFoundError,
    RateLimitedError,
    ServerError,
    StatusError,
    visible,
    without_credentials,
)
from ledgerframes.timestamps import http_date
from ledgerframes.transport.request import ERROR_BODY, PREFIXES, Failure, Received, Request

Masking = Callable[[str], str]

SHORTENED: Final = 500
PREVIEW: Final = 80
LONGEST_TOKEN: Final = 2**13  # longer than any token: a token cut in two could not be masked
PAGE_HEAD: Final = 2**10
CHALLENGE: Final = 2**12
READABLE: Final = 2**13  # bounds the work that a page crafted to slow the patterns can cause
TRANSIENT_STATUSES: Final = frozenset({429, 502, 503, 504})
# On real participants these categories are transient, whatever the status; the others repeat.
TRANSIENT_CATEGORIES: Final = frozenset({1, 2, 3, 12})

_KINDS: Final[Mapping[int, type[StatusError]]] = {
    401: NotAuthorizedError, 403: NotAuthorizedError, 404: NotFoundError, 409: ConflictError, 429: RateLimitedError,
}  # fmt: skip
_ADVICE: Final[Mapping[int, str]] = {
    400: "fix what the server reports",
    401: "give a token that is valid now, as {interface}_token=",
    403: "the token does not allow this: ask the operator for the right, or give another {interface}_token=",
    404: "check the id",
    409: "the state of the ledger forbids it now: check it and, if it still makes sense, ask again",
    407: "the proxy requires a user and a password: write them into HTTP_PROXY or HTTPS_PROXY",
    413: "ask for a smaller page or send less",
    429: "lower rate=, or give a further {interface}_url=",
    501: "the server does not offer this: do without it, or ask a server of another release",
}
_CARRIED_OUT: Final = "check whether the command was carried out before sending it again"
_UNKNOWN_ROUTE: Final = "the server does not know this path: it runs another release, or {interface}_url= "
_OTHER_METHOD: Final = "the server knows this path by another method only: it runs another release"
_AUTHENTICATE: Final = (
    "this server requires a token, and none was given: give {interface}_token=, set LEDGERFRAMES_{INTERFACE}_TOKEN, or "
    "have a profile fetch it"
)
#: What remedies say of a server that is closed to most, whatever the token.
ADMITS_KNOWN: Final = "admits known addresses"
_CLOSED_SCAN: Final = f'this scan {ADMITS_KNOWN} only: ask its operator, or try others with failover="network"'
_CLOSED: Final = f"the gateway before it {ADMITS_KNOWN} only, or tokens with a right to this: ask its operator which"
#: What Envoy answers in place of the server that it guards, mostly by address.
_GATEWAY: Final = "RBAC: access denied"
#: The remedy for a refusal of a request without a token, by interface.
_WITHOUT_TOKEN: Final[Mapping[int, Mapping[str, str]]] = {401: {}, 403: {"scan": _CLOSED_SCAN}}
_CLEAR_TEXT: Final = re.compile(r"HTTP request (was sent )?to (an )?HTTPS (port|server)", re.IGNORECASE)  # nginx, Go
_CHALLENGED: Final = frozenset({401, 403})
_PARAMETER: Final = re.compile(r'\b(error|error_description)\s*=\s*(?:"([^"]*)"|([^\s",]+))', re.IGNORECASE)
_PAGE: Final = re.compile(rb"<(!doctype html|html|head|body)\b", re.IGNORECASE)
_SILENT: Final = re.compile(r"<(script|style|head)\b.*?</\1\s*>|<!--.*?-->", re.DOTALL | re.IGNORECASE)
_TITLE: Final = re.compile(r"<title[^>]*>(.*?)</title\s*>", re.DOTALL | re.IGNORECASE)


def judge_broken(failure: Failure, request: Request, server: str, *, mask: Masking) -> Failure:
    """Complete the failure of an attempt that received no whole answer."""
    interface = request.endpoint.interface
    # Another registry's URL is another issuer's, and no answer of this one.
    further = "" if interface == "registry" else ", or give a further URL"
    advice = f" What to do: check {interface}_url= and the network{further}."
    if not failure.elsewhere:
        advice = ""
    elif failure.advice:
        advice = f" What to do: {failure.advice.replace('{interface}', interface)}."
    elif not request.endpoint.safe:
        advice = f" What to do: {_CARRIED_OUT}."
    reason = visible(mask(failure.reason))  # may quote a line from a server or a proxy
    reason = reason if len(reason) <= SHORTENED else f"{reason[: SHORTENED - 1]}…"
    details = "got no answer" if failure.sent else "was not sent"
    return replace(failure, reason=f"{request} at {server} {details}: {reason}.{advice}")


def judge_unreadable(
    received: Received, problem: Exception, request: Request, server: str, *, mask: Masking
) -> Failure:
    """Interpret an answer whose status is a success, and whose body cannot be read.

    A body that is not whole JSON was damaged in transit, so asking again may help. The same holds for a body of another
    kind than requested (`[]`, `{"error": …}`), unless the same body comes again. An item that breaks the contract does
    so each time: only another server may have it right.
    """
    if isinstance(problem, DecodeError):
        doubtful = isinstance(problem.__cause__, UNREADABLE) and _is_doubtful(problem.__cause__)
        body = _digest(received.body) if doubtful else None
        problem.args = (mask(str(problem)),)
        problem.__cause__, problem.__context__ = _shown(problem.__cause__, mask), None
        return Failure(str(problem), transient=doubtful, final=True, body=body, problem=problem.with_traceback(None))
    details = mask(str(problem))
    # msgspec raises this only for whole JSON; a truncated or damaged body is a plain DecodeError.
    lasting = isinstance(problem, msgspec.ValidationError)
    text = (
        f"{request} at {server} answered {received.status} with a body that "
        f"{'breaks the contract' if lasting else 'is not whole JSON'}: {details} ({preview(received, mask)}). "
        f"{'' if request.endpoint.safe else 'The command itself was most likely carried out. '}What to do: "
        f"check {request.endpoint.interface}_url= and the release the server runs"
        f"{'' if lasting else ', or try again later'}."
    )
    error = DecodeError(text, endpoint=request.endpoint.path)
    error.__cause__ = _shown(problem, mask)
    doubtful = _is_doubtful(problem)
    body = _digest(received.body) if lasting and doubtful else None
    return Failure(text, transient=doubtful, final=lasting, body=body, problem=error)


def _shown(cause: BaseException | None, mask: Masking) -> BaseException | None:
    """The cause without the frames that read the body; None if it quotes a token, or holds the body itself."""
    if cause is None or isinstance(cause, UnicodeDecodeError) or mask(str(cause)) != str(cause):
        return None
    cause.__cause__ = cause.__context__ = None
    return cause.with_traceback(None)


def _is_doubtful(problem: Exception) -> bool:
    """Whether the body may be damaged, rather than complete with one member that breaks the contract.

    msgspec names the path of a member or an item, and no path if the body as a whole has the wrong type.
    """
    return not isinstance(problem, msgspec.ValidationError) or " - at `" not in str(problem)


def _digest(body: bytes) -> bytes:
    return hashlib.sha256(body).digest()


def judge_page(received: Received, request: Request, server: str, *, mask: Masking, recognised: bool) -> Failure:
    """Interpret an answer that is an HTML page: something other than the expected server sent it.

    It means a wrong address, unless the server has answered correctly before (`recognised`): then something in between
    failed temporarily.
    """
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
        transient=recognised,
        final=not recognised,
        problem=DecodeError(text, endpoint=request.endpoint.path),
    )


def judge_refusal(received: Received, request: Request, server: str, *, mask: Masking, now: float) -> Failure:
    """Interpret an error answer by its content, not by its content type (contract: Errors).

    Args:
        received: the answer.
        request: the request.
        server: the server that answered.
        mask: removes tokens from a text, so that none is stored.
        now: seconds since 1970, for a Retry-After that is a date.
    """
    status = received.status
    # By content: a ledger's 400 may carry JSON or text, and a 429 is often text, whatever the header says.
    # A 407 is a proxy's, which may repeat the password that was sent to it.
    text = "" if status == 407 else _readable(received.body, mask)
    body = _object(text)
    members = _members(body, mask)
    category, detail = members["category"], members["detail"] or ("" if body else mask(_plain(text[:READABLE])))
    if location := _location(received):
        detail = f"it redirects to {_host(mask(location))}"
    elif status in _CHALLENGED and (details := _challenge(received.headers, mask)):
        detail = f"{detail.rstrip('.')} ({details})" if detail else details
    # Servers answer an unknown route with a 404 in plain text, and a missing item with their JSON error.
    unknown_route = status == 405 or (status == 404 and not {"error", "code"} & body.keys())
    fields: dict[str, Any] = {
        **members, "status": status, "detail": _short(detail), "unknown_route": unknown_route, "server": server,
    }  # fmt: skip
    extras = ", ".join(
        f"{words} {fields[name]}"
        for name, words in (("code", "code"), ("correlation_id", "correlation id"), ("trace_id", "trace id"))
        if fields[name]
    )
    by_gateway = status == 403 and detail.startswith(_GATEWAY)
    details = (f": {fields['detail'].rstrip('.')}" if fields["detail"] else "") + (f" ({extras})" if extras else "")
    advice = _advice(received, fields["detail"], request, server, unknown_route=unknown_route)
    reason = f"{request} at {server} answered {status}{details}. What to do: {advice}."
    kind = _KINDS.get(status, ServerError if status >= 500 else StatusError)
    transient = status in TRANSIENT_STATUSES or category in TRANSIENT_CATEGORIES
    return Failure(
        reason,
        transient=transient,
        # A 500 repeats on the same server, but is often a fault of that server alone; so is a list of known addresses.
        elsewhere=transient or status == 500 or (status == 403 and (by_gateway or not received.with_token)),
        wait=retry_after(received.headers.get("retry-after"), now) or retry_info(body.get("retryInfo")),
        unknown_route=unknown_route,
        not_found=status == 404 and not unknown_route,
        problem=kind(reason, **fields),
    )


def _advice(received: Received, detail: str, request: Request, server: str, *, unknown_route: bool) -> str:
    status, interface = received.status, request.endpoint.interface
    advice = _ADVICE.get(status, "try again later; a further {interface}_url= is asked when one server fails")
    if unknown_route:
        prefix = PREFIXES.get(interface)
        wrong = f"lacks a prefix such as {prefix}" if prefix else "is that of another kind of server"
        advice = _OTHER_METHOD if status == 405 else _UNKNOWN_ROUTE + wrong
        advice += f". {request.endpoint.since}" if request.endpoint.since else ""
    elif _location(received):
        advice = "redirects are not followed: give the address it points to as {interface}_url=, if you trust it"
    elif status == 404 and request.url is not None:
        advice = "the object is gone: list the objects again, or give source='pages'"
    elif status == 404 and request.endpoint.not_found_is_local:
        advice = "check the id; scans do not know what they have pruned"
    elif status < 500 and status not in _ADVICE:
        advice = "fix what the server reports"
    elif status == 400 and server.startswith("http://") and _CLEAR_TEXT.search(detail):
        advice = "write https:// in {interface}_url="
    elif status == 403 and detail.startswith(_GATEWAY):
        advice = _CLOSED_SCAN if interface == "scan" else _CLOSED
    elif status in _WITHOUT_TOKEN and not received.with_token:
        advice = _WITHOUT_TOKEN[status].get(interface, _AUTHENTICATE)
    elif status >= 500 and not request.endpoint.safe:
        advice = _CARRIED_OUT
    elif interface == "registry" and (status >= 500 or status == 429):  # another URL is another issuer's
        advice = "lower rate=" if status == 429 else "try again later"
    return advice.format(interface=interface, INTERFACE=interface.upper())


def _challenge(headers: Mapping[str, str], mask: Masking) -> str:
    """The reason that a server states when it refuses a token (RFC 6750), for example that it expired."""
    text = mask(headers.get("www-authenticate", ""))[:CHALLENGE]
    parameters = {match[1].lower(): match[2] or match[3] or "" for match in _PARAMETER.finditer(text)}
    return parameters.get("error_description") or parameters.get("error") or ""


def is_page(received: Received) -> bool:
    """Whether an answer is an HTML page, judged by its first bytes rather than its content type."""
    head = received.body[:PAGE_HEAD].lstrip(b"\xef\xbb\xbf \t\r\n")
    kind = received.headers.get("content-type", "").lower()
    return bool(_PAGE.match(head)) or (head[:1] == b"<" and "html" in kind)


def page_words(received: Received, mask: Masking) -> str:
    """The first words of a page."""
    words = _short(_plain(_readable(received.body, mask)[:READABLE].lstrip("\ufeff")))
    return words if len(words) <= PREVIEW else f"{words[:PREVIEW]}…"


def preview(received: Received, mask: Masking) -> str:
    """The beginning of an unexpected body, and its declared type."""
    text = " ".join(_readable(received.body, mask).split())
    kind = mask(received.headers.get("content-type", "no content type"))[:PREVIEW]
    shown = text[:PREVIEW] + ("…" if len(text) > PREVIEW else "")
    return f"{len(received.body)} bytes of {kind}, beginning {shown!r}"


def _readable(body: bytes, mask: Masking) -> str:
    """The beginning of a body as text without tokens, or a part of one at its end."""
    text = body[:ERROR_BODY].decode(errors="replace")
    return mask(without_credentials(text[:-LONGEST_TOKEN] if len(body) >= ERROR_BODY else text)).strip()


def _members(body: Mapping[str, Any], mask: Masking) -> dict[str, Any]:
    """The members of an error body; any of them may be null, of another kind, or redacted by the participant."""

    def text(*names: str) -> str | None:
        values = (body.get(name) for name in names)
        return next((_short(mask(value)) for value in values if isinstance(value, str) and value), None)

    category, context = body.get("errorCategory"), body.get("context")
    pairs = context.items() if isinstance(context, dict) else ()
    return {
        "detail": text("error", "cause", "message"),
        "code": text("code"),
        "category": category if isinstance(category, int) and not isinstance(category, bool) else None,
        "correlation_id": text("correlationId"),
        "trace_id": text("traceId"),
        "context": {_short(mask(name)): _short(mask(str(value))) for name, value in pairs},
    }


def _object(text: str) -> dict[str, Any]:
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _plain(text: str) -> str:
    """The readable part of plain text or HTML."""
    if not re.match(r"\s*<(!doctype|!--|html|head|body|\?xml)", text, re.IGNORECASE):
        return text
    title = _TITLE.search(text)
    rest = re.sub(r"<[^>]*>", " ", _SILENT.sub(" ", text))
    heading, words = (" ".join(html.unescape(part).split()) for part in (title[1] if title else "", rest))
    return words if words.startswith(heading) else f"{heading}: {words}".rstrip(": ")


def _location(received: Received) -> str:
    """Where an answer redirects to; empty if it does not, as a 304 or a 300 without an address."""
    return received.headers.get("location", "") if 300 <= received.status < 400 else ""


def _host(location: str) -> str:
    try:
        return urlsplit(location).hostname or "another path on the same host"
    except ValueError:
        return "an address that cannot be read"


def _short(text: str) -> str:
    text = visible(" ".join(text[: 8 * SHORTENED].split()))
    return text if len(text) <= SHORTENED else text[: SHORTENED - 1] + "…"


#: Seconds that a server may ask to wait; more are as many, which no budget allows.
_ENDLESS: Final = 9_999_999_999


def retry_after(value: str | None, now: float) -> float | None:
    """Read a Retry-After header, seconds or HTTP-date, as seconds from now; None if it cannot be read."""
    text = (value or "").strip()
    if re.fullmatch(r"\d+(\.\d+)?", text, re.ASCII):
        return _positive(min(float(text), _ENDLESS))
    try:
        return _positive(http_date(text).timestamp() - now)
    except (ValueError, OverflowError):
        return None


def retry_info(value: object) -> float | None:
    """Read the ledger's retryInfo, words such as `1 second`, as seconds; None if it cannot be read.

    Its format is documented nowhere.
    """
    micros = spelled_duration(value) if isinstance(value, str) else None
    return None if micros is None else _positive(micros / 1e6)


def _positive(seconds: float) -> float | None:
    return seconds if seconds > 0 else None
