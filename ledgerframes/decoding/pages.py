"""The compiled decoder of pages of updates, and of members of payloads, if there is one; else Python reads them.

The Python path, `history` and `page_index`, defines the correct result. The compiled decoder either decodes a page or
leaves it to the Python path. Errors always come from the Python path.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from itertools import starmap
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pyarrow as pa

from ledgerframes.decoding.compiled.sources import digest, sources
from ledgerframes.decoding.history import Batches
from ledgerframes.errors import ConfigurationError
from ledgerframes.paging.cursor import Cursor, PageIndex
from ledgerframes.tables.history import EVENTS, REASSIGNMENTS, UPDATES

_TABLES: Final = (UPDATES, EVENTS, REASSIGNMENTS)
VARIABLE: Final = "LEDGERFRAMES_DECODER"
COMPILED: Final = "compiled"
PYTHON: Final = "python"
_MOST_NAMES: Final = 500  # positions for all names of members and all rows must fit in memory


@dataclass(frozen=True)
class Choice:
    """The decoder in use.

    Attributes:
        name: "compiled" or "python".
        why: why it is not the compiled one.
        advice: the remedy for that, if there is one.
        module: the compiled decoder's module; None if the Python path has to run.
    """

    name: str
    why: str = ""
    advice: str = ""
    module: ModuleType | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return f"{self.name} ({self.why})" if self.why else self.name


def choice() -> Choice:
    """Choose the decoder, by `LEDGERFRAMES_DECODER` and by what was built.

    Raises:
        ConfigurationError: the variable is neither "compiled" nor "python", or names a decoder that is not available.
    """
    wanted = os.environ.get(VARIABLE, "")
    if wanted not in {"", COMPILED, PYTHON}:
        raise ConfigurationError(f"{VARIABLE}={wanted!r} is not valid: give 'compiled' or 'python', or unset it")
    if wanted == PYTHON:
        return Choice(PYTHON, f"{VARIABLE} asks for it")
    built = _built()
    if built.module is None and wanted == COMPILED:
        raise ConfigurationError(f"{VARIABLE}={wanted!r} is not possible: {built.why}; {built.advice}")
    return built


@cache
def _built() -> Choice:
    """The extension, or the reason why it is not usable."""
    try:
        module = import_module("ledgerframes.decoding.compiled._decoder")
    except ImportError as error:
        why = "the compiled decoder was not built" if isinstance(error, ModuleNotFoundError) else str(error)
        return Choice(PYTHON, why, "reinstall it with a C++ compiler available, for several times the speed")
    folder = Path(__file__).parent / "compiled"
    # In a checkout the sources are next to the module, and may have changed since.
    if not sources(folder) or digest(folder) == module.SOURCES:
        return Choice(COMPILED, module=module)
    stale = Choice(PYTHON, "the compiled decoder was built from other sources", "run `make setup`")
    warnings.warn(f"{stale.why}, so it is not used: {stale.advice}", RuntimeWarning, stacklevel=2)
    return stale


@dataclass(frozen=True)
class CompiledPage:
    """A page as parsed by the compiled decoder.

    Attributes:
        page_index: the cursors and ids of its items.
        module: the compiled decoder.
        handle: the compiled decoder's reference to the page.
    """

    page_index: PageIndex
    module: ModuleType
    handle: Any


def read_compiled(body: bytes) -> CompiledPage | None:
    """Parse a page of updates; None if there is no compiled decoder or the Python path has to read it.

    Raises:
        ConfigurationError: `LEDGERFRAMES_DECODER` is not valid.
    """
    module = choice().module
    page = None if module is None else module.read(body)
    if module is None or page is None:
        return None
    migration_ids, micros, update_ids = module.places(page)
    cursors = list(starmap(Cursor, zip(migration_ids, micros, strict=True)))
    return CompiledPage(PageIndex(cursors, update_ids), module, page)


def decode_compiled(chosen: Sequence[tuple[CompiledPage, Sequence[int]]], tables: Collection[str]) -> Batches | None:
    """The tables of some items of one page or several, in their order; None if they do not fit one batch.

    Decoding several small pages at once has the fixed cost of one: 48 columns take 0.3 ms, however few rows they have.
    """
    wanted = [table.name in tables for table in _TABLES]
    arrays = chosen[0][0].module.columns(tuple((page.handle, list(rows)) for page, rows in chosen), *wanted)
    if arrays is None:
        return None
    # By address: for small pages, passing the schema through a capsule takes longer than everything else.
    return {
        table.name: pa.RecordBatch._import_from_c(array[1], table.schema)  # noqa: SLF001 - documented for this
        for table, array in zip(_TABLES, arrays, strict=True)
        if array is not None
    }


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
