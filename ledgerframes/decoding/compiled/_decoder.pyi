"""The functions of `module.cpp`."""

from typing import Any

#: The digest of the sources that it was built from.
SOURCES: str

def read(body: bytes, /) -> Any:
    """Take a page apart; None if it has to be left to the Python path."""

def places(page: Any, /) -> tuple[list[int], list[int], list[str]]:
    """Migration id, microseconds and id of every item."""

def columns(
    pages: tuple[tuple[Any, list[int]], ...], updates: bool, events: bool, reassignments: bool, /
) -> tuple[tuple[Any, int] | None, tuple[Any, int] | None, tuple[Any, int] | None] | None:
    """Per table wanted, of the items at some positions of each page, what holds an Arrow array, and its address.

    None if the rows do not fit one array.
    """

def members(cells: Any, names: tuple[str, ...], closed: bool, /) -> tuple[Any, int] | None:
    """Of objects in a column of texts, what holds a struct of text columns, one per name, and its address.

    None if a text has to be left to the Python path, or, `closed`, has a member of another name.

    Args:
        cells: the capsule of an Arrow array of texts (32-bit offsets), one at least. Nulls and `null` have no members.
        names: the members' names, each once.
        closed: whether there are no others.
    """
