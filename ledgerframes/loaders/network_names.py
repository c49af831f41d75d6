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
    prefixes that are one character longer, as often as needed; names consist of a to z, digits, `_`, `-` and `.`. Rows
    are in alphabetical order; the operator's own names have no contract and do not expire.

    Args:
        prefix: only names that begin with this.

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
    most = _ALL if load.limit is None else load.limit
    prefixes, found, size = [beginning], dict[str, Raw](), _SIZE
    with load.asking():
        while prefixes and len(found) < most:
            prefix = prefixes.pop()
            items, size = _beginning_with(load, prefix, size)
            found |= items
            if len(items) < size or len(found) >= most:
                continue
            if len(prefix) >= _LONGEST:
                raise PartialResultError(
                    f"{routes.NAMES}: more than {len(items)} names begin with {prefix[:40]!r}, and the server returns"
                    " no more of them: allow_partial=True returns those that it did"
                )
            if prefix:
                # The entry of exactly this name, which no longer prefix returns.
                members = load.origin.body(load.net.scan.raw.ans_entry_by_name, prefix)
                found |= {prefix: members.get("entry", Raw(b"null"))} if members else {}
            following = {name[len(prefix)] for name in items if len(name) > len(prefix)}
            prefixes += [prefix + character for character in sorted(following.union(_ALPHABET), reverse=True)]
    return load.frame(load.read([item for _, item in sorted(found.items())]))


def _beginning_with(load: TableLoad, prefix: str, size: int) -> tuple[dict[str, Raw], int]:
    """The entries by name, and the number that was asked for: as many may not be all."""
    members, size = as_many_as_allowed(
        size, lambda most: load.origin.body(load.net.scan.raw.ans_entries, prefix=prefix, page_size=most)
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
    return entries, size
