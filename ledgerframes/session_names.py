"""`aliases`: names for parties and synchronizers, which charts and tables show with their ids or in place of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Final, Self

from ledgerframes.arguments import refuse
from ledgerframes.errors import InputError

_COLUMNS: Final = (("id", "alias"), ("party", "label"), ("party", "name"))
_LONGEST: Final = 200


class Aliases:
    """Names that are valid for the session, or for a `with` block.

    Attributes:
        names: the alias of each id.
    """

    def __init__(self, names: Mapping[str, str], before: Mapping[str, str]) -> None:
        self.names = dict(names)
        self._before: dict[str, str] | None = dict(before)
        self._restored: list[dict[str, str]] = []

    def __enter__(self) -> Self:
        """Set the names, regardless of later calls."""
        current = dict(_session)
        # `with lf.aliases(…):` has set them already; its block restores those from before the call.
        just_called = self._before is not None and current == self.names
        self._restored.append(self._before or {} if just_called else current)
        self._before = None
        _set(self.names)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Restore the names from before the block."""
        _set(self._restored.pop())

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"<{len(self.names)} aliases>"


# A notebook's cells do not share a context, so the session's names cannot be a context variable.
_session: Final[dict[str, str]] = {}


def aliases(names: Any = None) -> Aliases:
    """Give parties and synchronizers names: charts show them in place of ids, `show` and reports in a column `label`.

    The names hold for the session, until the next call, which replaces them; `lf.aliases()` removes them all. In a
    `with` statement they hold within its block. Frames and exports keep their ids.

    Args:
        names: a dictionary from id to name, a frame with the columns `id` and `alias`, the result of `labels` (its
            columns `party` and `label`) or of `load_names` (`party` and `name`), or a list of these. If an id has
            several names, the last source wins; within a frame, the first row. Rows without an id or a name (null) are
            skipped.

    Returns:
        The names by id in `.names`; a context manager.

    Raises:
        InputError: it is neither a dictionary nor such a frame, or a name is not text of 1 to 200 characters.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.aliases({"alice::1220ab": "Alice"}) as named:
        ...     named.names
        {'alice::1220ab': 'Alice'}
    """
    read: dict[str, str] = {}
    for source in names if isinstance(names, list | tuple) else [] if names is None else [names]:
        read.update(_read(source))
    before = dict(_session)
    _set(read)
    return Aliases(read, before)


def alias_of(identifier: str) -> str | None:
    """The name that the session has for a party or synchronizer, or None."""
    return _session.get(identifier)


def all_aliases() -> dict[str, str]:
    """The session's names by id."""
    return dict(_session)


def _set(names: Mapping[str, str]) -> None:
    _session.clear()
    _session.update(names)


def _read(source: Any) -> dict[str, str]:
    pairs = source.items() if isinstance(source, Mapping) else _rows(source)
    names: dict[str, str] = {}
    for identifier, alias in pairs:
        if _there(identifier) and _there(alias):
            names.setdefault(*_checked(identifier, alias))
    return names


def _rows(source: Any) -> Iterable[tuple[Any, Any]]:
    """The pairs of a frame of pandas, Arrow or polars."""
    members: Iterable[Any] = getattr(source, "column_names" if hasattr(source, "column_names") else "columns", ())
    columns = [str(name) for name in members]
    for identifier, alias in _COLUMNS:
        if identifier in columns and alias in columns:
            return zip(_cells(source[identifier]), _cells(source[alias]), strict=True)
    if columns:
        raise InputError(
            f"aliases: a frame with the columns {', '.join(columns[:12])} has no names; give one with the columns id"
            " and alias, or the result of lf.labels(path) or lf.load_names(net)"
        )
    return refuse("aliases", source, "give a dictionary from id to name, or a frame with the columns id and alias")


def _cells(column: Any) -> list[Any]:
    cells: list[Any] = column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()
    return cells


def _there(value: Any) -> bool:
    return value is not None and bool(value == value)


def _checked(identifier: Any, alias: Any) -> tuple[str, str]:
    if not isinstance(identifier, str) or not identifier:
        refuse("aliases", identifier, "give ids as text, such as a party_id")
    if not isinstance(alias, str) or not alias.strip() or len(alias) > _LONGEST:
        refuse("aliases", alias, f"give names as text of 1 to {_LONGEST} characters")
    return identifier, alias.strip()
