"""`ask` requests one page from one server, to compare servers with each other and a store; `agreement` calls it."""

from __future__ import annotations

from ledgerframes.errors import RequestError, StatusError
from ledgerframes.interfaces.history_pages import HistoryPage, named_maximum, smaller_page
from ledgerframes.paging.cursor import Cursor
from ledgerframes.paging.modes import PageQuery
from ledgerframes.paging.proofs import Proofs
from ledgerframes.store.sync.probing import ignores_cursor
from ledgerframes.store.sync.servers import AgreedServers
from ledgerframes.transport import Answer


def ask(
    servers: AgreedServers, proofs: Proofs, after: Cursor | None, page_size: int, server: str, *, insist: bool = False
) -> tuple[int, Answer[HistoryPage]]:
    """Request a page from a server; returns the page size used in the end, and the answer.

    Args:
        servers: the servers.
        proofs: records what is shown.
        after: the cursor to start after; None means the beginning of the ledger.
        page_size: items to ask for.
        server: the server.
        insist: whether to retry if it sends no page.
    """
    size = min([page_size, *filter(None, servers.page_sizes.limits(server))])

    def revise(error: RequestError) -> PageQuery | None:
        nonlocal size
        smaller = smaller_page(size, error)
        if smaller == size:
            return None
        size = smaller
        return PageQuery(after, size)

    # The only server gets the usual retries; one that was left out meanwhile is asked itself, with no substitute.
    named = None if servers.servers == (server,) else (server,) if insist else server
    try:
        answer = servers.send_page(PageQuery(after, size), server=named, revise=revise)
    except StatusError as error:  # a named server is asked once, even if the page was too large for it
        maximum = named_maximum(error)
        if maximum is None or maximum >= page_size:
            raise
        return ask(servers, proofs, after, maximum, server, insist=insist)
    cursors = answer.value.page_index.cursors
    if cursors and after is not None and cursors[0] <= after:
        raise ignores_cursor(servers, server, after, cursors[0])
    proofs.saw(server, cursors)
    return size, answer
