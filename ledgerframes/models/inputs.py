"""The history that models are computed from, in whatever form the caller has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds

from ledgerframes.arguments import path as read_path
from ledgerframes.arguments import shown
from ledgerframes.errors import InputError, PartialResultError
from ledgerframes.frames import attrs_of, proof_of, to_arrow, to_pandas
from ledgerframes.loaders.history import History
from ledgerframes.loaders.ledger import LedgerHistory
from ledgerframes.loaders.opening import Loader, Opening, opening_of
from ledgerframes.models.coverage import check_same_end
from ledgerframes.models.ledger_frames import filled, is_ledger_frame, scan_tables
from ledgerframes.models.reads import literal
from ledgerframes.paging.cursor import Bound
from ledgerframes.tables.from_snapshots import SNAPSHOTS_READ
from ledgerframes.tables.history import EVENTS, REASSIGNMENTS, UPDATES
from ledgerframes.tables.kinds import AMOUNT
from ledgerframes.tables.replayed import ACTIVE
from ledgerframes.tables.table import Table
from ledgerframes.tables.verdicts import VERDICTS

if TYPE_CHECKING:
    from ledgerframes.models.computing import Incomplete
    from ledgerframes.models.engine import Engine

#: The columns that an opening must have; `load_active_contracts` and `active_contracts` return more.
OPENING: Final = ("contract_id", "template_name", "created_at", "payload")
_GIVER: Final = "give the events of lf.load_events, a History, a Store, or a path of Parquet"
#: Rows that a thread of DuckDB takes at once.
_BATCH: Final = 65_536
#: Columns of few different texts, of which DuckDB compares each once a batch if they are listed once.
_FEW: Final = {"event_type", "template_name", "choice"}
#: Returns the columns of an input whose names are among some words, and of others only the existing ones: a table,
#: dataset or SQL. A copy of it in memory may take up to the given number of bytes.
Give = Callable[[set[str], set[str], int], Any]


@dataclass(frozen=True)
class Inputs:
    """A caller's history.

    Attributes:
        gives: for each relation, a function that returns its columns.
        attrs: the provenance of the events, as far as their rows show it.
        store: the store that is read, if one is.
        opening: the contracts active before the events, if the caller knows.
        opening_argument: `opening` as the caller gave it.
        engine: the engine with computed tables of this history, which computes more of them.
        opened_by: what loads the opening that the table needs.
        verdict_attrs: the provenance of verdicts given in addition to the history; None without them.
        rows_only: whether a caller wants only the rows of tables and the counts of what was not understood.
        incomplete: gathers what tables lack, for a caller that warns of it once.
    """

    gives: Mapping[str, Give]
    attrs: dict[str, Any] = field(default_factory=dict)
    store: Any = None
    opening: Opening | None = None
    opening_argument: Any = None
    engine: Engine | None = None
    opened_by: Loader = "load_opening"
    verdict_attrs: Mapping[str, Any] | None = None
    rows_only: bool = False
    incomplete: Incomplete | None = None

    def read_again(self) -> None:
        """Read a store's tables as `load` does, which names the file that is damaged.

        Raises:
            StoreError: one is.
        """
        for name in ("events", "reassignments") if self.store is not None else ():
            self.store.load(name, as_="arrow")


def inputs_of(
    events: Any, *, reassignments: Any = None, opening: Any = None, opened_by: Loader = "load_opening"
) -> Inputs:
    """Read the caller's events.

    Args:
        events: a frame of events, of the ledger interface too, a `History`, what the ledger's loaders return, a
            `Store`, the path of a Parquet file or folder of events, or `Inputs`.
        reassignments: a frame of them, in addition to one of events.
        opening: an `Opening`, a frame of contracts with its provenance, `"nothing"`, or None.
        opened_by: what loads the opening that the table needs.

    Raises:
        InputError: it is none of them, columns are missing, its tables end at different places, or the opening does not
            belong to the events.
    """
    if isinstance(events, Inputs):
        if opening is not None and opening is not events.opening_argument:
            raise InputError("opening= is another than that of the history that the tables are computed from together")
        return events
    if isinstance(events, LedgerHistory):
        events = events.events
    events = _in_one_state(events)
    gives: dict[str, Give] = {table.name: _reader(events, table, additional=True) for table in (UPDATES, REASSIGNMENTS)}
    if is_ledger_frame(columns_of(events)):
        found = scan_tables(events, columns_of(events))
        gives |= {table.name: _Frame(found[table.name], table) for table in (EVENTS, REASSIGNMENTS)}
    elif isinstance(events, History | str | Path) or is_store(events) or columns_of(events):
        gives[EVENTS.name] = _reader(events, EVENTS)
    else:
        raise InputError(f"events={shown(events)} is not valid: {_GIVER}")
    if reassignments is not None:
        to_arrow(reassignments, REASSIGNMENTS, ())
        gives[REASSIGNMENTS.name] = _Frame(reassignments, REASSIGNMENTS)
    attrs = _proof(events, EVENTS)
    check_all(attrs, EVENTS)
    legs = events.reassignments if isinstance(events, History) and reassignments is None else reassignments
    check_all(attrs_of(legs), REASSIGNMENTS)
    for name in ("updates", "reassignments") if isinstance(events, History) else ():
        if (other := getattr(events, name)) is not None:
            check_same_end(attrs, proof_of(other), name)
    opened = opening_of(opening, attrs, opened_by)
    for table in (VERDICTS, *SNAPSHOTS_READ.values()):
        gives[table.name] = Missing(table)
    gives["opening"] = _opening(opened)
    return Inputs(gives, attrs, events if is_store(events) else None, opened, opening, opened_by=opened_by)


def check_all(attrs: Mapping[str, Any], table: Table) -> None:
    """Refuse rows that were chosen when they were loaded: what belongs to them may be among the others.

    Raises:
        PartialResultError: they were.
    """
    if only := attrs.get("only"):
        filters = ", ".join(f"{key}={shown(value)}" for key, value in only.items())
        raise PartialResultError(
            f"{table.name} holds only those of {filters}, and a computed table needs all of a range; load them without"
            " that"
        )


def inputs_of_verdicts(inputs: Inputs, verdicts: Any) -> Inputs:
    """A history together with verdicts.

    Args:
        inputs: the history.
        verdicts: a frame of them, `Verdicts`, a `Store` that has them, or a path of Parquet.

    Raises:
        InputError: the path does not exist, or columns are missing.
    """
    data = _in_one_state(getattr(verdicts, VERDICTS.name, verdicts))
    both = {**inputs.gives, VERDICTS.name: _reader(data, VERDICTS)}
    return replace(inputs, gives=both, verdict_attrs=_proof(data, VERDICTS), engine=None)


def inputs_of_table(rows: Any, table: Table) -> Inputs:
    """Read one table from the caller.

    Args:
        rows: a frame of it, a `History` or a `Store` that has it, or a path of Parquet: of its file, or of a folder
            of exported tables.
        table: its declaration.

    Raises:
        InputError: the path does not exist.
        PartialResultError: they are legs of reassignments that were chosen when they were loaded.
    """
    rows = _in_one_state(rows)
    attrs = _proof(rows, table)
    if table is REASSIGNMENTS:
        check_all(attrs, table)
    return Inputs({table.name: _reader(rows, table)}, attrs, rows if is_store(rows) else None)


def is_store(data: Any) -> bool:
    """Whether a caller passes a store, which is not imported here: it computes tables itself."""
    return hasattr(data, "load") and hasattr(data, "coverage")


def _in_one_state(data: Any) -> Any:
    """A store in its newest state, whatever is synced into it before all is read; other data as it is."""
    return data._pinned() if is_store(data) else data  # noqa: SLF001 - its only caller in models


def _reader(data: Any, table: Table, *, additional: bool = False) -> Give:
    """Reads a table of a history, a store, a path or a frame; an additional one that is missing has no rows."""
    if isinstance(data, History) and table.name in History._fields:
        frame = getattr(data, table.name)
        return Missing(table) if frame is None else _Frame(frame, table)
    if is_store(data):
        return stored(data, table)
    if isinstance(data, str | Path):
        there = _named_in(Path(read_path(data, table.name)), table) is not None
        return parquet_files(data, table) if there or not additional else Missing(table)
    return Missing(table) if additional else _Frame(data, table)


def _proof(data: Any, table: Table) -> dict[str, Any]:
    """The provenance of a caller's table, as far as its rows show it."""
    if is_store(data):
        return proof_of_stored(data, table)
    if isinstance(data, str | Path):
        files: Any = _reader(data, table)
        return proof_of(files.data, files.data.count_rows())
    return proof_of(getattr(data, table.name, data) if isinstance(data, History) else data)


