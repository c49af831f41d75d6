"""Downloads one object of scan's bulk history to a file, checked by its digest; `Scan.download_object` calls it."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import logging
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final
from urllib.parse import unquote, urlsplit

from ledgerframes.errors import DecodeError, InputError, StoreError
from ledgerframes.transport import Endpoint, Request, Sender
from ledgerframes.transport.public_addresses import why_refused
from ledgerframes.write_aside import written_aside

DOWNLOAD: Final = Endpoint("scan", "GET", "/v0/history/bulk/download/{object_key}")

_log = logging.getLogger("ledgerframes.interfaces")
#: The number of downloads of an object without its digest.
_DOWNLOADS: Final = 3
#: Bytes to leave free on the disk for other programs.
_LEFT_FREE: Final = 64 * 2**20
_CHECK_EVERY: Final = 32 * 2**20


def download_to(sender: Sender, url: str, digest: str, to: Path) -> Path:
    """Download an object; the file appears once it is whole.

    Args:
        sender: what fetches it.
        url: its address.
        digest: its SHA-256, as Base64 or in hexadecimal digits.
        to: the file to write.

    Raises:
        InputError: the object's address may not be fetched from.
        RequestError: it could not be fetched; NotFoundError if it does not exist.
        DecodeError: the object does not have its digest.
        StoreError: the disk has no room, or the file cannot be written.
    """
    expected, name = sha256_of(digest), name_of(url)
    if (reason := why_refused(url, sender.on().servers("scan"))) is not None:
        raise InputError(f"{sender.transport.mask.text(url[:80])!r} is not fetched, because {reason}; ask another scan")
    with _partial(to) as file:
        for _ in range(_DOWNLOADS):
            sink = _File(file, to, name)
            sender.send(Request(DOWNLOAD, DOWNLOAD.path, url=url), read=bytes, sink=sink)
            if hmac.compare_digest(sink.sha256.digest(), expected):
                break
            _log.warning("%s does not have the digest that the scan lists for it", name)
        else:
            raise DecodeError(
                f"{DOWNLOAD}: {name} does not have the digest that the scan lists for it, {digest[:100]}, after"
                f" {_DOWNLOADS} downloads: it was damaged in transit or is another one. What to do: try later, or give"
                " another scan_url=; source='pages' reads the same history without objects",
                endpoint=str(DOWNLOAD), item=name,
            )  # fmt: skip
    return to


def name_of(url: str) -> str:
    """An object's name for messages: the last two steps of its path, without a signature or any other query."""
    return "/".join(unquote(urlsplit(url).path).rstrip("/").split("/")[-2:])[:200]


def sha256_of(digest: str) -> bytes:
    """The 32 bytes of a digest as servers write it.

    Raises:
        DecodeError: it is not a SHA-256.
    """
    # S3 sends checksums in Base64, and so do the servers; everything else writes hexadecimal digits.
    for read in (bytes.fromhex, _from_base64):
        try:
            value = read(digest.strip())
        except (ValueError, binascii.Error):
            continue
        if len(value) == hashlib.sha256().digest_size:
            return value
    raise DecodeError(
        f"the digest {digest[:100]!r} of an object is not a SHA-256, as Base64 or in 64 hexadecimal digits; ask another"
        " scan",
        endpoint=str(DOWNLOAD),
    )


def _from_base64(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


@contextmanager
def _partial(to: Path) -> Iterator[BinaryIO]:
    """The file to write, which appears once it is complete; problems with the disk become a StoreError."""
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        with written_aside(to) as file:
            yield file
    except OSError as error:
        raise StoreError(
            f"{str(to)!r} cannot be written: {error.strerror or error}; free space or name another folder"
        ) from error


class _File:
    """Takes the bytes of one download."""

    def __init__(self, file: BinaryIO, to: Path, name: str) -> None:
        self._file = file
        self._to = to
        self._name = name
        self._written = self._checked = 0
        self.sha256 = hashlib.sha256()

    def begin(self, length: int | None) -> None:
        """Begin again: an attempt before may have written a part."""
        self.sha256 = hashlib.sha256()
        self._written = self._checked = 0
        self._file.seek(0)
        self._file.truncate()
        self._check_room(length or 0)

    def write(self, piece: bytes) -> None:
        """Write the next bytes."""
        self._written += len(piece)
        # If no length was announced, or other programs fill the disk meanwhile.
        if self._written - self._checked >= _CHECK_EVERY:
            self._checked = self._written
            self._check_room(0)
        self._file.write(piece)
        self.sha256.update(piece)

    def _check_room(self, length: int) -> None:
        free = shutil.disk_usage(self._to.parent).free
        if free < length + _LEFT_FREE:
            raise StoreError(
                f"{str(self._to.parent)!r} has {free / 1e6:,.0f} MB free, and {self._name} needs"
                f" {(length + _LEFT_FREE) / 1e6:,.0f} MB, {_LEFT_FREE / 1e6:,.0f} MB of it for other programs. What to"
                " do: free space there, or set TMPDIR to a larger disk"
            )
