"""Loader of the network's names: the route has no pages, so a full answer is split by longer prefixes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, Literal, Unpack, overload

import msgspec
import pandas as pd
import pyarrow as pa
from msgspec import Raw, Struct

from ledgerframes.arguments import suggesting, text
from ledgerframes.decoding.records import read_records
from ledgerframes.errors import DecodeError, PagingError, PartialResultError, RequestError
from ledgerframes.frames import As, Decimals, Lists
from ledgerframes.interfaces import scan_now as routes
from ledgerframes.interfaces.history import named_maximum
from ledgerframes.loaders.amount_form import held
from ledgerframes.loaders.scan_routes import needing
from ledgerframes.loaders.signatures import FormOptions
from ledgerframes.loaders.table_loader import Form, Origin, items_of
from ledgerframes.tables.network_now import NAMES

if TYPE_CHECKING:
    from ledgerframes.network import Network

#: The characters of names: the name service accepts a to z, digits, _ and -; the dot separates its suffixes.
_ALPHABET: Final = "-.0123456789_abcdefghijklmnopqrstuvwxyz"
_SIZE: Final = 1_000
_LONGEST: Final = 255
_ALL: Final = 2**63


class NameOptions(FormOptions, total=False):
    """The keywords of `load_names`, for its overloads; a test compares them with the signature."""

    prefix: str | None


class _Entry(Struct):
    name: str


_entry: Final = msgspec.json.Decoder(_Entry)


@overload
def load_names(net: Network, *, as_: Literal["pandas"] = ..., **options: Unpack[NameOptions]) -> pd.DataFrame: ...
@overload
def load_names(net: Network, *, as_: Literal["arrow"], **options: Unpack[NameOptions]) -> pa.Table: ...
@overload
def load_names(net: Network, *, as_: Literal["polars"], **options: Unpack[NameOptions]) -> Any: ...
@suggesting
def load_names(
    net: Network,
    *,
    prefix: str | None = None,
    columns: Iterable[str] | None = None,
    as_: As = "pandas",
    decimals: Decimals | None = None,
    lists: Lists = "tuple",
    limit: int | None = None,
    allow_partial: bool = False,
) -> Any:
    """Load the names of the name service, network-wide, with the parties that own them.

    The server returns 1,000 names at most and no next page. If an answer is full, the names are requested again by
    prefixes that are one character longer, as often as needed; names consist of a to z, digits, `_`, `-` and `.`.

    Endpoint: GET /v0/ans-entries.

    Args:
        net: the network; its scan is asked.
        prefix: only names that begin with this.
        columns: the columns to keep, in this order; all by default.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"float"`, `"exact"` (`Decimal`), `"arrow"`, `"string"`; by default as the
            network's `connect(decimals=)` says, else `"float"`.
        lists: how pandas holds lists: `"tuple"`, or `"arrow"`, which is quicker and can do less.
        limit: load at most this many rows.
        allow_partial: when an error ends the load early, return what was loaded, with `attrs["complete"]` False.

    Returns:
        One row per name, in alphabetical order: name, party, contract_id, expires_at and more; the operator's own names
        have no contract and do not expire.

    Raises:
        InputError: an argument is not valid, or the scan does not serve the route.
        PartialResultError: an answer is full and longer prefixes do not split it.
        PagingError: the server ignores the prefix.
        RequestError: the scan gave no answer.
        DecodeError: an answer breaks the contract.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     owners = lf.load_names(net).set_index("name").party
        >>> bool(owners.index.is_unique)
        True
    """
    form = Form.of(
        NAMES,
        columns=columns,
        as_=as_,
        decimals=held(net, decimals),
        lists=lists,
        limit=limit,
        allow_partial=allow_partial,
    )
    beginning = "" if prefix is None else text(prefix, "prefix", "the beginning of names, such as 'alice'")
    origin = Origin()
    reader = _Reader(net, origin, form.limit)
    instead = "load_name_entries asks a validator for its user's own names"
    with origin.tolerating(allow_partial=form.allow_partial), needing(routes.NAMES, instead=instead):
        try:
            reader.read(beginning)
        except PartialResultError:
            if not form.allow_partial:
                raise
            origin.complete = False
    items = [item for _, item in sorted(reader.found.items())]
    return form.frame(read_records(NAMES, items, NAMES.endpoints[0]), origin)


class _Reader:
    """Reads names by prefix."""

    def __init__(self, net: Network, origin: Origin, limit: int | None) -> None:
        self._net = net
        self._origin = origin
        self._size = _SIZE
        self._limit = _ALL if limit is None else limit
        self.found: dict[str, Raw] = {}

    def read(self, prefix: str) -> None:
        """Request all names that begin with a prefix."""
        items, full = self._ask(prefix)
        self.found |= items
        if not full or len(self.found) >= self._limit:
            return
        if len(prefix) >= _LONGEST:
            raise PartialResultError(
                f"{routes.NAMES}: more than {len(items)} names begin with {prefix[:40]!r}, and the server returns no"
                " more of them: allow_partial=True returns those that it did"
            )
        if prefix:
            self._exactly(prefix)
        following = {name[len(prefix)] for name in items if len(name) > len(prefix)}
        for character in sorted(following.union(_ALPHABET)):
            if len(self.found) < self._limit:
                self.read(prefix + character)

    def _exactly(self, name: str) -> None:
        """Request the entry of exactly this name, which no longer prefix returns."""
        members = self._origin.body(self._net.scan.raw.ans_entry_by_name, name)
        if members:
            self.found[name] = members.get("entry", Raw(b"null"))

    def _ask(self, prefix: str) -> tuple[dict[str, Raw], bool]:
        """The entries by name, and whether there may be more."""
        items = self._items(prefix)
        try:
            entries = {_entry.decode(item).name: item for item in items}
        except msgspec.DecodeError as error:
            raise DecodeError(f"{routes.NAMES}: {error}", endpoint=str(routes.NAMES), table=NAMES.name) from error
        other = next((name for name in entries if not name.startswith(prefix)), None)
        if other is not None:
            raise PagingError(
                f"{routes.NAMES}: asked for names that begin with {prefix[:40]!r}, the server sent {other[:80]!r};"
                " what it leaves out cannot be asked for"
            )
        return entries, len(items) >= self._size

    def _items(self, prefix: str) -> list[Raw]:
        while True:
            try:
                members = self._origin.body(self._net.scan.raw.ans_entries, prefix=prefix, page_size=self._size)
            except RequestError as error:
                named = named_maximum(error)
                if named is None or not 0 < named < self._size:
                    raise
                self._size = named
                continue
            return items_of(members, "entries", str(routes.NAMES))
