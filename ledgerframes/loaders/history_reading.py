"""Carries out a request for a part of the history: page after page into Arrow, then the caller's form."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from ledgerframes.config.settings import source_of
from ledgerframes.decoding.history import decode_page
from ledgerframes.errors import DecodeError, InputError, PagingError, PartialResultError, RequestError
from ledgerframes.frames import shape
from ledgerframes.interfaces.history import PageRows, read_pages
from ledgerframes.loaders.history_request import HistoryRequest
from ledgerframes.loaders.planning import plan_window
from ledgerframes.loaders.progress import progress_of
from ledgerframes.loaders.provenance import Provenance
from ledgerframes.paging.history import HistoryReader
from ledgerframes.paging.seen_ids import SeenIds
from ledgerframes.tables.catalogue import table_named
from ledgerframes.timestamps import format_timestamp

if TYPE_CHECKING:
    from ledgerframes.network import Network

_log = logging.getLogger("ledgerframes.loaders")


@dataclass(frozen=True)
class Most:
    """What a load takes that was not told how much to load.

    Attributes:
        updates: so many updates at most.
        bytes: so many bytes of answers at most, uncompressed.
    """

    updates: int
    bytes: int


#: The history of a small ledger fits; of a large one it is seconds to minutes, and memory that every notebook has.
UNBOUNDED: Final = Most(updates=100_000, bytes=1_000_000_000)


def read_history(net: Network, request: HistoryRequest, *, unbounded: Most = UNBOUNDED) -> dict[str, Any]:
    """Load the tables of a request, in the caller's form, by name.

    Args:
        net: the network.
        request: what to load.
        unbounded: where to stop if the request names no part of the history.

    Raises:
        InputError: the request names no part, and the history is longer than `unbounded`.
        RequestError: the servers gave no answer; likewise DecodeError and PagingError: answers that cannot be used.
    """
    pages = _Pages(net, request, None if request.bounded else unbounded)
    pages.read()
    attrs = pages.provenance().attrs()
    return {
        name: shape(data, table_named(name), as_=request.as_, decimals=request.decimals, attrs=attrs)
        for name, data in pages.tables(attrs).items()
    }


#: Updates of the first page that are asked for again, at most: late ones may have come before them.
_FEW: Final = 50


class _Pages:
    """Collects the record batches of one read."""

    def __init__(self, net: Network, request: HistoryRequest, most: Most | None) -> None:
        self._net = net
        self._request = request
        self._most = most
        self._reader = HistoryReader(request.window, limit=request.limit, page_size=request.page_size)
        self._batches: dict[str, list[pa.RecordBatch]] = {name: [] for name in request.kept}
        self._servers: dict[str, None] = {}
        self._ids = SeenIds()
        self._opening: PageRows | None = None
        self._updates = self._bytes = 0
        self._complete = True

    def read(self) -> None:
        """Read every page.

        Raises:
            InputError: the history is longer than a load takes unasked.
        """
        request = self._request
        with progress_of("history", shown=request.progress, total=request.limit) as shown:
            try:
                for page in read_pages(self._net.scan, self._reader):
                    self._count(page)
                    self._add(page)
                    shown.advance(
                        len(page.rows), format_timestamp(page.page.glimpse.cursors[page.rows[-1]].micros)[:19]
                    )
                self._check_network()
            except (RequestError, DecodeError, PagingError, PartialResultError) as error:
                if not request.allow_partial:
                    raise
                self._complete = False
                _log.warning("the load ended early: %s", error)

    def _check_network(self) -> None:
        """Ask for the beginning of the load again, where not every page repeated an update of the one before.

        Behind one URL another network may answer from some request on.

        Raises:
            PagingError: the server shows nothing of what the load began with.
        """
        opening = self._opening
        if opening is None or not self._reader.leapt:
            return
        asked = opening.asked
        request = self._net.scan.page_request(asked.after, min(asked.page_size, _FEW))
        answer = self._net.scan.send_page(request, server=(opening.server,), revise=None)
        if not {*answer.value.glimpse.update_ids} & {*opening.page.glimpse.update_ids}:
            raise PagingError(
                f"POST /v2/updates: {opening.server} now shows another history than when the load began: another"
                " network answers there, or the server was restored. Nothing of this load can be trusted; load again"
            )

    def _count(self, page: PageRows) -> None:
        self._updates += len(page.rows)
        self._bytes += len(page.page.raw)
        if self._most and (self._updates > self._most.updates or self._bytes > self._most.bytes):
            raise self._too_much(self._most)

    def _add(self, page: PageRows) -> None:
        rows = page.rows if len(page.rows) < len(page.page) else None
        self._opening = self._opening or page
        self._servers[source_of(page.server)] = None
        places = page.page.glimpse
        self._ids.check([places.update_ids[row] for row in page.rows], [places.cursors[row] for row in page.rows])
        kept = self._request.kept
        for name, batch in decode_page(page.page.raw, tables=kept.keys(), rows=rows).batches.items():
            self._batches[name].append(batch.select(list(kept[name])))

    def _too_much(self, most: Most) -> InputError:
        estimate = plan_window(self._net, self._request.window)
        return InputError(
            f"this would load the whole history ({estimate}), more than {most.updates:,} updates or"
            f' {most.bytes / 1e6:,.0f} MB; say how much you want, for example last="1h", start="2026-01-30" or'
            ' limit=10_000, or start="begin" for all of it'
        )

    def tables(self, attrs: Mapping[str, Any]) -> dict[str, pa.Table]:
        """The collected data; each table's batches are let go as they are joined."""
        found = {}
        for name, columns in self._request.kept.items():
            declared = table_named(name).schema
            schema = pa.schema([declared.field(column) for column in columns]).with_metadata(
                {**declared.metadata, "ledgerframes": json.dumps(attrs)}
            )
            batches = [batch.replace_schema_metadata(schema.metadata) for batch in self._batches.pop(name)]
            found[name] = pa.Table.from_batches(batches, schema)
        return found

    def provenance(self) -> Provenance:
        """Where the data came from."""
        window, reader = self._request.window, self._reader
        cut = reader.limit is not None and reader.taken >= reader.limit  # as many as the caller wanted
        early = self._complete and window.has_end and not (cut or reader.beyond)
        return Provenance(
            tuple(self._servers), str(window), reader.last, self._complete and not early,
            from_beginning=window.from_beginning, personal=self._net.settings.personal, ends_early=early,
        )  # fmt: skip
