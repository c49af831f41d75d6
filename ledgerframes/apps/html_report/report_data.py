"""`ReportData`: the frames of a report, and the tables computed from them; every section reads it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import pandas as pd

from ledgerframes.apps.html_report.page import Charts
from ledgerframes.errors import InputError, PartialResultError
from ledgerframes.frames import attrs_of
from ledgerframes.loaders.history import History
from ledgerframes.loaders.opening import Opening
from ledgerframes.models import public
from ledgerframes.models.computing import Incomplete, together
from ledgerframes.models.inputs import Inputs
from ledgerframes.models.licenses import growth_until, license_growth
from ledgerframes.models.openings import stored_opening
from ledgerframes.models.reassignments import legs_around, reassignment_flows
from ledgerframes.paging.cursor import last_before
from ledgerframes.stopping import Stop
from ledgerframes.store.store import Store

#: The earliest time that has a text form.
_FIRST: Final = pd.Timestamp(1, 1, 1, 0, 0, 1, tz="UTC").as_unit("us")


@dataclass(frozen=True)
class Period:
    """A part of record time, inclusive of its start and exclusive of its end; None is open."""

    start: pd.Timestamp | None = None
    end: pd.Timestamp | None = None

    def of(self, rows: pd.DataFrame, column: str) -> pd.DataFrame:
        """The rows whose time lies in the period."""
        inside = rows[column].notna()
        if self.start is not None:
            inside &= rows[column] >= self.start
        if self.end is not None:
            inside &= rows[column] < self.end
        # Provenance stays with the frame; pandas keeps it through a selection.
        return rows[inside]

    def before(self, last: pd.Timestamp) -> Period | None:
        """The preceding period of the same length, if there is one; `last` stands for an open end."""
        if self.start is None:
            return None
        length = (last if self.end is None else self.end) - self.start
        if length > self.start - _FIRST:
            return None
        return Period(self.start - length, self.start)


@dataclass(frozen=True)
class ReportData:
    """The data of a report.

    Attributes:
        updates: the frame of the period, as a store or a loader returns it.
        read: returns `events` and `reassignments` of the period, by their names.
        store: the store in one state, if there is one: it has coverage, snapshots and the time before the period.
        period: the part of record time that the report is about.
        end: for a store: where its reading ends, as the caller gave it.
        begins: for a store: where its reading begins, if that is a place of one migration that no time stands for; the
            period is open then, and nothing before it is compared.
        charts: draws its charts.
        opened: closed once the report is complete.
        made: the computed tables that sections have requested.
        incomplete: takes what those lack, and the caller warns of it; else each table does.
        stop: ends the report before the next of them.
    """

    updates: pd.DataFrame
    read: Callable[[str], pd.DataFrame]
    store: Store | None = None
    period: Period = Period()
    end: Any = None
    begins: Any = None
    charts: Charts = field(default_factory=Charts)
    opened: ExitStack = field(default_factory=ExitStack)
    made: dict[str, pd.DataFrame] = field(default_factory=dict)
    incomplete: Incomplete | None = None
    stop: Stop = field(default_factory=Stop)

    @cached_property
    def events(self) -> pd.DataFrame:
        """The events of the period, which not every section needs."""
        return self.read("events")

    @cached_property
    def reassignments(self) -> pd.DataFrame:
        """The reassignments of the period, likewise."""
        return self.read("reassignments")

    @property
    def history(self) -> History[Any]:
        """The frames of the period as one history."""
        return History(self.updates, self.events, self.reassignments)

    @cached_property
    def opening(self) -> Opening | None:
        """The contracts active where the period before this one, or what is read, begins; models need nothing older.

        None for a history in memory, for a report from ledger begin, and if a store cannot tell.
        """
        place = self.begins if self._reads_from is None else self._reads_from
        if self.store is None or place is None:
            return None
        try:
            return stored_opening(self.store, at=place)
        except InputError:  # a time at which two migrations run is two places
            return None

    @property
    def _earlier(self) -> Period | None:
        """The period of the same length before this one."""
        return None if self.updates.empty else self.period.before(self.updates["record_time"].max())

    @property
    def _reads_from(self) -> pd.Timestamp | None:
        """Where what is read begins: with the period before, unless there is none, as for a period without updates."""
        return self.period.start if self._earlier is None else self._earlier.start

    @cached_property
    def whole(self) -> History[Any]:
        """The history up to the end of the period: with an opening from the period before on, else as far as known.

        The worth of coupons, holdings and the supply depend on what came before the period. Where models read
        the store themselves, updates have only their times, and events only who acted, from the period before on.
        """
        if self.store is None or self.period.start is None:
            return self.history
        columns: dict[str, Any] = {}
        starts: dict[str, Any] = {}
        if self.opening is not None:
            starts = dict.fromkeys(History._fields, self._reads_from)
        elif self._models_read_store:
            columns = {"updates": ["record_time"], "events": ["event_id", "record_time", "acting_parties"]}
            starts = {"events": self._reads_from}
        try:
            return History(
                *(
                    self.store.load(
                        name,
                        columns=columns.get(name),
                        start=starts.get(name),
                        allow_partial=name in columns and name in starts,
                        end=self.end,
                    )
                    for name in History._fields
                )
            )
        except PartialResultError:
            return self.history

    @property
    def edged_from(self) -> str:
        """The beginning of sentences on the edges of computed tables, if those see more than the period."""
        whole = self.opening is not None or self.whole.updates is self.updates
        return "" if whole else "From where the lake begins up to the end of this range, "

    @cached_property
    def legs(self) -> Any:
        """Reassignments up to the end of the period, or those on which the period and the one before depend."""
        if self.store is None or self.period.start is None:
            return self.reassignments
        start = self._reads_from
        if self.opening is None or self.begins is not None or start is None:
            return self.whole.reassignments
        return legs_around(self.store, start=start, end=self.end)

    @property
    def _models_read_store(self) -> bool:
        """Whether the data up to the end of the period is everything that the store has."""
        return self.store is not None and self.period.start is not None and self.end is None

    @cached_property
    def models(self) -> Inputs:
        """The same for computed tables, whose shared steps are computed once."""
        return self.opened.enter_context(together(self.source, opening=self.opening, incomplete=self.incomplete))

    @property
    def source(self) -> Any:
        """The input of computed tables: the store, or a history."""
        if self.opening is not None:
            return self.whole
        # The same updates are a history that begins with the period, as there is no earlier one without a gap.
        return self.store if self._models_read_store and self.whole.updates is not self.updates else self.whole

    @cached_property
    def before(self) -> Period | None:
        """The preceding period of the same length, if all of it is known."""
        earlier = self._earlier
        if earlier is None or earlier.start is None or self.whole.updates.empty:
            return None
        known = self.whole.updates is not self.updates and (
            self.opening is not None or self.whole.updates["record_time"].min() <= earlier.start
        )
        return earlier if known else None

    def table(self, name: str) -> pd.DataFrame:
        """A computed table of the whole history, with exact amounts."""
        self.stop.check()
        if name not in self.made:
            self.made[name] = getattr(public, name)(self.models, opening=self.opening, decimals="exact")
        return self.made[name]

    def of(self, name: str, column: str = "record_time") -> pd.DataFrame:
        """The rows of a computed table whose record time, or another time, lies in the period."""
        return self.period.of(self.table(name), column)

    def days(self, name: str) -> pd.DataFrame:
        """The rows by day of a computed table for the days of the period, also that in which it begins.

        That day is left out if its row is neither of all of it nor of the period alone.
        """
        rows, start = self.table(name), self.period.start
        if start is None:
            return self.of(name, "time")
        known = rows["whole"] | (self.whole.updates is self.updates)
        here = (rows["time"] >= start) | (known & (rows["time"] == start.floor("D")))
        return Period(end=self.period.end).of(rows[here], "time")

    def chart(self, draw: Any, rows: Any, words: str) -> str:
        """A chart of these rows, with a description for readers who do not see it."""
        return self.charts.add(draw.__wrapped__(rows), words)

    @cached_property
    def flows(self) -> pd.DataFrame:
        """Reassignments by when they began; a leg outside of the period is not missing.

        `attrs["edges"]` counts those of the whole history up to the end of the period.
        """
        joined = reassignment_flows(self.legs)
        joined.attrs["edges"] = attrs_of(self.legs).get("edges", joined.attrs["edges"])
        return joined.assign(moment=joined["unassigned_at"].fillna(joined["assigned_at"]))

    @cached_property
    def validators(self) -> pd.DataFrame | None:
        """Validators by day, of the whole history; None if it does not begin with the ledger."""
        try:
            if self.store is not None and (self.opening is not None or self.source is self.store):
                return growth_until(self.store, last_before(self.end))
            return license_growth(self.whole.events, period="D")
        except (PartialResultError, InputError):
            return None

    def snapshot(self, name: str) -> pd.DataFrame | None:
        """A snapshot table's rows, or None if there are none."""
        if self.store is None or name not in {*self.store.tables()["table"]}:
            return None
        rows: pd.DataFrame = self.store.load(name, decimals="exact")
        return rows if len(rows) else None
