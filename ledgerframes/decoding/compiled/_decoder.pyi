"""The functions of `module.cpp`."""

from typing import Any

#: The digest of the sources that it was built from.
SOURCES: str

def read(body: bytes, /) -> Any:
    """Take a page apart; None if all of it has to be left to the Python path."""

def places(page: Any, /) -> tuple[list[int], list[int], list[str], dict[int, tuple[int, int]]]:
    """Migration id, microseconds and id of every item, and by position where the items lie that are left to Python."""

def columns(
    page: Any, rows: list[int], updates: bool, events: bool, reassignments: bool, /
) -> tuple[Any, Any, Any] | None:
    """An Arrow array capsule per table wanted, of the items at some positions; None if they do not fit one array."""