def proof_of_stored(store: Any, table: Table, end: Bound | None = None) -> dict[str, Any]:
    """The provenance of a store's table, up to a place."""
    # No row has this id, so no row is read.
    nothing = store.load(table.name, columns=["update_id"], where={"update_id": "-"}, end=end, as_="arrow")
    return {name: value for name, value in proof_of(nothing).items() if name != "only"}


def inputs_of_snapshot(name: str, data: Any, *needed: str) -> Inputs:
    """Read a loaded or stored table, some of whose columns are needed; others are null if they are missing.

    Args:
        name: the table, among `SNAPSHOTS_READ`.
        data: a frame of it, a `Store` that has it, or a path of Parquet.
        needed: its columns.

    Raises:
        InputError: it is none of them, columns are missing, or amounts are floats.
    """
    table, frame = SNAPSHOTS_READ[name], data
    if is_store(data):
        frame = data.load(name, as_="arrow")
    elif isinstance(data, str | Path):
        place = Path(read_path(data, name))
        if not place.exists():
            raise InputError(f"{name}={str(data)!r} does not exist: give the result of lf.load_{name}, or a Store")
        frame = ds.dataset(place, format="parquet").to_table()
    if isinstance(frame, pd.DataFrame):
        exact = [column.name for column in table.columns if column.kind is AMOUNT and column.name in needed]
        to_pandas(frame, needed, name=name, giver=f"lf.load_{name}", exact=exact)
    there = [column for column in table.names if column in needed or column in columns_of(frame)]
    rows = filled(to_arrow(frame, table, there, name=name), table)
    # What is as of a moment is so of a selection, too.
    attrs = {key: value for key, value in attrs_of(frame).items() if key != "rows"}
    return Inputs({name: lambda *_: rows}, attrs)


