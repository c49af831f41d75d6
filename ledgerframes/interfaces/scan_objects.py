"""Scan's calls for its history in bulk: lists of objects, and their download; `Scan` inherits them.

The interface is young: releases mark it as under development. Shapes are those of scan's published interface files.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import logging
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, BinaryIO, Final
from urllib.parse import unquote, urlsplit

from msgspec import Meta, Struct

from ledgerframes.arguments import names, text, whole_number
from ledgerframes.arguments import path as path_argument
from ledgerframes.errors import DecodeError, InputError, StoreError
from ledgerframes.interfaces.answers import ListPage, reads
from ledgerframes.interfaces.calls import Call, Calls, declared_call, sends
from ledgerframes.paging.cursor import When
from ledgerframes.paging.tokens import Token, follow_pages
from ledgerframes.timestamps import format_timestamp, to_micros
from ledgerframes.transport import Answer, Endpoint, Request
from ledgerframes.transport.public_addresses import why_refused
from ledgerframes.transport.request import BodyFile
from ledgerframes.write_aside import written_aside

UPDATE_OBJECTS: Final = Endpoint("scan", "POST", "/v0/history/bulk/updates")
SNAPSHOT_OBJECTS: Final = Endpoint("scan", "GET", "/v0/history/bulk/acs")
OBJECT_CHECKSUMS: Final = Endpoint("scan", "POST", "/v0/history/bulk/checksums")

#: The most objects on a page of the list.
LARGEST_LIST: Final = 1_000


class ObjectRef(Struct, frozen=True):
    """The URL of an object, and the SHA-256 of its bytes as Base64 or in hexadecimal digits."""

    url: Annotated[str, Meta(min_length=1)]
    digest: Annotated[str, Meta(min_length=1)]


class UpdateObjects(ListPage, frozen=True):
    """A page of the list of update objects; `next_page_token` is opaque, None after the last page."""

    object_refs: list[ObjectRef]
    next_page_token: str | None = None


class SnapshotObjects(ListPage, frozen=True):
    """The objects of one snapshot, and its record time."""

    record_time: str
    object_refs: list[ObjectRef]


class ObjectChecksum(Struct, frozen=True):
    """The SHA-256 of an object, as in a list; None if the server has not written the object."""

    value: Annotated[str, Meta(min_length=1)] | None = None


class ObjectChecksums(Struct, frozen=True):
    """The digests of some objects, in the order of their keys."""

    checksums: list[ObjectChecksum]


DOWNLOAD: Final = Endpoint("scan", "GET", "/v0/history/bulk/download/{object_key}")

_log = logging.getLogger("ledgerframes.interfaces")
#: The number of downloads of an object without its digest.
_DOWNLOADS: Final = 3
#: Bytes to leave free on the disk for other programs.
_LEFT_FREE: Final = 64 * 2**20


def name_of(url: str) -> str:
    """An object's name for messages: the last two steps of its path, without a signature or any other query."""
    return key_of(url)[:200]


def key_of(url: str) -> str:
    """An object's key, by which every scan knows it: the last two steps of its path, segment and file."""
    return "/".join(unquote(path_of(url)).rstrip("/").split("/")[-2:])


def path_of(url: str) -> str:
    """The path of an object's address; empty if the server's text is no URL, which is never fetched."""
    try:
        return urlsplit(url).path
    except ValueError:
        return ""


def sha256_of(digest: str) -> bytes:
    """The 32 bytes of a digest as servers write it.

    Raises:
        DecodeError: it is not a SHA-256.
    """
    # S3 sends checksums in Base64, and so do the servers; everything else writes hexadecimal digits.
    for read in (bytes.fromhex, partial(base64.b64decode, validate=True)):
        try:
            value = read(digest.strip())
        except ValueError:
            continue
        if len(value) == hashlib.sha256().digest_size:
            return value
    raise DecodeError(
        f"the digest {digest[:100]!r} of an object is not a SHA-256, as Base64 or in 64 hexadecimal digits; ask another"
        " scan",
        endpoint=str(DOWNLOAD),
    )


@contextmanager
def _partial(to: Path) -> Iterator[BinaryIO]:
    """The file to write, which appears once it is complete; problems with the disk become a StoreError."""
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        with written_aside(to, mode=0o666) as file:
            yield file
    except OSError as error:
        raise StoreError(
            f"{str(to)!r} cannot be written: {error.strerror or error}; free space or name another folder"
        ) from error


