"""`lf.doctor`: checks this machine, every server and the history, and reports what is wrong and what to do."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from ledgerframes.config.settings import INTERFACES
from ledgerframes.errors import ConfigurationError

_UNUSABLE: Final = frozenset({("proxies", "fail"), ("certificates", "fail")})

if TYPE_CHECKING:
    from ledgerframes.apps.doctor.diagnosis import Diagnosis, Finding
    from ledgerframes.network import Network


def doctor(net: Network, *, store: str | os.PathLike[str] | None = None) -> Diagnosis:
    """Examine a connection: what can be reached, what answers, clocks, tokens, migrations, and what to do.

    Only safe reads are sent: at most three a server, two more a scan where there are several, and about ten to
    find where the history begins and ends.

    Args:
        net: the network.
        store: a lake to look at too: its folder, or its object-store URL.

    Returns:
        A `Diagnosis`: true if nothing fails; `to_frame()`, `to_json()`; no token is in it.

    Raises:
        InputError: `store` is not a path. What fails at a server is part of the result instead.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=100) as net:
        ...     bool(lf.doctor(net))
        True
    """
    from ledgerframes.apps.doctor.diagnosis import Diagnosis

    began, before = time.monotonic(), _requests(net)
    findings = tuple(_examine(net, store))
    return Diagnosis(findings, _requests(net) - before, time.monotonic() - began)


def _requests(net: Network) -> int:
    """How many requests were sent so far: none where the way to the servers cannot even be set up."""
    try:
        return net.stats.snapshot().requests
    except ConfigurationError:
        return 0


def _examine(net: Network, store: str | os.PathLike[str] | None) -> Iterator[Finding]:
    from ledgerframes.apps.doctor import environment, histories, servers

    yield from environment.examine_surroundings(os.environ)
    of_settings = tuple(environment.examine_settings(net))
    yield from of_settings
    # without its proxies and certificates the way to the servers cannot be set up
    usable = not any((finding.check, finding.status) in _UNUSABLE for finding in of_settings)
    scans = []
    for interface in INTERFACES:
        for url in getattr(net.settings, f"{interface}_url") if usable else ():
            findings = list(servers.examine_server(net, interface, url))
            if interface == "scan" and any((finding.check, finding.status) == ("kind", "ok") for finding in findings):
                scans.append(url)
            yield from findings
    if scans:
        yield from histories.examine_history(net, tuple(scans))
    if store is not None:
        yield from environment.examine_store(net, store)
