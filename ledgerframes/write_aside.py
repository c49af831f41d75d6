"""Files that appear whole or not at all; profiles, recordings and downloads are written by it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def written_aside(target: Path) -> Iterator[BinaryIO]:
    """A new file in the same folder, readable by the user alone, that takes the target's name once it is whole.

    It goes through no link: what has the target's name is replaced itself. Where the block ends in an error, the file
    is removed and the target stays as it was.

    Raises:
        OSError: it cannot be written.
    """
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
