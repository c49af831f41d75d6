"""Files that appear completely or not at all; used for profiles, recordings and downloads."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def written_aside(target: Path) -> Iterator[BinaryIO]:
    """A new file in the same folder, readable only by the user, that takes the target's name once it is complete.

    It follows no link: whatever has the target's name is itself replaced. If the block ends in an error, the file
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
