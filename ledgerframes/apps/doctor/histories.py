"""The history that the scans show: its migrations, its extent, and whether all scans agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from ledgerframes.apps.doctor.diagnosis import Finding, bare
from ledgerframes.config.settings import source_of
from ledgerframes.errors import LedgerframesError, PagingError, StoreError
from ledgerframes.interfaces.history_pages import ScanPages
from ledgerframes.loaders.extent import EVERYTHING, Extent, extent_of, having, sample_size
from ledgerframes.network import Network
from ledgerframes.number_format import duration_text
from ledgerframes.paging.cursor import Cursor
from ledgerframes.paging.modes import PageQuery
from ledgerframes.paging.proofs import Proofs
from ledgerframes.store.sync.beginnings import Beginnings, first_update
from ledgerframes.store.sync.servers import AgreedServers
from ledgerframes.timestamps import format_timestamp

SUBJECT: Final = "history"
_SETTLE: Final = 60_000_000
QUIET: Final = 600  # seconds without an update that are unusual for an active ledger


def examine_history(net: Network, scans: Sequence[str]) -> Iterator[Finding]:
    """List the migrations (about ten requests in all) and compare the scans (two requests each).

    Args:
        net: the network.
        scans: those of its scans that answer.

    Yields:
        Examine where the history begins, its migrations, its newest update, and whether several scans agree.
    """
    try:
        extent = extent_of(net.scan, _earliest(net, scans))
    except LedgerframesError as error:
        yield Finding(SUBJECT, "migrations", "fail", bare(error), "see the scans above")
        return
    if extent is None:
        advice = "is this the network you mean, or has the scan pruned everything?"
        yield Finding(SUBJECT, "migrations", "warn", "no update is shown", advice)
        return
    yield _begins(extent)
    shown = "; ".join(f"{first.migration_id} from {format_timestamp(first.micros)}" for first in extent.firsts)
    yield Finding(SUBJECT, "migrations", "ok", f"{shown} to {format_timestamp(extent.newest.micros)}")
    yield _newest(extent.newest)
    yield from _agreement(net, scans, extent.newest)


def _earliest(net: Network, scans: Sequence[str]) -> ScanPages:
    """The pages of the scans that begin first, or of the first one: two networks are named below."""
    pages = net.scan.update_pages
    try:
        return having(replace(pages, sender=pages.sender.on(*scans)), EVERYTHING)
    except PagingError:
        return replace(pages, sender=pages.sender.on(scans[0]))


def _begins(extent: Extent) -> Finding:
    beginning = extent.beginning
    if beginning.late is None:
        proof = "at ledger begin" if beginning.proven else "with the first update there; nothing shows older ones"
        return Finding(SUBJECT, "beginning", "ok", f"{format_timestamp(beginning.first.micros)}, {proof}")
    found = f"what is there begins late, at {beginning.first}: older updates were pruned, or never stored there"
    advice = 'read older ones from its objects (source="objects"), or from another scan'
    return Finding(SUBJECT, "beginning", "warn", found, advice)


def _newest(newest: Cursor) -> Finding:
    behind = datetime.now(UTC).timestamp() - newest.micros / 1e6
    message = f"the newest update is from {format_timestamp(newest.micros)}, {duration_text(behind)} ago"
    if behind < -QUIET:
        return Finding(SUBJECT, "newest", "warn", f"{message} (in the future)", "set this machine's clock")
    if behind > QUIET:
        return Finding(SUBJECT, "newest", "warn", message, "the ledger is quiet, or the scan lags: ask another one")
    return Finding(SUBJECT, "newest", "ok", message)


def _agreement(net: Network, scans: Sequence[str], newest: Cursor) -> Iterator[Finding]:
    """Whether every scan begins with the same update and has the newest one."""
    if len(scans) < 2:
        return
    try:
        others = {server: "it did not answer" for server in net.scan.servers if server not in scans}
        servers = AgreedServers(net.scan.update_pages, Proofs(_SETTLE), left_out=dict(others))
        beginnings = Beginnings(servers)
        first_update(servers, beginnings)
    except StoreError as error:
        yield Finding(SUBJECT, "one network", "fail", str(error).partition(". Leave")[0], "leave one of them out")
        return
    except LedgerframesError as error:
        found = f"could not be asked of all: {bare(error)}"
        yield Finding(SUBJECT, "one network", "warn", found, "see the scans above")
        return
    apart = [server for server in servers.left_out if server not in others]
    if apart:
        text = f"{apart[0]} shows no update of the others: it belongs to another network, or has hardly begun"
        yield Finding(SUBJECT, "one network", "fail", text, "leave one of them out")
        return
    begins = {server: beginning.first for server, beginning in beginnings.known.items()}
    late = {server: begin for server, begin in begins.items() if begin > min(begins.values())}
    shown = "belong to one network" if late else "show the same beginning"
    yield Finding(SUBJECT, "one network", "ok", f"all {len(scans)} scans {shown}")
    for server, begin in late.items():
        text = f"{source_of(server)} shows it only from {begin} on: it has pruned what came before"
        yield Finding(SUBJECT, "shorter", "warn", text, "older updates are read from the other scans")
    reach = {server: _last(net, server, newest) for server in scans}
    # Of a live ledger those asked last show more, so the others are asked for that.
    top = max([newest, *(last for last in reach.values() if last is not None)])
    lagging = [server for server in scans if reach[server] != top and _last(net, server, top) is None]
    if lagging:
        text = f"{', '.join(lagging)} does not have the newest update yet"
        yield Finding(SUBJECT, "same end", "warn", text, "nothing is lost: a sync takes what a scan has shown only")
    else:
        yield Finding(SUBJECT, "same end", "ok", "all of them have the newest update")


def _last(net: Network, server: str, place: Cursor) -> Cursor | None:
    """The last update on a page that begins at a place; None if the scan shows none there."""
    pages = net.scan.update_pages.leniently()
    request = PageQuery(Cursor(place.migration_id, place.micros - 1), sample_size(pages))
    try:
        return max(pages.send_page(request, server=server).value.page_index.cursors, default=None)
    except LedgerframesError:
        return None