@dataclass(frozen=True)
class Missing:
    """A table that the caller does not have: without rows.

    Attributes:
        table: the declaration of its contents.
    """

    table: Table

    def __call__(self, *_: Any) -> pa.Table:
        """All of its columns, whichever are needed."""
        return self.table.schema.empty_table()


@dataclass(frozen=True)
class _Frame:
    """A frame of a table whose columns are converted when a step first needs them.

    Attributes:
        frame: pandas, Arrow or polars.
        table: the declaration of its contents.
        read: the columns converted so far.
    """

    frame: Any
    table: Table
    read: dict[str, pa.ChunkedArray] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """The bytes that it takes in memory, as far as they are known without examining each cell."""
        own = self.frame.nbytes if isinstance(self.frame, pa.Table) else 0
        return int(max(own, sum(column.nbytes for column in self.read.values())))

    def __call__(self, needed: set[str], listed: set[str], _: int) -> pa.Table:
        table, there = self.table, set(columns_of(self.frame))
        new = [name for name in _among(table, needed | (listed & there)) if name not in self.read]
        columns = to_arrow(self.frame, table, new, name=table.name).select(new)
        self.read.update({name: columns[name].dictionary_encode() if name in _FEW else columns[name] for name in new})
        lacking = [table.schema.field(name) for name in _among(table, listed - there - needed)]
        nulls = {field.name: pa.chunked_array([pa.nulls(len(self.frame), field.type)]) for field in lacking}
        return in_batches(pa.table(self.read | nulls))


