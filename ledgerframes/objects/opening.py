"""`open_objects` opens a folder of objects as a network."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlsplit

from ledgerframes.arguments import path as read_path
from ledgerframes.arguments import suggesting
from ledgerframes.config.settings import Settings
from ledgerframes.errors import InputError
from ledgerframes.network import Network
from ledgerframes.objects.folder import folder_objects
from ledgerframes.objects.folder_history import FolderHistory
from ledgerframes.objects.names import Segment, StoredObject, consecutive, objects_of, segments_of
from ledgerframes.paging.cursor import When
from ledgerframes.timestamps import EARLIEST, LATEST, format_trimmed, to_micros

#: A host that exists nowhere, by RFC 6761: nothing is ever sent to it.
_HOST: Final = "https://objects.invalid"
_ENDLESS: Final = 1e9


@suggesting
def open_objects(
    path: str | os.PathLike[str],
    *,
    start: When | None = None,
    end: When | None = None,
    storage_options: Mapping[str, str] | None = None,
) -> Network:
    """Open a folder of objects of updates as a network: its history is read from them, without a server; young.

    Objects are the files that scans provide for download (`net.scan.download_object`). They lie in folders named after
    their segments, or in one flat folder, as a browser saves them. Nothing checks their digests: `sha256sum` does.

    Everything that reads the history of updates accepts it: `load_history`, `Store.sync`, `cross_check`,
    `net.scan.iter_updates`. Coverage ends at the last update in the objects, whatever their names say, and updates
    less than `settle` before it are not final.

    Args:
        path: a folder, or a URL of object storage such as `s3://bucket/objects`.
        start: leave out segments that end before this record time.
        end: leave out segments that begin at or after this one.
        storage_options: credentials and settings of the object storage, as `open_store` takes them.

    Returns:
        A network; a context manager, or open until the interpreter ends. It has the objects that exist now.

    Raises:
        InputError: there are no objects, some are missing between others, or they overlap in part.
        StoreError: the object storage refused.

    Example:
        >>> import tempfile, ledgerframes as lf
        >>> with tempfile.TemporaryDirectory() as folder, lf.sandbox(updates=1500) as net:
        ...     for ref in net.scan.iter_update_objects(after="2020-01-01", up_to="2030-01-01"):
        ...         _ = net.scan.download_object(ref, f"{folder}/{ref.url.rpartition('/')[2]}")
        ...     with lf.open_objects(folder) as objects:
        ...         len(lf.load_history(objects, limit=100).updates)
        100
    """
    place = read_path(path, "path").rstrip("/") or "/"
    low = EARLIEST if start is None else to_micros(start, "start", up=True)
    high = LATEST if end is None else to_micros(end, "end", up=True)
    if low >= high:
        raise InputError(f"end={end!r} is not after start={start!r}; a range includes start and excludes end")
    source, listed = folder_objects(place, dict(storage_options or {}))
    wanted = [one for one in listed if one.name.up_to >= low and one.name.after < high]
    if not wanted:
        raise InputError(f"{place} has no objects from start={start!r} to end={end!r}; leave one of them out")
    objects = contiguous(wanted, place)
    settings = Settings(scan_url=(_url(place),), rate=_ENDLESS, parallel=256)
    return Network(settings, transport=FolderHistory(source, objects), begins_after=objects[0].name.after)


def _url(place: str) -> str:
    """The folder in provenance: its last name, or bucket and path."""
    parts = urlsplit(place)
    steps = [parts.netloc, *parts.path.split("/")] if "://" in place else [Path(place).absolute().name]
    return "/".join([_HOST, *(quote(step, safe="") for step in steps if step)])


def contiguous(objects: Sequence[StoredObject], place: str) -> tuple[StoredObject, ...]:
    """The objects to read, in order; among segments that cover the same record times, the longer ones.

    Args:
        objects: at least one, each name once.
        place: where they are, for messages.

    Raises:
        InputError: an object is missing, or segments overlap in part.
    """
    segments = segments_of(objects)
    for segment in segments:
        if segment.missing is not None:
            last = segment.objects[-1].name
            raise InputError(
                f"{place}: in the segment {str(last).rpartition('/')[0]}, object {segment.missing} is missing and"
                f" object {last.number} exists; add it, or leave the segment out by start= or end="
            )
    chain = consecutive(segments)
    end = chain[-1].up_to
    following = next((segment for segment in segments if segment.up_to > end), None)
    if following is not None:
        raise _not_contiguous(end, following, place)
    return objects_of(chain)


def _not_contiguous(end: int, following: Segment, place: str) -> InputError:
    reached, begins = format_trimmed(end), format_trimmed(following.after)
    if following.after < end:
        return InputError(
            f"{place}: the segment {begins}~{format_trimmed(following.up_to)} begins before {reached}, where the one"
            " before it ends; keep one of the two, or read a part by start= or end="
        )
    return InputError(
        f"{place}: objects from {reached} to {begins} are missing. Add them, or read one part of the folder:"
        f" end={reached!r}, or start={begins!r}"
    )
