"""`Table` and `Column`: the declaration of a table; `catalogue` lists all of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from ledgerframes.arguments import did_you_mean, names
from ledgerframes.errors import InputError
from ledgerframes.tables.kinds import JSON, Kind

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes:
        name: the column's name in every form of the table.
        kind: the kind of its values.
        meaning: one sentence for the data dictionary and the Parquet schema.
        nullable: whether a row may be without it.
        unit: the unit of a number; empty if there is none.
        source: JSON pointer into the item it comes from, or how it is worked out.
        spelling: how the server writes it where that is not the kind's usual way: "epoch milliseconds", or
            "empty is unset".
        absent: JSON for a member that is missing or null.
        option: the keyword argument that must be True for the column to exist.
    """

    name: str
    kind: Kind
    meaning: str
    nullable: bool = False
    unit: str = ""
    source: str = ""
    spelling: str = ""
    absent: str = ""
    option: str = ""

    @property
    def field(self) -> pa.Field:
        """The Arrow field, its meaning in the metadata so that Parquet carries it."""
        import pyarrow as pa

        metadata = {"description": self.meaning} | ({"unit": self.unit} if self.unit else {})
        return pa.field(self.name, self.kind.arrow, nullable=self.nullable, metadata=metadata)


@dataclass(frozen=True)
class Table:
    """One table: name, key, columns, and what it comes from; `loaded` and `computed` declare most of them.

    Attributes:
        name: the table's name.
        meaning: one sentence that describes a row.
        key: the columns that identify a row.
        columns: in their fixed order.
        endpoints: method and path of the endpoints that fill it, or the call of the function that computes it.
    """

    name: str
    meaning: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    endpoints: tuple[str, ...] = ()

    @cached_property
    def schema(self) -> pa.Schema:
        """The Arrow schema with the table's and the columns' meanings."""
        import pyarrow as pa

        return pa.schema([column.field for column in self.columns], metadata={"description": self.meaning})

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The column names in order."""
        return tuple(column.name for column in self.columns)

    def take(self, *names: str) -> tuple[Column, ...]:
        """Some of its columns, in this order, for another table that has them as they are."""
        known = {column.name: column for column in self.columns}
        return tuple(known[name] for name in names)

    def copied(self, *names: str) -> tuple[Column, ...]:
        """Some of its columns for a table that is computed from this one, which is their source."""
        return tuple(replace(column, source=f"{column.name} of {self.name}") for column in self.take(*names))

    def having(self, *options: str) -> Table:
        """The table with only those columns that are always loaded, or whose keyword is given."""
        selected = tuple(column for column in self.columns if not column.option or column.option in options)
        return replace(self, columns=selected)

    def pick(self, columns: Iterable[str] | None, argument: str = "columns") -> tuple[str, ...]:
        """Check the column names in a caller's argument, and return the names to keep, in the caller's order.

        Raises:
            InputError: a name is not a column of this table, or is given twice; or there is none.
        """
        if columns is None:
            return self.names
        picked = names(columns, argument)
        if not picked:
            raise InputError(f"{argument} is empty; name at least one column, or leave it out for all")
        for name in picked:
            if name not in self.names:
                hint = did_you_mean(name, self.names) or f"; it has {', '.join(self.names)}"
                raise InputError(f"{argument}: table {self.name!r} has no column {name!r}{hint}")
        if len(set(picked)) != len(picked):
            raise InputError(f"{argument}={list(picked)!r} names a column twice; name each once")
        return picked


EXTRA_MEANING = (
    "What the server sent beyond, or otherwise than, the columns: a JSON object from JSON pointer to value; "
    'the member "absent" lists members that were not sent, "left_out" personal data that was removed from the row; '
    "null where there is nothing."
)

EXTRA = Column("extra", JSON, EXTRA_MEANING, nullable=True, source="members without a column")


def loaded(
    name: str, meaning: str, endpoints: tuple[str, ...], key: tuple[str, ...], columns: tuple[Column, ...]
) -> Table:
    """Declare a table that endpoints fill; its last column is `extra`."""
    return Table(name, meaning, key, (*columns, EXTRA), endpoints)


def computed(
    name: str, meaning: str, key: tuple[str, ...], columns: tuple[Column, ...], *, of: str = "events"
) -> Table:
    """Declare a table that the function of its name computes, of an argument."""
    return Table(name, meaning, key, columns, (f"lf.{name}({of})",))
