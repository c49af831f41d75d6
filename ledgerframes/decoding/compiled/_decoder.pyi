"""The functions of `module.cpp`."""

from typing import Any

#: The digest of the sources that it was built from.
SOURCES: str

def read(body: bytes, /) -> Any:
    """Take a page apart; None if all of it has to be left to the Python path."""

def places(page: Any, /) -> tuple[list[int], list[int], list[str], dict[int, tuple[int, int]]]:
    """Migration id, microseconds and id of every item, and by position where the items lie that are left to Python."""

def columns(
    pages: tuple[tuple[Any, list[int]], ...], updates: bool, events: bool, reassignments: bool, /
) -> tuple[tuple[Any, int] | None, tuple[Any, int] | None, tuple[Any, int] | None] | None:
    """Per table wanted, of the items at some positions of each page, what holds an Arrow array, and its address.

    None if the rows do not fit one array.
    """
