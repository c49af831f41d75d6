"""`show`: a frame formatted for people; reports format cells alike, and `tables` and `describe` are wrapped."""

from __future__ import annotations

import html
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import zip_longest
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from ledgerframes.arguments import refuse, suggesting, whole_number
from ledgerframes.errors import InputError, visible
from ledgerframes.number_format import amount_text, duration_text
from ledgerframes.session_names import alias_of, all_aliases
from ledgerframes.short_ids import short_names

#: Whole numbers beside nulls would be floats otherwise.
_WHOLE: Final = {pa.int64(): pd.Int64Dtype(), pa.int32(): pd.Int64Dtype(), pa.uint64(): pd.UInt64Dtype()}
_WRAPPED: Final = 20  # characters: texts of columns that are longer are wrapped
_NARROW: Final = 24  # columns up to this width keep their order
_KINDS_OF: Final = frozenset({"kind", "event", "event_type", "status", "outcome", "anomaly"})
_LONGEST: Final = 60  # characters of a text in a cell
_BESIDE: Final = 120  # characters of a line of the text that a notebook keeps
_OLD: Final = 30 * 86_400  # seconds from which on the day says enough
_AMOUNTS: Final = 3  # the place of numbers
_CONSTANT: Final = 3  # rows from which on a column of one value goes to the caption
# The content of an element's ::before is visible and not copied; a text of size 0 is copied and not visible.
# Classes are named twice, to be stronger than JupyterLab's own style, which aligns all cells to the right.
_STYLE: Final = """<style>.lf-table { border-collapse: collapse; }
.lf-table caption { caption-side: top; text-align: left; }
.lf-table.lf-table th, .lf-table.lf-table td { text-align: left; vertical-align: top; padding: .2em .8em .2em 0; }
.lf-table.lf-table .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.lf-table.lf-table .time { white-space: nowrap; }
.lf-table i { font-style: normal; white-space: nowrap; } .lf-table i::before { content: attr(data-hint); }
.lf-table s { font-size: 0; text-decoration: none; }</style>"""


class Cell(NamedTuple):
    """The text of a cell, and the full value if it was shortened."""

    words: str
    whole: str = ""


class Shown:
    """A frame formatted for reading: in a notebook, in a shell at the width of the terminal, complete in a pipe.

    Attributes:
        frame: the frame itself, unchanged.
    """

    def __init__(self, frame: pd.DataFrame, rows: int) -> None:
        self.frame = frame
        named = any(name is not None for name in frame.index.names)
        self._read = frame.reset_index() if named else frame  # groups get columns of their own
        self._rows = rows

    def __repr__(self) -> str:
        if not sys.stdout.isatty():
            return str(self._read.to_string(index=False))
        return self.text(shutil.get_terminal_size().columns)

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        # A notebook stores the text with the page that it shows, so not all of the frame.
        return {"text/html": self._repr_html_(), "text/plain": self.text(_BESIDE)}

    def text(self, width: int) -> str:
        """Format as lines of this width; the columns that have no room are named below."""
        read, beside = labelled(self._read, self._rows)
        constant, columns, numbers = _arranged(read, beside)
        ids, heads = ids_of(read, self._rows), _short_heads(read)
        cells = {name: [visible(cell(value, str(name), ids).words) for value in read[name].head(self._rows)]
                 for name in columns}  # fmt: skip
        rows = {name: [visible(heads.get(name, str(name))), *cells[name]] for name in columns}
        wide = {name: max(map(len, rows[name])) for name in columns}
        chosen, room = set[Any](), width + 2
        for name in dict.fromkeys([*_telling(read, columns, numbers), *columns]):
            if not chosen or wide[name] + 2 <= room:
                chosen.add(name)
                room -= wide[name] + 2
        shown = [[row.rjust(wide[name]) if name in numbers else row.ljust(wide[name]) for row in rows[name]]
                 for name in columns if name in chosen]  # fmt: skip
        lines, left = map("  ".join, zip(*shown, strict=True)), [name for name in columns if name not in chosen]
        notes = [_caption(read, constant, self._rows, ids)]
        notes += [f"no room for: {', '.join(map(str, left))}"] if left else []
        return "\n".join([*(line.rstrip() for line in lines), *filter(None, notes)])

    def _repr_html_(self) -> str:
        read, beside = labelled(self._read, self._rows)
        constant, columns, numbers = _arranged(read, beside)
        ids, heads = ids_of(read, self._rows), _short_heads(read)
        caption = html.escape(_caption(read, constant, self._rows, ids))
        times = {name for name in columns if pd.api.types.is_datetime64_any_dtype(read[name])}
        kinds = {name: " class='number'" if name in numbers else " class='time'" if name in times else ""
                 for name in columns}  # fmt: skip
        head = "".join(
            f"<th{kinds[name]}>{escape(heads.get(name, str(name).replace('_', ' ')))}</th>" for name in columns
        )
        rows = "".join(
            "<tr>" + "".join(_td(cell(row[name], str(name), ids), kinds[name]) for name in columns) + "</tr>"
            for row in read.head(self._rows).to_dict("records")
        )
        return (
            f"{_STYLE}<table class='lf-table'><caption>{caption}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{rows}</tbody></table>"
        )


