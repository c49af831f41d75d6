"""What to do where a scan does not serve a route beside the contract's; the loaders of those routes ask it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from ledgerframes.errors import InputError, NotFoundError
from ledgerframes.transport.request import Endpoint

#: The release of the captured answers; how much older ones know is not written down anywhere.
SINCE: Final = "0.5.5"


@contextmanager
def needing(*endpoints: Endpoint, instead: str, since: str = SINCE) -> Iterator[None]:
    """Say which route a scan lacks, which releases have it, and what to use in its place.

    Args:
        endpoints: the routes that were asked for, the newest first.
        instead: what else to do, as a sentence without its full stop.
        since: the oldest release that is known to have one of them.

    Raises:
        InputError: the scan knows none of them.
    """
    try:
        yield
    except NotFoundError as error:
        if not error.unknown_route:
            raise
        routes = " nor ".join(str(endpoint) for endpoint in endpoints)
        raise InputError(
            f"the scan at {error.server} does not serve {routes}, which scan releases from {since} on have. What to do:"
            f" give scan_url= of a newer one, with its prefix /api/scan, or {instead}"
        ) from error
