"""`lf.doctor`: checks this machine, every server and the history, and reports problems with their remedies."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from ledgerframes.arguments import flag, suggesting
from ledgerframes.config.settings import INTERFACES
from ledgerframes.errors import ConfigurationError

_SERVERS: Final = 10  # requests after which no further server is examined
_COMPARED: Final = 3  # scans that are compared

if TYPE_CHECKING:
    from ledgerframes.apps.doctor.diagnosis import Diagnosis, Finding
    from ledgerframes.network import Network


@suggesting
def doctor(net: Network, *, progress: bool | None = None) -> Diagnosis:
    """Examine a connection: reachable servers, their answers, clocks, tokens, migrations, and remedies for problems.

    Only safe reads are sent, at most about 30, whatever there is to examine; servers not asked then are listed.

    Args:
        net: the network.
        progress: True shows a bar, False nothing, None a bar on a terminal or in a notebook and log lines elsewhere.

    Returns:
        A `Diagnosis`: true if nothing fails; `to_frame()`, `to_json()`; no token is in it.

    Raises:
        InputError: `progress` is not True, False or None. A server's failure is part of the result instead.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=100) as net:
        ...     bool(lf.doctor(net))
        True
    """
    from ledgerframes.apps.doctor.diagnosis import Diagnosis
    from ledgerframes.loaders.progress import progress_of

    progress = None if progress is None else flag(progress, "progress")
    began, before = time.monotonic(), _requests(net)
    findings: list[Finding] = []
    with progress_of("doctor", shown=progress, unit="checks") as shown:
        for finding in _examine(net):
            shown.advance(1, finding.subject)
            findings.append(finding)
    return Diagnosis(tuple(findings), _requests(net) - before, time.monotonic() - began)


def _requests(net: Network) -> int:
    """The number of requests sent so far: none if the transport cannot even be created."""
    try:
        return net.stats.snapshot().requests
    except ConfigurationError:
        return 0


def _examine(net: Network) -> Iterator[Finding]:
    from ledgerframes.apps.doctor import environment, histories, servers
    from ledgerframes.apps.doctor.diagnosis import Finding

    before = _requests(net)
    yield from environment.examine_surroundings(os.environ)
    yield from environment.examine_settings(net)
    scans = []
    for interface in INTERFACES:
        for url in getattr(net.settings, f"{interface}_url"):
            if _requests(net) - before > _SERVERS:
                yield Finding(f"{interface} {url}", "reached", "unknown", "not asked: doctor sends about 30 requests")
                continue
            findings = list(servers.examine_server(net, interface, url))
            if interface == "scan" and any((finding.check, finding.status) == ("kind", "ok") for finding in findings):
                scans.append(url)
            yield from findings
    if scans:
        yield from histories.examine_history(net, tuple(scans[:_COMPARED]))
