"""Loader of the network's names: the route has no pages, so a full answer is split by longer prefixes."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Raw

from ledgerframes.arguments import text
from ledgerframes.errors import PagingError, PartialResultError
from ledgerframes.interfaces import scan_now as routes
from ledgerframes.interfaces.answers import reading, reads
from ledgerframes.interfaces.history_pages import as_many_as_allowed
from ledgerframes.loaders.declaring import loader
from ledgerframes.loaders.table_loader import TableLoad, items_of
from ledgerframes.tables.network_now import NAMES

#: The characters of names: the name service accepts a to z, digits, _ and -; the dot separates its suffixes.
_ALPHABET: Final = "-.0123456789_abcdefghijklmnopqrstuvwxyz"
_SIZE: Final = 1_000
_LONGEST: Final = 255
_ALL: Final = 2**63


_name_of: Final = reads(str, "name")


@loader(NAMES, needs=(routes.NAMES,), instead="load_name_entries asks a validator for its user's own names")
def load_names(load: TableLoad, *, prefix: str | None = None) -> Any:
    """Load the names of the name service, network-wide, with the parties that own them.

    The server returns at most 1,000 names and no next page. If an answer is full, the names are requested again by
    prefixes that are one character longer, as often as needed; names consist of a to z, digits, `_`, `-` and `.`.

    Args:
        prefix: only names that begin with this.

    Returns:
        One row per name, in alphabetical order: name, party, contract_id, expires_at and more; the operator's own names
        have no contract and do not expire.

    Raises:
        PartialResultError: an answer is full and longer prefixes do not split it.
        PagingError: the server ignores the prefix.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     owners = lf.load_names(net).set_index("name").party
        >>> bool(owners.index.is_unique)
        True
    """
    beginning = "" if prefix is None else text(prefix, "prefix", "the beginning of names, such as 'alice'")
    reader = _Reader(load)
    with load.asking():
        reader.read(beginning)
    return load.frame(load.read([item for _, item in sorted(reader.found.items())]))


class _Reader:
    """Reads names by prefix."""

    def __init__(self, load: TableLoad) -> None:
        self._calls = load.net.scan.raw
        self._origin = load.origin
        self._size = _SIZE
        self._limit = _ALL if load.limit is None else load.limit
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
            # The entry of exactly this name, which no longer prefix returns.
            members = self._origin.body(self._calls.ans_entry_by_name, prefix)
            self.found |= {prefix: members.get("entry", Raw(b"null"))} if members else {}
        following = {name[len(prefix)] for name in items if len(name) > len(prefix)}
        for character in sorted(following.union(_ALPHABET)):
            if len(self.found) < self._limit:
                self.read(prefix + character)

    def _ask(self, prefix: str) -> tuple[dict[str, Raw], bool]:
        """The entries by name, and whether there may be more."""
        members, self._size = as_many_as_allowed(
            self._size, lambda size: self._origin.body(self._calls.ans_entries, prefix=prefix, page_size=size)
        )
        items = items_of(members, "entries", str(routes.NAMES))
        with reading(routes.NAMES, table=NAMES.name):
            entries = {_name_of(item): item for item in items}
        other = next((name for name in entries if not name.startswith(prefix)), None)
        if other is not None:
            raise PagingError(
                f"{routes.NAMES}: asked for names that begin with {prefix[:40]!r}, the server sent {other[:80]!r};"
                " missing names cannot be requested"
            )
        return entries, len(items) >= self._size
