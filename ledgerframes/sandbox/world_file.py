"""A ledger in a file: `save` and `load` for the sandbox's handle and the command line.

The file is JSON: what the ledger was made from, what was asked of it since then, its users and its packages. `load`
makes the ledger again from these, so it takes as long as making it did. It holds no key: tokens end with a sandbox.
"""

from __future__ import annotations

import json
import os
import secrets
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from ledgerframes.sandbox.generator.generate import generate
from ledgerframes.sandbox.http.command_routes import carry_out_again
from ledgerframes.sandbox.world.archives import Package
from ledgerframes.sandbox.world.parties import User
from ledgerframes.sandbox.world.world import World

FORMAT: Final = 3


class WorldFileError(ValueError):
    """A file that cannot be written or read; the message has the file, the cause and the remedy."""


class Journal(Struct, forbid_unknown_fields=True):
    """The contents of a file.

    Attributes:
        made: the arguments of `generate`.
        asked: the later changes of the history: a number of updates to add, or a command's kind, user and body.
        history: a digest of all updates, which a ledger made again has to have too.
    """

    format: int
    made: dict[str, Any]
    asked: list[int | tuple[str, str, str]]
    users: list[User]
    packages: list[Package]
    history: str


def save(world: World, path: str | os.PathLike[str]) -> None:
    """Write a ledger to a file, in place of the one that is there; a failure leaves that one alone.

    Raises:
        WorldFileError: the file cannot be written, or nothing says how the ledger was made.
    """
    target = Path(os.path.expanduser(path))  # noqa: PTH111 - a name of no user is a file's
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    with world.lock:
        if not world.made:
            raise WorldFileError(
                "this ledger was not made from a seed, so it cannot be saved; save one of lf.sandbox()"
            )
        users = [world.accounts[user_id] for user_id in sorted(world.accounts)]
        packages = list(world.packages.values())
        journal = Journal(FORMAT, world.made, list(world.later_changes), users, packages, _history(world))
    try:
        beside.write_bytes(msgspec.json.encode(journal))
        beside.replace(target)
    except OSError as error:
        raise WorldFileError(f"cannot save the world to {str(target)!r}: {error}; choose another file") from error
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def load(path: str | os.PathLike[str]) -> World:
    """Create a ledger again from `save`'s file; it continues exactly as the saved one would have.

    Raises:
        WorldFileError: the file is missing, is not a world file, is damaged, or was written by another release.
    """
    if not isinstance(path, str | os.PathLike):
        raise WorldFileError(f"load={path!r} is not valid: give the path of a file that sandbox.save wrote")
    source = Path(os.path.expanduser(path))  # noqa: PTH111 - a name of no user is a file's
    try:
        there = source.is_file()
    except OSError as error:
        raise WorldFileError(f"{str(source)[:80]!r} cannot be a file: {error.strerror}; name another one") from error
    if not there:
        raise WorldFileError(f"there is no file {str(source)!r}; write one with sandbox(...).sandbox.save(path)")
    return _made_again(_read(source), source)


def _read(source: Path) -> Journal:
    try:
        content = json.loads(source.read_bytes())
        written = content["format"]
    except (OSError, ValueError, RecursionError, LookupError, TypeError) as error:
        raise WorldFileError(f"{str(source)!r} is not a world file; choose a file that save() wrote") from error
    if written != FORMAT:
        raise WorldFileError(
            f"{str(source)!r} has format {written}, this release reads {FORMAT}; make the ledger again"
        )
    try:
        return msgspec.convert(content, Journal)
    except msgspec.ValidationError as error:
        raise WorldFileError(f"{str(source)!r} is damaged ({error}); make the ledger again") from error


def _made_again(journal: Journal, source: Path) -> World:
    try:
        world = generate(**journal.made)
        for change in journal.asked:
            if isinstance(change, int):
                world.advance(change)
            else:
                carry_out_again(world, *change)
    except Exception as error:
        raise WorldFileError(
            f"the ledger in {str(source)!r} cannot be made again: {error}; make another one"
        ) from error
    if _history(world) != journal.history:
        raise WorldFileError(
            f"{str(source)!r} was changed, or written by another release, which made another ledger of it"
        )
    world.accounts = {user.id: user for user in journal.users}
    world.packages = {one.package_id: one for one in journal.packages}
    return world


def _history(world: World) -> str:
    digest = sha256()
    for update in world.ledger_updates:
        digest.update(update.rendered)
    return digest.hexdigest()
