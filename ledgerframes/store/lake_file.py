"""`LakeFile`: the contents of a lake's `lake.json`; `Lake` reads and writes it.

The coverage document names every table except `updates`, whose log names the document. That log cannot show that it
lost entries, or that all of it is gone: either looks like a valid older state. So every writer ends by recording here
the state in which it left `updates`.
"""

from __future__ import annotations

from typing import Final

import msgspec

from ledgerframes.errors import StoreError
from ledgerframes.store.delta.listing import Named
from ledgerframes.store.documents import NAME, unsealed

#: The format of lakes that this version writes and reads.
FORMAT: Final = 5


class LakeFile(msgspec.Struct, frozen=True):
    """The contents of the file.

    Attributes:
        format: see `FORMAT`.
        personal: whether personal data is kept.
        updates: the state in which the last writer left `updates`.
    """

    format: int = FORMAT
    personal: bool = True
    updates: Named = Named()


def decoded(content: bytes, url: str) -> LakeFile:
    """Decode the bytes of a file.

    Args:
        content: the bytes.
        url: the lake, for messages.

    Raises:
        StoreError: they are damaged, or were written by another version.
    """
    file = unsealed(content, LakeFile)
    if file is None:
        raise StoreError(
            f"{url}: {NAME}, which records how the lake was left, is damaged. store.repair() makes it again from the"
            " tables that are there; or restore it from a copy"
        )
    if file.format != FORMAT:
        raise StoreError(
            f"{url}: this lake has format {file.format}, and this version of ledgerframes reads {FORMAT}; install the"
            " version that wrote it, or sync into a new lake"
        )
    return file
