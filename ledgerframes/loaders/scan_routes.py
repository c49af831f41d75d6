"""Explains that a scan does not serve a route outside the contract, for the loaders of those routes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from ledgerframes.errors import InputError, NotFoundError
from ledgerframes.transport.request import Endpoint

#: A release that is known to have the routes, as answers of it are at hand; no document names their first one.
KNOWN: Final = "0.5.5"


@contextmanager
def needing(*endpoints: Endpoint, instead: str) -> Iterator[None]:
    """Turn "unknown route" into an error that names the route, a release known to have it, and a substitute.

    Args:
        endpoints: the routes that are requested, the newest first.
        instead: what to do otherwise, a sentence without its full stop.

    Raises:
        InputError: the scan serves none of them.
    """
    try:
        yield
    except NotFoundError as error:
        if not error.unknown_route:
            raise
        routes = " nor ".join(str(endpoint) for endpoint in endpoints)
        raise InputError(
            f"the scan at {error.server} does not serve {routes}. Scan release {KNOWN} does; whether older ones do"
            f" is not documented. What to do: give scan_url= of a newer one, with its prefix /api/scan, or {instead}"
        ) from error