def check_room(folder: Path, length: int, name: object) -> None:
    """Refuse to fill a disk, which other programs use, too.

    Args:
        folder: on that disk.
        length: the bytes to be written.
        name: of the object, for the message.

    Raises:
        StoreError: the disk has no room for them.
    """
    free = shutil.disk_usage(folder).free
    if free < length + _LEFT_FREE:
        raise StoreError(
            f"{str(folder)!r} has {free / 1e6:,.0f} MB free, and {name} needs {(length + _LEFT_FREE) / 1e6:,.0f} MB,"
            f" {_LEFT_FREE / 1e6:,.0f} MB of it for other programs. What to do: free space there, or set TMPDIR to a"
            " larger disk"
        )


class ObjectCalls(Calls):
    """Calls of scan for its history in bulk. One method, one request."""

    @sends(UPDATE_OBJECTS, neighbour=True)
    def update_objects(
        self, *, after: When, up_to: When, page_token: str | None = None, page_size: int = LARGEST_LIST
    ) -> Call[UpdateObjects]:
        """List the objects with the updates of a range (POST /v0/history/bulk/updates; young).

        Objects are whole, so the first and the last one may reach beyond the range. Use `iter_update_objects` for all
        pages: a server that has not yet written all of the range repeats the token of an empty page.

        Args:
            after: record time, exclusive, whatever the migration.
            up_to: record time, inclusive.
            page_token: the `next_page_token` of the page before.
            page_size: the most objects to list, 1 to 1000; a server refuses less than it writes at a time.

        Raises:
            StatusError: 501 or 404: the server has no objects.

        Example:
            >>> import ledgerframes as lf
            >>> with lf.sandbox(updates=50) as net:
            ...     page = net.scan.update_objects(after="2020-01-01", up_to="2030-01-01")
            >>> page.object_refs[0].url.endswith("updates_compact_json_0.zstd")
            True
        """
        low, high = to_micros(after, "after"), to_micros(up_to, "up_to")
        if low >= high:
            raise InputError(f"up_to={up_to!r} is not after after={after!r}; a list includes up_to and excludes after")
        body: dict[str, str | int] = {
            "start_record_time": format_timestamp(low),
            "end_record_time": format_timestamp(high),
            "page_size": whole_number(page_size, "page_size", least=1, most=LARGEST_LIST),
        }
        if page_token is not None:
            body["next_page_token"] = text(page_token, "page_token", "the next_page_token of the page before")
        return Call(UPDATE_OBJECTS.request(json=body), reads(UpdateObjects))

    @sends(SNAPSHOT_OBJECTS, neighbour=True)
    def snapshot_objects(self, *, at: When) -> Call[SnapshotObjects]:
        """List the objects of the newest snapshot in bulk at or before a time (GET /v0/history/bulk/acs; young).

        Args:
            at: record time, in UTC.

        Raises:
            StatusError: 404: there is no such snapshot; 501: the server has no objects.
        """
        query = {"at_or_before_record_time": format_timestamp(to_micros(at, "at"))}
        return Call(SNAPSHOT_OBJECTS.request(query=query), reads(SnapshotObjects))

    @sends(OBJECT_CHECKSUMS, neighbour=True)
    def object_checksums(self, keys: Sequence[str]) -> Call[ObjectChecksums]:
        """Read the digests that a scan has for objects (POST /v0/history/bulk/checksums; young).

        Scans write the same objects, so another one's digests show whether a list can be believed. Loads and syncs by
        objects ask for them where several scans are given.

        Args:
            keys: the last two steps of the objects' URLs, decoded, such as `<from>~<to>/updates_compact_json_0.zstd`.

        Raises:
            StatusError: 501 or 404: the server has no objects.

        Example:
            >>> import ledgerframes as lf
            >>> with lf.sandbox(updates=50) as net:
            ...     answer = net.scan.object_checksums(["0001-01-01T00:00:00Z~2025-03-03T09:00:00Z/none.zstd"])
            >>> answer.checksums[0].value is None
            True
        """
        return Call(OBJECT_CHECKSUMS.request(json={"object_keys": [*names(keys, "keys")]}), reads(ObjectChecksums))

    def iter_update_objects(self, *, after: When, up_to: When) -> Iterator[ObjectRef]:
        """Iterate over all objects with the updates of a range, as far as the server has written them.

        Args:
            after: record time, exclusive.
            up_to: record time, inclusive.

        Raises:
            PagingError: the server repeats a page of the list.
            StatusError: 501 or 404: the server has no objects.
        """
        for answer in self.object_lists(after=after, up_to=up_to):
            yield from answer.value.object_refs

    def object_lists(self, *, after: When, up_to: When) -> Iterator[Answer[UpdateObjects]]:
        """The pages of the list of `iter_update_objects`, with the server that gave them: all come from one.

        Args:
            after: record time, exclusive.
            up_to: record time, inclusive.

        Raises:
            PagingError: the server repeats a page of the list.
            StatusError: 501 or 404: the server has no objects.
        """
        known, sender = set[str](), self._sender

        def fetch(token: Token | None) -> Answer[UpdateObjects]:
            nonlocal sender
            call = declared_call(self, "update_objects")(after=after, up_to=up_to, page_token=token)
            answer = sender.send(call.request, read=call.read)
            # Servers write objects of their own, and a token means something to the one that made it.
            sender = sender.on(answer.server)
            return answer

        def following(answer: Answer[UpdateObjects]) -> Token | None:
            # A server that has not yet written all of the range returns the same token with an empty page: ask later.
            return answer.value.next_page_token if answer.value.object_refs else None

        def shows_more(answer: Answer[UpdateObjects]) -> bool:
            before = len(known)
            known.update(ref.url for ref in answer.value.object_refs)
            return len(known) > before

        return follow_pages(fetch, following, UPDATE_OBJECTS.path, new=shows_more)

    def download_object(self, ref: ObjectRef, to: str | os.PathLike[str]) -> Path:
        """Download an object to a file, in bounded memory, and check its digest (young).

        The limit on answers does not apply. The scan's token goes to the scan itself only. An object that does not
        have its digest is downloaded again, twice at most; the file appears once it is whole.

        Args:
            ref: one of a list of objects.
            to: the file to write; an existing one is replaced.

        Returns:
            The file.

        Raises:
            InputError: an argument breaks a rule, or the object's address may not be fetched from.
            RequestError: it could not be fetched; NotFoundError if it is gone.
            DecodeError: it does not have its digest.
            StoreError: the disk has no room for it, or the file cannot be written.

        Example:
            >>> import tempfile, ledgerframes as lf
            >>> with tempfile.TemporaryDirectory() as folder, lf.sandbox(updates=50) as net:
            ...     page = net.scan.update_objects(after="2020-01-01", up_to="2030-01-01")
            ...     file = net.scan.download_object(page.object_refs[0], folder + "/first.zstd")
            ...     file.name
            'first.zstd'
        """
        if not isinstance(ref, ObjectRef):
            raise InputError(f"ref={ref!r} is not valid: give one of net.scan.update_objects(...).object_refs")
        path = Path(path_argument(to, "to"))
        expected, name = sha256_of(ref.digest), name_of(ref.url)
        if (reason := why_refused(ref.url, self._sender.on().servers("scan"))) is not None:
            plain = re.sub(r"//[^/]*@", "//***@", re.split("[?#]", ref.url)[0])  # without a signature or a password
            shown = self._sender.transport.mask.text(plain[:80])
            raise InputError(f"{shown!r} is not fetched, because {reason}; ask another scan")
        with _partial(path) as file:
            for _ in range(_DOWNLOADS):
                sink = BodyFile(file, lambda length: check_room(path.parent, length, name))
                self._sender.send(Request(DOWNLOAD, DOWNLOAD.path, url=ref.url), read=bytes, sink=sink)
                if hmac.compare_digest(sink.sha256.digest(), expected):
                    return path
                _log.warning("%s does not have the digest that the scan lists for it", name)
            raise DecodeError(
                f"{DOWNLOAD}: {name} does not have the digest that the scan lists for it, {ref.digest[:100]}, after"
                f" {_DOWNLOADS} downloads: it was damaged in transit or is another one. What to do: try later, or give"
                " another scan_url=; source='pages' reads the same history without objects",
                endpoint=str(DOWNLOAD), item=name,
            )  # fmt: skip
