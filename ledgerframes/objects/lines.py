"""Reads objects line by line in bounded memory: consecutive zstd frames, one JSON item per line."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from io import BufferedReader
from typing import Any, Final, NamedTuple, Protocol

import pyarrow as pa

from ledgerframes.errors import DecodeError
from ledgerframes.objects.names import ObjectName, StoredObject

#: Bytes of lines in a batch; about as large as a page of 1,000.
_BATCH: Final = 16 * 2**20
_PIECE: Final = 2**22
#: The longest line; equals the default limit of a server's answer.
_LONGEST: Final = 256 * 2**20
#: Objects have an item on every line.
_EMPTY: Final = 1_000_000


class Objects(Protocol):
    """Opens objects."""

    def opened(self, objects: Sequence[StoredObject]) -> Generator[Any]:
        """The compressed bytes of some objects in turn, each a file of pyarrow; to be closed.

        Raises:
            RequestError: an object could not be fetched.
            DecodeError: an object is damaged or gone.
        """


class Line(NamedTuple):
    """A line of one of several objects.

    Attributes:
        raw: its item.
        place: the position of its object.
        name: of the object.
        number: its own, from 1.
    """

    raw: bytes
    place: int
    name: ObjectName
    number: int

    def __str__(self) -> str:
        return f"{self.name}, line {self.number}"


def object_lines(source: Objects, objects: Sequence[StoredObject], first: int = 0) -> Generator[Line]:
    """The lines of objects that follow one another, from the object at `first` on.

    Raises:
        RequestError: an object could not be fetched.
        DecodeError: an object is damaged.
    """
    with closing(source.opened(objects[first:])) as files:
        for place, file in enumerate(files, first):
            name = objects[place].name
            for number, raw in enumerate(read_lines(file, str(name)), 1):
                yield Line(raw, place, name, number)


def batches(lines: Iterable[Line], most: int, size: int = _BATCH) -> Iterator[list[Line]]:
    """Lines of one object each, up to `most` of them and `size` bytes at once, but at least one."""
    batch: list[Line] = []
    room = size
    for line in lines:
        room -= len(line.raw)
        if batch and (len(batch) >= most or room < 0 or line.place != batch[0].place):
            yield batch
            batch, room = [], size - len(line.raw)
        batch.append(line)
    if batch:
        yield batch


def read_lines(stream: Any, name: str, *, longest: int = _LONGEST) -> Iterator[bytes]:
    """The items of an object.

    Args:
        stream: the compressed bytes, a file of pyarrow.
        name: the object's name, for messages.
        longest: refuse a longer line.

    Raises:
        DecodeError: the object is damaged, cut off, or has a line that is too long.
    """
    empty = 0
    try:
        with pa.CompressedInputStream(stream, "zstd") as unpacked:
            lines = BufferedReader(unpacked, _PIECE)
            while line := lines.readline(longest + 1):
                if not line.endswith(b"\n"):
                    # The writers end every line, so the last one was cut off.
                    why = f"it has a line of more than {longest:,} bytes"
                    raise _damaged(name, why if len(line) > longest else "its last line has no end")
                if len(line) > 1:
                    yield line[:-1]
                    continue
                empty += 1
                if empty > _EMPTY:  # a file of 100 kB can unpack to billions of them
                    raise _damaged(name, f"it has more than {_EMPTY:,} empty lines")
            if stream.tell() == 0:
                # Without updates, an object is a frame without content; a failed copy leaves no byte at all.
                raise _damaged(name, "the file is empty")
    except (OSError, pa.ArrowException) as error:
        raise _damaged(name, str(error)) from error


def _damaged(name: str, why: str) -> DecodeError:
    return DecodeError(
        f"the object {name} cannot be read: {why}. What to do: get it again, or read the history by source='pages'",
        endpoint=name, item=name,
    )  # fmt: skip
