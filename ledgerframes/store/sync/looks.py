"""`Tail` and `Look`: what is compared with servers, and what they showed; `Agreement` makes both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ledgerframes.paging.cursor import Cursor
from ledgerframes.store.coverage import Interval


@dataclass(frozen=True)
class Tail:
    """What is stored at the beginning of an interval: servers are compared with it.

    Attributes:
        interval: what is not final in the store; it is final up to its `lo`.
        after: the cursor after which servers are asked.
        held: the updates stored after it, with their record times.
        long: whether there are too many to compare; then only those of the last record time are held here.
        anchored: whether a server has to show that it belongs to the network.
    """

    interval: Interval
    after: Cursor | None
    held: Mapping[str, int]
    long: bool = False
    anchored: bool = True


@dataclass(frozen=True)
class Look:
    """What servers showed at the end of what is stored.

    Attributes:
        news: whether they have something that the store lacks, or can make final what is stored.
        lags: whether they lack something that they may still be about to show.
        cursors: the cursors of what they showed.
        known: whether they have shown that they belong to the store's network.
    """

    news: bool
    lags: bool
    cursors: tuple[Cursor, ...] = ()
    known: bool = True
