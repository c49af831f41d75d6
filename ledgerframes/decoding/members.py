"""Splits JSON objects into members with the compiled scanner; tried first when payloads become columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pyarrow as pa

from ledgerframes.decoding.pages import choice

_MOST_NAMES: Final = 500  # positions for all names and rows must fit in memory


def members_of(cells: pa.Array, names: Sequence[str], *, closed: bool) -> list[pa.Array] | None:
    """The JSON of each named member, one text per row, exactly as it was sent.

    Args:
        cells: JSON objects as text; nulls and `null` have no members.
        names: the members' names, each once.
        closed: whether there are no others.

    Returns:
        A column per name, null where a row lacks the member; None if Python has to read the cells: there is no
        compiled decoder, a text is not an object or is in a form that it skips, or, with `closed`, there are others.

    Raises:
        ConfigurationError: `LEDGERFRAMES_DECODER` is not valid.
    """
    module = choice().module
    if module is None or not names or len(names) > _MOST_NAMES or not len(cells) or cells.type != pa.string():
        return None
    try:
        found = module.members(cells.__arrow_c_array__()[1], tuple(names), closed)
    except UnicodeEncodeError:  # half a surrogate pair, which no JSON text contains either
        return None
    if found is None:
        return None
    schema = pa.schema([pa.field(str(number), pa.string()) for number in range(len(names))])
    return list(pa.RecordBatch._import_from_c(found[1], schema).columns)  # noqa: SLF001 - documented for this
