"""A world in a file: `save` and `load` for the sandbox's handle and the command line.

The file is an SQLite database with a row for each object of the world (see `serialization`), so that any SQLite tool
can read it. It holds the whole state, including the random generator's, and no key: tokens end with a sandbox.
"""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from ledgerframes.sandbox.world.serialization import KeepingError, Record, rebuild, records_of
from ledgerframes.sandbox.world.world import World

FORMAT: Final = 1
#: "lfwd", what SQLite's header says the file is for.
APPLICATION: Final = 0x6C667764

_TABLES: Final = """
    CREATE TABLE objects (number INTEGER PRIMARY KEY, record TEXT NOT NULL, content BLOB NOT NULL);
    CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""
_encode: Final = json.JSONEncoder(separators=(",", ":")).encode
_decode: Final = json.JSONDecoder().decode


class WorldFileError(ValueError):
    """A world file that cannot be written or read; the message says which, why, and what to do."""


def save(world: World, path: str | os.PathLike[str]) -> None:
    """Write a world to a file, in place of the one that is there; a failure leaves that one alone.

    Raises:
        WorldFileError: the file cannot be written, or the world holds something that cannot be kept.
    """
    target = Path(path)
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with closing(sqlite3.connect(beside)) as database:
            _write(database, world)
        beside.replace(target)
    except (OSError, sqlite3.Error, KeepingError) as error:
        raise WorldFileError(f"cannot save the world to {str(target)!r}: {error}; choose another file") from error
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def load(path: str | os.PathLike[str]) -> World:
    """Read a world that `save` wrote; it goes on exactly as the one that was saved would have.

    Raises:
        WorldFileError: the file is missing, is not a world file, is damaged, or was written by another release.
    """
    if not isinstance(path, str | os.PathLike):
        raise WorldFileError(f"load={path!r} is not valid: give the path of a file that sandbox.save wrote")
    source = Path(path)
    try:
        there = source.is_file()
    except OSError as error:
        raise WorldFileError(f"{str(source)[:80]!r} cannot be a file: {error.strerror}; name another one") from error
    if not there:
        raise WorldFileError(f"there is no file {str(source)!r}; write one with sandbox(...).sandbox.save(path)")
    try:
        with closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)) as database:
            _check(database, source)
            records, contents = _read(database, source)
        return _world(rebuild(records, contents))
    except sqlite3.Error as error:
        raise WorldFileError(f"{str(source)!r} is no world file: {error}") from error
    except KeepingError as error:
        raise WorldFileError(f"the world in {str(source)!r} cannot be built: {error}; make it anew") from error


def _write(database: sqlite3.Connection, world: World) -> None:
    database.executescript(f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {FORMAT}; {_TABLES}")
    digest = sha256()

    def rows() -> Iterator[tuple[int, str, bytes]]:
        for number, (record, content) in enumerate(records_of(world)):
            text = _encode(record)
            digest.update(text.encode() + content)
            yield number, text, content

    with world.lock, database:
        database.executemany("INSERT INTO objects VALUES (?, ?, ?)", rows())
        about = {"updates": str(len(world.updates)), "now": str(world.now), "digest": digest.hexdigest()}
        database.executemany("INSERT INTO about VALUES (?, ?)", about.items())


def _check(database: sqlite3.Connection, source: Path) -> None:
    """Refuse a file that is not a world file, or whose format this release does not know."""
    (application,), (written,) = (database.execute(f"PRAGMA {name}").fetchone() for name in _MARKS)
    if application != APPLICATION:
        raise WorldFileError(f"{str(source)!r} is a database, but no world file; choose a file that save() wrote")
    if written != FORMAT:
        newer = "a newer release wrote it: update ledgerframes" if written > FORMAT else "make the world anew"
        raise WorldFileError(f"{str(source)!r} has format {written}, this release reads {FORMAT}; {newer}")


_MARKS: Final = ("application_id", "user_version")


def _read(database: sqlite3.Connection, source: Path) -> tuple[list[Record], list[bytes]]:
    """Every row, whole and unchanged."""
    digest, records, contents = sha256(), [], []
    for text, content in database.execute("SELECT record, content FROM objects ORDER BY number"):
        if not isinstance(text, str) or not isinstance(content, bytes):
            raise WorldFileError(f"{str(source)!r} is damaged: a row has the wrong types; make the world anew")
        digest.update(text.encode() + content)
        records.append(text)
        contents.append(content)
    noted = database.execute("SELECT value FROM about WHERE name = 'digest'").fetchone()
    if noted is None or noted[0] != digest.hexdigest():
        raise WorldFileError(f"{str(source)!r} is damaged: its checksum is wrong; make the world anew")
    try:
        return [_decode(text) for text in records], contents
    except (ValueError, RecursionError) as error:
        raise WorldFileError(f"{str(source)!r} is damaged: {error}; make the world anew") from error


def _world(found: object) -> World:
    """The root of what was read, if it is a world as this release makes them."""
    if not isinstance(found, World):
        raise KeepingError(f"it holds a {type(found).__name__}, no world")
    expected = vars(World(synchronizers=(), grow=lambda _: None)).keys()
    if vars(found).keys() != expected:
        raise KeepingError("another release wrote it, whose worlds hold something else")
    return found
