"""Reads objects line by line in bounded memory: consecutive zstd frames, one JSON item per line."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any, Final

import msgspec
import pyarrow as pa

from ledgerframes.decoding.paged_histories import UPDATE_HISTORY
from ledgerframes.decoding.splitting import UNREADABLE
from ledgerframes.errors import DecodeError
from ledgerframes.interfaces.history_pages import HistoryPage, page_of
from ledgerframes.objects.sources import Objects, StoredObject
from ledgerframes.stopping import Stop, held_back
from ledgerframes.threads import ended, result, spawn

#: Starts a call whose result is needed later, in a thread of the given name.
Ahead = Callable[[Callable[[], None], str], Future[None]]
#: Some lines of one of several objects: its position, the number of the first line from 1, and the lines.
Lines = tuple[int, int, list[bytes]]

#: Bytes of lines that are decoded at once; about as large as a page of 1,000.
PAGE_BYTES: Final = 16 * 2**20
#: Seconds that the end of a read waits for the download of the next object.
_LEAVING: Final = 1.0
_PIECE: Final = 2**22
#: The longest line; equals the default limit of a server's answer.
LONGEST: Final = 256 * 2**20
#: Objects have an item on every line.
_EMPTY: Final = 1_000_000


def object_lines(
    source: Objects, objects: Sequence[StoredObject], *, lines: int, first: int = 0, ahead: Ahead = spawn
) -> Generator[Lines]:
    """The lines of objects, some at a time; the next object is fetched meanwhile.

    Args:
        source: opens them.
        objects: the objects, in order.
        lines: how many lines at once.
        first: the position of the first one to read.
        ahead: fetches the next object while another is read.

    Raises:
        RequestError: an object could not be fetched.
        DecodeError: an object is damaged.
    """
    stop = Stop()
    fetching = source.stoppable(stop)
    pending: Future[None] | None = None
    try:
        for place in range(first, len(objects)):
            if pending is not None:
                with held_back(stop.set):
                    result(pending)
            fetching.fetch(objects[place])
            following = objects[place + 1 : place + 2]
            pending = ahead(partial(fetching.fetch, *following), "ledgerframes-object") if following else None
            line = 1
            with fetching.opened(objects[place]) as file:
                for batch in read_lines(file, str(objects[place].name), lines=lines, most=PAGE_BYTES):
                    yield place, line, batch
                    line += len(batch)
    finally:
        # Also if the caller stops early: the download under way must not outlive the read.
        stop.set()
        if pending is not None:
            ended(pending, _LEAVING)


def page_of_lines(batch: list[bytes], name: str, line: int = 1) -> HistoryPage:
    """Some lines as a page.

    Args:
        batch: the lines.
        name: the object's name, for messages.
        line: the number of the first one, for messages.

    Raises:
        DecodeError: a line is not an item, or has no place in the history.
    """
    try:
        return HistoryPage.read(page_of(UPDATE_HISTORY, batch))
    except DecodeError as error:
        raise DecodeError(
            f"{name}, from line {line} on: {error}", endpoint=error.endpoint, table=error.table, item=error.item
        ) from error
    except (msgspec.DecodeError, *UNREADABLE) as error:
        raise DecodeError(f"{name}: line {line} or a later one is not an item: {error}", item=name) from error


def read_lines(stream: Any, name: str, *, lines: int, most: int, longest: int = LONGEST) -> Iterator[list[bytes]]:
    """The items of an object, some lines at a time.

    Args:
        stream: the compressed bytes, a file of pyarrow.
        name: the object's name, for messages.
        lines: the maximum number of lines per batch,
        most: and the maximum number of bytes, but at least one line.
        longest: refuse a longer line.

    Raises:
        DecodeError: the object is damaged, cut off, or has a line that is too long.
    """
    batch: list[bytes] = []
    size = 0
    for line in _lines(stream, name, longest):
        if batch and (len(batch) >= lines or size + len(line) > most):
            yield batch
            batch, size = [], 0
        batch.append(line)
        size += len(line)
    if batch:
        yield batch


def _lines(stream: Any, name: str, longest: int) -> Iterator[bytes]:
    """Yield the lines that are not empty."""
    rest, empty = bytearray(), 0
    for piece in _pieces(stream, name):
        first, *others = piece.split(b"\n")
        rest += first
        if len(rest) > longest:
            raise _damaged(name, f"it has a line of more than {longest:,} bytes")
        if not others:
            continue
        if rest:
            yield bytes(rest)
        *whole, last = others
        full = list(filter(None, whole))
        empty += len(whole) - len(full)
        if empty > _EMPTY:  # a file of 100 kB can unpack to billions of them
            raise _damaged(name, f"it has more than {_EMPTY:,} empty lines")
        yield from full
        rest = bytearray(last)
    if rest:
        # The writers end every line, so this one was cut off.
        raise _damaged(name, "its last line has no end")


def _pieces(stream: Any, name: str) -> Iterator[bytes]:
    try:
        with pa.CompressedInputStream(stream, "zstd") as unpacked:
            while piece := unpacked.read(_PIECE):
                yield piece
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
