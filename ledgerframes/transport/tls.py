"""Trusted certificates; the wire calls it.

Certificates are always checked. The public authorities are those of certifi; `SSL_CERT_FILE`, `REQUESTS_CA_BUNDLE` or
`SSL_CERT_DIR` name others in their place, `ca_file=` a private one in addition.
"""

from __future__ import annotations

import os
import ssl
from pathlib import Path
from typing import Final

from ledgerframes.config.settings import check_ca_file
from ledgerframes.errors import ConfigurationError

#: The variables that name trusted certificates; the first that is set wins.
TRUST_VARIABLES: Final = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "SSL_CERT_DIR")


def trusted(ca_file: str | None) -> ssl.SSLContext:
    """The TLS context that verifies connections: by the usual certificates, or those that a variable names.

    Args:
        ca_file: certificates to trust in addition to those.

    Raises:
        ConfigurationError: a file or a folder does not exist, cannot be read, or has no certificate; it is named.
    """
    name = next((name for name in TRUST_VARIABLES if os.environ.get(name)), None)
    if name is None:
        import certifi

        context = ssl.create_default_context(cafile=certifi.where())
    elif Path(place := os.environ[name]).is_dir():
        context = ssl.create_default_context(capath=place)  # OpenSSL reads its files when it needs one
    elif name == "SSL_CERT_DIR":
        raise ConfigurationError(f"{name}={place!r} is not a folder: give an existing one, or unset {name}")
    else:
        context = ssl.create_default_context(cafile=check_ca_file(place, name))
    if ca_file is not None:
        # In addition to the public authorities, so that one connection can reach both kinds of server.
        context.load_verify_locations(check_ca_file(ca_file, "ca_file"))
    return context
