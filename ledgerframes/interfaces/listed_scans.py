"""Finds the network's further scans, for `connect(failover="network")`; `Network` calls it."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from ledgerframes.config.settings import Settings, check_url, origin_of, source_of
from ledgerframes.errors import ConfigurationError, DecodeError, FailoverWarning, RequestError, visible
from ledgerframes.interfaces.scan import Scan
from ledgerframes.interfaces.scan_now import SCANS
from ledgerframes.transport import Clock, Sender, Transport

if TYPE_CHECKING:
    import httpx

_log = logging.getLogger("ledgerframes.network")
_PREFIX: Final = "/api/scan"
#: More scans than any network has; the rest of a longer list is ignored.
_MOST: Final = 100
#: Attempts and seconds for the list, without which the given scans still work.
_ATTEMPTS: Final = 2
_BUDGET: Final = 30.0

#: Explains why a URL must not be asked; None if it may be.
Refusal = Callable[[str], str | None]


def listed_scans(
    settings: Settings, refusal: Refusal, clock: Clock | None, carrier: httpx.BaseTransport | None
) -> tuple[str, ...]:
    """The base URLs of the scans that the given ones list, without those given and those refused.

    Warns if the list cannot be read, or names no scan that may be asked.

    Args:
        settings: names the scans to ask.
        refusal: explains why a URL must not be asked.
        clock: the clock for waits.
        carrier: sends the requests in place of urllib3.
    """
    quick = replace(settings, attempts=min(settings.attempts, _ATTEMPTS), budget=min(settings.budget, _BUDGET))
    try:
        with Transport(quick, clock=clock, transport=carrier) as transport:
            named = [scan.public_url for group in Scan(Sender(transport)).scans() for scan in group.scans]
    except (RequestError, DecodeError) as error:
        _warn(f"the list of scans could not be read from {SCANS}: {error}")
        return ()
    known, usable, refused = {_key(url) for url in settings.scan_url}, list[str](), 0
    for position, name in enumerate(named[:_MOST]):
        base = _base(name)
        if base is None:
            refused += 1
            # The text may contain a password.
            _log.warning("scan %d of the list is not used for failover: its address is not a base URL", position)
        elif _key(base) not in known:
            known.add(_key(base))
            if (reason := refusal(base)) is None:
                usable.append(base)
            else:
                refused += 1
                _log.warning("the scan %s is not used for failover: %s", visible(source_of(base)[:120]), reason)
    if refused and not usable:
        _warn(f"{SCANS} lists {len(named)} scans, and none of them may be asked; the log says why")
    return tuple(usable)


def _base(name: str) -> str | None:
    """The base URL of a scan whose public URL may lack the prefix; None if it is not one."""
    try:
        url = check_url(name, "publicUrl")
    except ConfigurationError:
        return None
    return url if url.endswith(_PREFIX) else url + _PREFIX


def _key(url: str) -> tuple[str, str, int, str]:
    """The parts of a URL that identify a scan."""
    return *origin_of(url), urlsplit(url).path


def _warn(reason: str) -> None:
    warnings.warn(
        f"failover='network' adds no scans: {reason}. Only those of scan_url= are asked; name more of them there",
        FailoverWarning,
        stacklevel=4,
    )
