"""A DAR to be uploaded or validated: its bytes, or the file they are in; used by the ledger interface."""

from __future__ import annotations

import os
from pathlib import Path

from ledgerframes.arguments import shown
from ledgerframes.errors import InputError

Dar = bytes | bytearray | memoryview | os.PathLike[str]


def dar_bytes(dar: Dar) -> bytes:
    """The bytes of a DAR.

    Raises:
        InputError: there are none, or the file cannot be read.
    """
    if isinstance(dar, os.PathLike):
        try:
            content = Path(dar).read_bytes()
        except OSError as error:
            raise InputError(f"dar={os.fspath(dar)!r} cannot be read: {error.strerror}") from error
    elif isinstance(dar, bytes | bytearray | memoryview):
        content = bytes(dar)
    else:
        raise InputError(f"dar={shown(dar)}; give the bytes, or the file as pathlib.Path(...)")
    if not content:
        raise InputError(f"dar={shown(dar)} is empty; give the bytes of a DAR")
    return content
