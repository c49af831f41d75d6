"""Explains why there is no answer: errors of urllib3 as those of httpx, and these in a few words; `http` calls it."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping
from typing import Final

import httpx
from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    LocationParseError,
    NewConnectionError,
    ProtocolError,
    ProxyError,
    ReadTimeoutError,
    SSLError,
)

from ledgerframes.transport.request import Failure

_KINDS: Final = (
    (httpx.ConnectTimeout, "no connection was established in time"),
    (httpx.ReadTimeout, "the server stopped sending"),
    (httpx.WriteTimeout, "the server stopped taking the request"),
    (httpx.PoolTimeout, "no connection became free in time"),
    (httpx.ConnectError, "no connection"),
    (httpx.ProxyError, "the proxy refused"),
    (httpx.ProtocolError, "the connection broke off or did not speak HTTP"),
)
_EXPIRED: Final = 10
_NOT_YET: Final = 9
_OTHER_NAME: Final = frozenset({62, 64})
_AUTHORITY: Final = (
    "if it is your organisation's, give the certificate of its authority (PEM) as ca_file=, LEDGERFRAMES_CA_FILE or "
    "SSL_CERT_FILE; otherwise check {interface}_url= and ask the server's operator"
)
_ADVICE: Final[Mapping[int, str]] = {
    _EXPIRED: "the server's operator has to renew it; if other servers fail so too, set this machine's clock",
    _NOT_YET: "set this machine's clock; if it is right, ask the server's operator",
    **dict.fromkeys(
        _OTHER_NAME, "the certificate is for another name: check the host in {interface}_url=, or ask its operator"
    ),
}
_NO_TLS: Final = frozenset({"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"})


class UnusableAnswer(httpx.TransportError):
    """An error that knows why there is no usable answer, in `broken`."""

    def __init__(self, broken: Failure) -> None:
        super().__init__(broken.reason)
        self.broken = broken


def broken(error: httpx.TransportError) -> Failure:
    """Explain in a few words why there is no answer."""
    if isinstance(error, UnusableAnswer):
        return error.broken
    problem = _tls_problem(error)
    if problem is not None:
        return problem
    words = next((words for kind, words in _KINDS if isinstance(error, kind)), "the connection broke off")
    reason = f"{words}: {error}" if str(error) and not isinstance(error, httpx.TimeoutException) else words
    # A server that was never reached is probably a wrong address, and is tried less often.
    return Failure(reason, reached=not isinstance(error, httpx.ConnectError | httpx.ConnectTimeout))


def _tls_problem(error: BaseException | None) -> Failure | None:
    """The TLS problem behind an error, if there is one; waiting does not fix it."""
    connecting = isinstance(error, httpx.ConnectError)
    for cause in chain(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            advice = _ADVICE.get(cause.verify_code, _AUTHORITY)
            return Failure.for_good(f"its certificate is not trusted: {cause.verify_message.rstrip('.')}", advice)
        if connecting and isinstance(cause, ssl.SSLError) and cause.reason in _NO_TLS:
            advice = "check {interface}_url=: write http:// if the server speaks no TLS, or name another port"
            return Failure.for_good("it does not speak TLS", advice)
    return None


def certificate_refused(error: BaseException | None) -> bool:
    """Whether an error comes from an untrusted certificate, which shows that the server speaks TLS."""
    return any(isinstance(cause, ssl.SSLCertVerificationError) for cause in chain(error))


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error and its causes, one after the other."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def as_httpx(error: Exception, *, opening: bool) -> httpx.TransportError:
    """Convert an error of urllib3 to httpx's."""
    words = words_of(error)
    if isinstance(error, LocationParseError):
        return httpx.ConnectError(f"the host's name is not valid: {error}")
    if isinstance(error, NewConnectionError) or (opening and isinstance(error, SSLError | ProxyError)):
        return httpx.ConnectError(words)
    if isinstance(error, ConnectTimeoutError):  # earlier failures have this kind, too
        return httpx.ConnectTimeout(words)
    if isinstance(error, ReadTimeoutError):
        return httpx.ReadTimeout(words)
    if isinstance(error, ProtocolError):
        return httpx.RemoteProtocolError(words)
    return httpx.ReadError(words) if isinstance(error, HTTPError) else httpx.LocalProtocolError(words)


def words_of(error: BaseException) -> str:
    """The message of an error of urllib3, without the object that it names."""
    inner = error.__cause__ or error.__context__
    return str(inner if inner is not None and str(inner) else error)
