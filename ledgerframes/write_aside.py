"""Files that appear completely or not at all; used for profiles, recordings, downloads and `lake.json`."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO


@contextmanager
def written_aside(target: Path, *, mode: int = 0o600) -> Iterator[BinaryIO]:
    """A new file in the same folder that takes the target's name once it is complete.

    It follows no link: whatever has the target's name is itself replaced. If the block ends in an error, the file
    is removed and the target stays as it was.

    Args:
        target: its final path.
        mode: its permissions before the user's mask; by default only the user may read it.

    Raises:
        OSError: it cannot be written.
    """
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        with open(part, "xb", opener=partial(os.open, mode=mode)) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
