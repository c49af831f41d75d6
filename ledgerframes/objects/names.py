"""`ObjectName`: the parts of an object's name, by which lists of objects are sorted and filtered."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote, urlsplit

from ledgerframes.timestamps import format_trimmed, parse_timestamp

#: The encoding whose items have the form of pages.
COMPACT: Final = "compact_json"
UPDATES: Final = "updates"
SNAPSHOT: Final = "ACS"

# The first writers had one encoding and did not name it.
_FILE: Final = re.compile(r"(updates|ACS)(?:_([a-z][a-z_]*))?_(\d{1,9})\.zstd", re.ASCII)


@dataclass(frozen=True, order=True)
class ObjectName:
    """The parts of `<after>~<up_to>/updates_compact_json_<number>.zstd`.

    Attributes:
        after: the segment's beginning in microseconds, exclusive; for a snapshot, its time.
        up_to: the segment's end, inclusive.
        number: of the object within its segment, in reading order.
        kind: `updates` or `ACS`.
        encoding: the encoding of values.
    """

    after: int
    up_to: int
    number: int
    kind: str = UPDATES
    encoding: str = COMPACT

    @property
    def readable(self) -> bool:
        """Whether its items are encoded like those of pages."""
        return self.encoding == COMPACT

    def __str__(self) -> str:
        segment = f"{format_trimmed(self.after)}~{format_trimmed(self.up_to)}"
        return f"{segment}/{self.kind}_{self.encoding}_{self.number}.zstd"


def read_name(location: str) -> ObjectName | None:
    """The name at the end of a URL or a path; None if it is not the name of an object."""
    steps = unquote(urlsplit(location).path if "://" in location else location).rsplit("/", 2)[-2:]
    file = _FILE.fullmatch(steps[-1])
    if file is None or len(steps) < 2:
        return None
    after, found, up_to = steps[0].partition("~")
    try:
        low, high = parse_timestamp(after)[0], parse_timestamp(up_to)[0]
    except ValueError:
        return None
    kind, encoding, number = file.groups()
    if not found or low > high:
        return None
    return ObjectName(low, high, int(number), kind, encoding or COMPACT)
