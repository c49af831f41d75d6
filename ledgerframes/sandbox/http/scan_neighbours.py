"""The routes of scan beside the contract's six calls, put together for the server."""

from __future__ import annotations

from starlette.routing import BaseRoute

from ledgerframes.sandbox.http.scan_now import CurrentRoutes
from ledgerframes.sandbox.http.scan_snapshots import SnapshotRoutes
from ledgerframes.sandbox.world.views import View


def neighbours(view: View, *, older: bool, page_maximum: int) -> list[BaseRoute]:
    """The routes of one scan server, without the interface's prefix.

    Args:
        view: what the server shows of its world.
        older: a release without the routes under /v1.
        page_maximum: the largest page that it gives.
    """
    return [
        *SnapshotRoutes(view, older=older, page_maximum=page_maximum).routes(),
        *CurrentRoutes(view.world, page_maximum=page_maximum).routes(),
    ]
