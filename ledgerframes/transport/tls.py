"""Trusted certificates, and what to tell the user when one is rejected; the wire calls it.

Certificates are always checked. The public authorities are those of certifi; `SSL_CERT_FILE`, `REQUESTS_CA_BUNDLE` or
`SSL_CERT_DIR` name others in their place, `ca_file=` a private one in addition.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import httpx

from ledgerframes.config.settings import check_ca_file
from ledgerframes.errors import ConfigurationError
from ledgerframes.transport.request import Failure

#: The variables that name trusted certificates; the first that is set wins.
TRUST_VARIABLES: Final = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "SSL_CERT_DIR")
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


def trusted(ca_file: str | None) -> ssl.SSLContext:
    """The TLS context that verifies connections: by the usual certificates, or those that a variable names.

    Args:
        ca_file: certificates to trust in addition to those.

    Raises:
        ConfigurationError: a file or a folder does not exist, cannot be read, or has no certificate; it is named.
    """
    name = next((name for name in TRUST_VARIABLES if os.environ.get(name)), None)
    if name is None:
        context = _usual()
    elif name == "SSL_CERT_DIR" or Path(os.environ[name]).is_dir():
        context = _of_folder(os.environ[name], name)
    else:
        context = ssl.create_default_context(cafile=check_ca_file(os.environ[name], name))
    if ca_file is not None:
        # In addition to the public authorities, so that one connection can reach both kinds of server.
        context.load_verify_locations(check_ca_file(ca_file, "ca_file"))
    return context


def _usual() -> ssl.SSLContext:
    import certifi

    return ssl.create_default_context(cafile=certifi.where())


def _of_folder(place: str, name: str) -> ssl.SSLContext:
    """Trust a folder of certificates, which OpenSSL reads when it needs one."""
    if not Path(place).is_dir():
        raise ConfigurationError(f"{name}={place!r} is not a folder: give an existing one, or unset {name}")
    return ssl.create_default_context(capath=place)


def tls_problem(error: BaseException | None) -> Failure | None:
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


_NO_TLS: Final = frozenset({"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"})