@suggesting
def show(frame: Any, *, rows: int = 20) -> Shown:
    """Format a frame for reading: ids as their hints, amounts with two decimals, the widest columns last.

    A column of parties some of which have an alias or a label is followed by a column `label`; if there are several,
    each has its own, such as `sender_label`. A column that has one value in all rows goes to the caption. In a
    notebook the whole id is under the pointer, and is what is copied. A shell gets lines of the terminal's width, in
    which a time, a kind, a party and an amount have room before others; a pipe gets the whole frame.

    Args:
        frame: a frame of pandas, Arrow or polars; it is not changed.
        rows: how many rows to show, the first ones.

    Returns:
        An object for notebooks and shells; `.frame` is the frame, `.text(width)` the lines.

    Raises:
        InputError: it is not a frame, two of its columns have one name, or `rows` is not 1 or more.

    Example:
        >>> import ledgerframes as lf, pandas as pd
        >>> parties = pd.DataFrame({"party": ["alice::1220ab", "bob::1220cd"], "amount": [1234.5, 2.0]})
        >>> print(lf.show(parties).text(40))
        party    amount
        alice  1,234.50
        bob           2
    """
    whole_number(rows, "rows", least=1)
    read = frame.to_arrow() if hasattr(frame, "to_arrow") else frame
    if isinstance(read, pa.Table):
        read = read.to_pandas(types_mapper=_WHOLE.get)
    if not isinstance(read, pd.DataFrame):
        refuse("frame", frame, "give a frame, such as lf.load_updates(net)")
    if not read.columns.is_unique:
        twice = sorted({str(name) for name in read.columns[read.columns.duplicated()]})
        raise InputError(f"frame has more than one column named {', '.join(twice)}; rename them")
    return Shown(read, rows)