def in_batches(rows: pa.Table) -> pa.Table:
    """The same in batches: a thread takes a batch, so one large batch would keep all but one waiting."""
    return pa.Table.from_batches(rows.to_batches(max_chunksize=_BATCH), rows.schema)


def columns_of(frame: Any) -> list[str]:
    """The names of a frame's columns, of any form; none of what is no frame, such as a batch or a lazy query."""
    if isinstance(frame, pa.Table):
        return list(frame.column_names)
    return list(frame.columns) if isinstance(frame, pd.DataFrame) or hasattr(frame, "to_arrow") else []


def stored(store: Any, table: Table) -> Give:
    """Reads a table of a store."""
    return lambda needed, listed, room: store._model_input(table.name, needed, listed, room)  # noqa: SLF001 - its only caller


@dataclass(frozen=True)
class ParquetFiles:
    """Parquet files of a table, which DuckDB reads itself: only the columns, and of those the rows, that a step needs.

    Attributes:
        data: all of them.
        table: the declaration of their contents.
    """

    data: ds.FileSystemDataset
    table: Table

    @property
    def files(self) -> tuple[str, ...]:
        """Their paths."""
        return tuple(self.data.files)

    def __call__(self, needed: set[str], listed: set[str], _: int) -> str:
        """The SELECT of their columns.

        Raises:
            InputError: a needed column is missing, or a list is a text, as in files for BI.
        """
        wanted = _among(self.table, needed | listed)
        missing = [name for name in wanted if name not in self.data.schema.names]
        if missing:
            raise InputError(f"{self.table.name}: the files have no column {', '.join(missing)}; {_GIVER}")
        lists = [name for name in wanted if pa.types.is_list(self.table.schema.field(name).type)]
        to_arrow(self.data.schema.empty_table(), self.table, lists, name=self.table.name)
        return f"select * from read_parquet([{', '.join(map(literal, self.files))}], union_by_name = true)"


def parquet_files(path: str | Path, table: Table) -> ParquetFiles:
    """The Parquet of a table: a file, a folder of its files, or of `History.save` or an export those of its name.

    Raises:
        InputError: there is none, or it is a lake's, some of whose files may hold rows that were replaced.
    """
    place = Path(read_path(path, table.name))
    saved = _named_in(place, table) or place
    if not place.exists():
        raise InputError(f"{table.name}={str(path)!r} does not exist: {_GIVER}")
    lake = saved.parent if (saved / "_delta_log").exists() else place
    if (lake / "lake.json").exists():
        raise InputError(f"{table.name}={str(path)!r} is a lake: give lf.open_store({str(lake)!r})")
    try:
        found = ds.dataset(saved, format="parquet", partitioning="hive")
        found.count_rows()  # opens all of them
    except pa.ArrowInvalid as error:
        raise InputError(f"{table.name}={str(path)!r} is not Parquet: {_GIVER}; {error}") from None
    if not found.files:
        raise InputError(f"{table.name}={str(path)!r} has no Parquet in it: {_GIVER}")
    return ParquetFiles(found, table)


def _named_in(folder: Path, table: Table) -> Path | None:
    """The file of a table in a folder of several, or its folder by migration and month; None if there is neither.

    Raises:
        InputError: there are both, as exports of two layouts leave them, and nothing says which of them is meant.
    """
    named = [one for one in (folder / f"{table.name}.parquet", folder / table.name) if one.exists()]
    if len(named) > 1:
        raise InputError(
            f"{str(folder)!r} has {table.name} twice, as {table.name}.parquet and as a folder, from exports of two"
            f" layouts; remove the older one, or give {str(named[0])!r} or {str(named[1])!r}"
        )
    return next(iter(named), None)


def _opening(opening: Opening | None) -> Give:
    if opening is None:
        return Missing(ACTIVE)
    there = [name for name in ACTIVE.names if name in OPENING or name in opening.contracts.column_names]
    rows = filled(to_arrow(opening.contracts, ACTIVE, there, name="opening"), ACTIVE)
    return lambda *_: rows


def _among(table: Table, words: set[str]) -> list[str]:
    return [name for name in table.names if name in words]
