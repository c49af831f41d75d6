"""`load_updates`, `load_events`, `load_reassignments`: one table of the history each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ledgerframes.decoding.paged_histories import UPDATE_HISTORY
from ledgerframes.loaders.declaring import Read, history_loader
from ledgerframes.loaders.history_request import EventChoice


@history_loader(UPDATE_HISTORY, ("updates",))
def load_updates(read: Read) -> Any:
    """Load the table `updates` of a part of the update history (contract: POST /v2/updates).

    Args:
        net: the network; its scan is asked.

    Returns:
        One row per update, in the order of migration id, record time and the server. Times are UTC in microseconds;
        `lf.describe("updates")` lists every column with its unit.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     frame = lf.load_updates(net, columns=["record_time", "update_id"])
        >>> list(frame.columns)
        ['record_time', 'update_id']
    """
    return read()["updates"]


@history_loader(UPDATE_HISTORY, ("events",))
def load_events(
    read: Read,
    *,
    template: str | Iterable[str] | None = None,
    party: str | Iterable[str] | None = None,
    choice: str | Iterable[str] | None = None,
) -> Any:
    """Load the table `events` of a part of the update history (contract: POST /v2/updates).

    Args:
        net: the network; its scan is asked.
        template: keep only events of this template, as Module:Entity, or of one of several. The pages are read all the
            same, and what is not wanted of each is dropped. `attrs["only"]` says so, and computed tables, which need
            all events, refuse the frame.
        party: keep only events in which this party acts, signs or observes, or one of several.
        choice: keep only exercises of this choice, or of one of several.

    Returns:
        One row per event of a transaction, in preorder, in the order of migration id, record time and the server. Times
        are UTC in microseconds; `lf.describe("events")` lists every column with its unit.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     frame = lf.load_events(net, columns=["record_time", "update_id"])
        >>> list(frame.columns)
        ['record_time', 'update_id']
    """
    return read(only=EventChoice.of(template=template, party=party, choice=choice))["events"]


@history_loader(UPDATE_HISTORY, ("reassignments",))
def load_reassignments(read: Read) -> Any:
    """Load the table `reassignments` of a part of the update history (contract: POST /v2/updates).

    Args:
        net: the network; its scan is asked.

    Returns:
        One row per leg of a reassignment, in the order of migration id, record time and the server. Times are UTC in
        microseconds; `lf.describe("reassignments")` lists every column with its unit.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     frame = lf.load_reassignments(net, columns=["record_time", "update_id"])
        >>> list(frame.columns)
        ['record_time', 'update_id']
    """
    return read()["reassignments"]