class Reference(pd.DataFrame):  # type: ignore[misc]  # pandas has no types
    """A frame of texts for reading, such as `describe` returns: complete, wrapped, left-aligned; slices are plain."""

    @property
    def _constructor(self) -> Any:
        return pd.DataFrame

    def __repr__(self) -> str:
        width = shutil.get_terminal_size().columns
        return wrapped([(str(name), [cell(value, str(name), {}, whole=True).words for value in self[name]])
                        for name in self.columns], width)  # fmt: skip

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(str(name))}</th>" for name in self.columns)
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(cell(row[name], str(name), {}, whole=True).words)}</td>" for name in row)
            + "</tr>" for row in self.to_dict("records")
        )  # fmt: skip
        return f"{_STYLE}<table class='lf-table'><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def wrapped(columns: Sequence[tuple[str, Sequence[str]]], width: int) -> str:
    """Columns of texts in lines of a width: long texts are wrapped, and the last that have no room are named below."""
    sizes = {name: max(map(len, (name, *cells)), default=0) for name, cells in columns}
    left_out: list[str] = []
    while True:
        widths = {name: size for name, size in sizes.items() if name not in left_out}
        long = [name for name, size in widths.items() if size > _WRAPPED]
        room = width - sum(size for name, size in widths.items() if name not in long) - 2 * (len(widths) - 1)
        if len(long) < 2 or room >= 1.5 * _WRAPPED * len(long):
            break
        left_out.append(long[-1])
    widths |= dict.fromkeys(long, max(room // max(len(long), 1), _WRAPPED))
    lines = []
    shown = [(name, cells) for name, cells in columns if name in widths]
    for row in [tuple(name for name, _ in shown), *zip(*(cells for _, cells in shown), strict=True)]:
        parts = [textwrap.wrap(text, widths[name]) or [""] for text, (name, _) in zip(row, shown, strict=True)]
        for line in zip_longest(*parts, fillvalue=""):
            padded = [text.ljust(widths[name]) for text, (name, _) in zip(line, shown, strict=True)]
            lines.append("  ".join(padded).rstrip())
    return "\n".join([*lines, *([f"no room for: {', '.join(left_out)}"] if left_out else [])])


def cell(value: Any, column: str, ids: Mapping[str, str], *, whole: bool = False) -> Cell:
    """A value for reading: an amount with two decimals, an id by its label, a long text shortened unless `whole`."""
    if isinstance(value, Decimal) and value.is_finite():
        return Cell(_amount(value), f"{value:,f}")
    if isinstance(value, float) and column == "share" and value == value:
        return Cell(f"{value * 1e4:.2g} bp" if 0 < abs(value) < 0.001 else f"{value:.1%}")
    if isinstance(value, str) and value in ids:
        return Cell(ids[value], value)
    words = cell_text(value, whole=whole)
    return Cell(words, value if isinstance(value, str) and words != value else "")


class Labelled(NamedTuple):
    """A frame with columns of labels, and the column that each of them follows."""

    frame: pd.DataFrame
    beside: Mapping[Any, Any]


def labelled(frame: pd.DataFrame, rows: int) -> Labelled:
    """The frame with a column of labels after each column in whose first rows an id has an alias."""
    known = all_aliases()
    texts = [name for name in frame.columns if known and isinstance(name, str)]
    named = [name for name in texts if not known.keys().isdisjoint(ids_in(frame[name].head(rows)))]
    beside = {f"{name.removesuffix('_id')}_label" if len(named) > 1 else "label": name for name in named}
    beside = {label: name for label, name in beside.items() if label not in frame}
    if not beside:
        return Labelled(frame, {})
    frame = frame.copy(deep=False)
    for label, name in beside.items():
        cells = [known.get(value) if isinstance(value, str) else None for value in frame[name]]
        frame.insert(frame.columns.get_loc(name) + 1, label, pd.Series(cells, index=frame.index, dtype=object))
    return Labelled(frame, beside)


def ids_of(frame: pd.DataFrame, rows: int) -> dict[str, str]:
    """The short names of ids in the cells of the first rows; their aliases are in columns of labels."""
    return short_names((id_ for name in frame.columns for id_ in ids_in(frame[name].head(rows))), aliased=False)


def ids_in(column: pd.Series) -> list[str]:
    """The party, synchronizer and instrument ids among these values, but no JSON that has such ids in it."""
    return [value for value in column if isinstance(value, str) and "::" in value and value[0] not in "{["]


def is_number(column: pd.Series) -> bool:
    """Whether a column is right-aligned."""
    if pd.api.types.is_bool_dtype(column):
        return False
    return pd.api.types.is_numeric_dtype(column) or any(isinstance(value, Decimal) for value in column.head(5))


def cell_text(value: Any, *, whole: bool = False) -> str:
    """A cell's text: times to the second, days as days, shortened names, nothing for missing values."""
    if isinstance(value, tuple | list | np.ndarray):
        return ", ".join(cell_text(one, whole=whole) for one in value)
    if isinstance(value, dict):
        return ", ".join(f"{name} {cell_text(member)}" for name, member in list(value.items())[:6])
    if value is None or value is pd.NaT or value is pd.NA or (isinstance(value, float) and value != value):
        return ""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, pd.Timedelta):
        return duration_text(value.total_seconds())
    if isinstance(value, float):
        return _amount(Decimal(repr(float(value)))) if np.isfinite(value) else str(value)
    if isinstance(value, pd.Timestamp):
        return f"{value:%Y-%m-%d}" if value == value.normalize() else f"{value:%Y-%m-%d %H:%M:%S}"
    if isinstance(value, Decimal):
        return format(value, ",f")
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    words = str(value)
    if whole:
        return words
    name, mark, _ = words.partition("::")
    if mark and " " not in words:
        return alias_of(words) or name
    return words if len(words) <= _LONGEST else _shortened(words)


def _shortened(text: str) -> str:
    """As many words of a sentence as have room, or the beginning of an id."""
    end = text.rfind(" ", _NARROW, _LONGEST)
    return f"{text[: end if end > 0 else _NARROW]}…"


def _amount(value: Decimal) -> str:
    """Two decimals, or four digits if it is less than 1."""
    if value == 0 or abs(value) >= 1:
        return f"{value:,.0f}" if value == value.to_integral_value() else f"{value:,.2f}"
    return amount_text(float(value))


def _arranged(frame: pd.DataFrame, beside: Mapping[Any, Any]) -> tuple[dict[str, Any], list[Any], set[Any]]:
    """Columns of one value, the others with the widest last and labels next to their ids, and the numeric ones."""
    constant = {}
    for name in frame.columns if len(frame) >= _CONSTANT else ():
        values = {cell_text(value, whole=True) for value in frame[name].head(1_000)}
        if len(values) == 1 and cell_text(frame[name].iloc[-1], whole=True) in values:
            constant[name] = frame[name].iloc[0]
    varied = [name for name in frame.columns if name not in constant]
    numbers = {name for name in varied if is_number(frame[name])}
    wide = {name: max((len(cell_text(value)) for value in frame[name].head(50)), default=0) for name in varied}
    order = {name: _place(frame[name], str(name), number=name in numbers) for name in varied}
    key = {name: (order[name], max(wide[name], _NARROW)) for name in varied}
    key |= {label: key[name] for label, name in beside.items() if name in key}
    return constant, sorted(varied, key=key.__getitem__), numbers


def _place(column: pd.Series, name: str, *, number: bool) -> int:
    """The position of a column: time, kind, party, amount first, then others, ids last."""
    if pd.api.types.is_datetime64_any_dtype(column):
        return 0
    if name in _KINDS_OF:
        return 1
    if ids_in(column.head(50)):
        return 2
    if name.endswith(("_id", "_ids", "hash")):
        return 5
    return _AMOUNTS if number else 4


def _telling(frame: pd.DataFrame, columns: Sequence[Any], numbers: set[Any]) -> list[Any]:
    """The first time, kind, party and amount: they have room before a second of any of them has."""
    found: dict[int, Any] = {}
    for name in columns:
        place = _place(frame[name], str(name), number=name in numbers)
        if place < _AMOUNTS or (place == _AMOUNTS and not pd.api.types.is_integer_dtype(frame[name])):
            found[place] = name if name == "amount" else found.get(place, name)
    return list(found.values())


def _short_heads(frame: pd.DataFrame) -> dict[str, str]:
    """Short names of ids that are column names, as in a pivot."""
    return short_names(ids_in(pd.Series(frame.columns, dtype=object)))


def _caption(frame: pd.DataFrame, constant: Mapping[str, Any], rows: int, ids: Mapping[str, str]) -> str:
    """The number of rows, the values that are the same in all rows, and the time of a snapshot."""
    parts = [f"the first {rows:,} of {len(frame):,} rows"] if len(frame) > rows else []
    parts += [
        f"{str(name).replace('_', ' ')}: {cell(value, name, ids).words or 'none'}" for name, value in constant.items()
    ]
    parts += _as_of(frame.attrs)
    parts += ["not complete"] if frame.attrs.get("complete") is False else []
    return "; ".join(parts)


def _as_of(attrs: Mapping[str, Any]) -> list[str]:
    """The time of a snapshot, and its age, unless the ledger's time is not this machine's."""
    cursor = attrs.get("cursor")
    if not attrs.get("snapshot") or not cursor:
        return []
    at = pd.Timestamp(cursor[1])
    ago = (pd.Timestamp.now("UTC") - at).total_seconds()
    near = 0 <= ago < _OLD
    return [f"as of {at:%Y-%m-%d %H:%M} UTC" + (f", {duration_text(ago)} ago" if near else "")]


def _td(shown: Cell, kind: str) -> str:
    title = f" title='{escape(shown.whole)}'" if shown.whole else ""
    if shown.whole and not kind:
        return f"<td{title}><i data-hint='{escape(shown.words)}'></i><s>{escape(shown.whole)}</s></td>"
    return f"<td{kind}{title}>{escape(shown.words)}</td>"


def escape(value: object) -> str:
    """Text that a browser shows unchanged; unprintable characters are shown by their codes."""
    return html.escape(visible(str(value), lines=True))
