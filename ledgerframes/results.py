"""Base of the dataclasses that long operations return: as plain values, as JSON and as tables in notebooks."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from html import escape
from typing import Any

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


def html_table(heading: str, names: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A paragraph and a table under it, with a name above each column."""
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<p>{escape(heading)}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
