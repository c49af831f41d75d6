"""Scan's routes beside the contract's six calls; the server adds them to its scan."""

from __future__ import annotations

from starlette.routing import BaseRoute

from ledgerframes.sandbox.http.scan_snapshots import SnapshotRoutes
from ledgerframes.sandbox.world.views import View


def neighbours(view: View, *, older: bool, page_maximum: int) -> list[BaseRoute]:
    """The routes of one scan server, without the interface's prefix.

    Args:
        view: what the server shows of its world.
        older: a release without the routes under /v1.
        page_maximum: the largest page that it returns.
    """
    return [*SnapshotRoutes(view, older=older, page_maximum=page_maximum).routes()]
