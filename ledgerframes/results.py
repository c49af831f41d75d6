"""Base of the dataclasses that long operations return: as plain values, as JSON and as tables in notebooks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from html import escape
from typing import Any

from ledgerframes.errors import visible

_LEFT = " style='text-align:left'"


class Result:
    """A result that people read as text and programs as plain values; subclasses are dataclasses with a `__str__`."""

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values."""
        return asdict(self)  # type: ignore[call-overload, no-any-return]

    def to_json(self) -> str:
        """The result as JSON."""
        return json.dumps(self.to_dict())

    def __repr__(self) -> str:
        return f"<{type(self).__name__}\n{self}>"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def html_pairs(pairs: Iterable[tuple[str, str]]) -> str:
    """A table of names and texts, one pair per row."""
    rows = "".join(f"<tr><th{_LEFT}>{escape(name)}</th><td{_LEFT}>{escape(text)}</td></tr>" for name, text in pairs)
    return f"<table>{rows}</table>"


def text_frames(name: str, frames: Mapping[str, Any], attrs: Mapping[str, Any]) -> str:
    """A summary of the frames of one load in a line: the rows of each, and their origin."""
    rows = [f"{len(frame):,} {table}" for table, frame in frames.items() if frame is not None]
    return visible(f"{name}({', '.join([*rows, *_origin(attrs)])})")


def html_frames(name: str, frames: Mapping[str, Any], attrs: Mapping[str, Any]) -> str:
    """A summary of the frames of one load: rows and columns of each, and their origin."""
    there = {table: frame for table, frame in frames.items() if frame is not None}
    rows = [(table, f"{len(frame):,}", ", ".join(_columns(frame))) for table, frame in there.items()]
    return html_table(", ".join([name, *_origin(attrs)]), ("table", "rows", "columns"), rows)


def _origin(attrs: Mapping[str, Any]) -> list[str]:
    """The range and the source of a load, as its provenance states them."""
    stated = [str(attrs[part]) for part in ("range", "source") if part in attrs]
    return [*stated, *([] if attrs.get("complete", True) else ["not complete"])]


def _columns(frame: Any) -> list[str]:
    return [str(column) for column in getattr(frame, "column_names" if hasattr(frame, "column_names") else "columns")]


def html_table(heading: str, names: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A paragraph and a table under it, with a name above each column."""
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<p>{escape(heading)}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
