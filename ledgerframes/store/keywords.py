"""The keywords of those `Store` methods whose return type depends on `as_`, for their overloads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import Any, TypedDict

from ledgerframes.frames import Decimals, Lists
from ledgerframes.paging.cursor import Bound, Duration
from ledgerframes.store.read.where import Where

#: A state of a store: the number of its document, the id of the sync that left it, or a time.
AsOf = int | str | date | datetime


class LoadOptions(TypedDict, total=False):
    """The keywords of `Store.load`, for its overloads; a test keeps both in step."""

    columns: Iterable[str] | None
    start: Bound | None
    end: Bound | None
    last: Duration | None
    where: Where
    as_of: AsOf | None
    allow_partial: bool
    decimals: Decimals | None
    lists: Lists


class SqlOptions(TypedDict, total=False):
    """The keywords of `Store.sql`, for its overloads."""

    as_of: AsOf | None
    allow_partial: bool
    decimals: Decimals | None
    parameters: Sequence[Any] | None
