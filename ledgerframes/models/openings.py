"""`load_opening`: the contracts active where a range of the history begins, for the tables computed from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pyarrow.compute as pc

from ledgerframes.arguments import refuse, suggesting
from ledgerframes.errors import InputError, NotFoundError, PartialResultError
from ledgerframes.frames import attrs_of
from ledgerframes.loaders.acs.times import at_or_before
from ledgerframes.loaders.active_contracts import load_active_contracts
from ledgerframes.loaders.extent import first_after, first_cursors
from ledgerframes.loaders.history import load_history
from ledgerframes.loaders.opening import Opening, cursor_of, opening_of
from ledgerframes.models.contracts import active_of
from ledgerframes.models.declared_reads import OPENED
from ledgerframes.models.inputs import inputs_of, is_store
from ledgerframes.paging.cursor import Bound, Cursor, bound
from ledgerframes.tables.replayed import ACTIVE
from ledgerframes.timestamps import LATEST, format_timestamp

if TYPE_CHECKING:
    from ledgerframes.network import Network

_HISTORY: Final = {
    "updates": ["update_id"],
    "events": [
        *("migration_id", "record_time", "contract_id", "template_id", "template_name", "package_name", "created_at"),
        *("signatories", "observers", "payload", "synchronizer_id", "event_type", "consuming"),
        *("update_id", "node_index", "choice"),
    ],
    "reassignments": [
        *("migration_id", "record_time", "contract_id", "template_id", "template_name", "package_name", "created_at"),
        *("signatories", "observers", "payload", "kind", "source_synchronizer", "target_synchronizer"),
        *("reassignment_counter", "update_id"),
    ],
}


@suggesting
def load_opening(net: Any, *, at: Bound) -> Opening:
    """Load the contracts active where a range begins, for `opening=` of the computed tables.

    It takes scan's last snapshot before `at` and replays the history from there up to `at`, which is as far as
    snapshots are apart: a few hours. Without a snapshot, and from a store, it replays the history from ledger begin. It
    holds coins, coupons, rounds, licenses, featured apps, and the instructions, allocations and preapprovals of coin.

    Args:
        net: the network, whose scan is asked; or a store, for a range of it.
        at: the `start` of the range that the tables are computed from: a time, or a pair (migration id, time). What is
            recorded at that time itself belongs to the range. At a time when two migrations run, only a pair is a
            place.

    Returns:
        An `Opening`: contracts (an Arrow table of one row per contract, with the columns of `active_contracts`), and
        of which place, templates and parties they are all contracts. Contracts that only an assignment shows, before
        the snapshot, are in no snapshot.

    Raises:
        InputError: `at` is not valid, or `net` is neither a network nor a store.
        PartialResultError: the network shows nothing at or after `at` yet, or has pruned a part to replay; or the store
            does not have all of the history from ledger begin up to there.
        RequestError: the scan gave no answer.
        DecodeError: an answer breaks the contract.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=600) as net:
        ...     opening = lf.load_opening(net, at="2025-03-03T10:45")
        ...     history = lf.load_history(net, start="2025-03-03T10:45")
        >>> lf.supply(history, opening=opening).total.notna().all().item()
        True
    """
    moment = bound(at, "at", up=True)
    if moment is None:
        raise InputError("at=None is not valid: give the start of the range, a time or a pair (migration id, time)")
    if is_store(net):
        return _of_store(net, moment)
    if not hasattr(net, "settings"):
        refuse("net", net, "give a network, such as net = lf.connect('https://HOST/api/scan'), or a store")
    place = _snapshot_before(net, moment)
    before = None
    if place is not None:
        taken = (place.migration_id, format_timestamp(place.micros))
        before = load_active_contracts(net, at=taken, templates=OPENED, as_="arrow")
    try:
        history = load_history(net, start="begin" if place is None else taken, end=at, columns=_HISTORY, as_="arrow")
    except PartialResultError as error:
        if place is not None:
            raise
        raise PartialResultError(
            f"at={at!r}: the scan has no snapshot before it, and not all of the history from ledger begin to replay."
            " Give a later at=, or name a scan that keeps more"
        ) from error
    if "known_to" in attrs_of(history.events):
        raise PartialResultError(
            f"at={at!r}: the network shows no update at or after it yet, so more may come before it; give an earlier"
            " time"
        )
    active = active_of(OPENED, history, opening=before, as_="arrow")
    end = _end(moment, place, history)
    if isinstance(moment, int) and end.migration_id > 0:
        following = first_after(net.scan.update_pages, Cursor(end.migration_id - 1, end.micros))
        if following is not None and following.migration_id < end.migration_id:
            raise _two_places(end)
    return Opening(active.select(ACTIVE.names).replace_schema_metadata(None), end, OPENED)


def stored_opening(store: Any, *, at: Bound) -> Opening | None:
    """The contracts active in a lake before a place, for what is computed from the rows from there on.

    None if the lake does not hold all of its history up to there, or there was nothing yet.

    Raises:
        InputError: `at` is two places of the history.
    """
    try:
        opening = load_opening(store, at=at)
    except PartialResultError:
        return None
    return opening if opening.rows else None


def _of_store(store: Any, at: Cursor | int) -> Opening:
    if inputs_of(store).attrs.get("from_beginning") is False:
        place = (at.migration_id, format_timestamp(at.micros)) if isinstance(at, Cursor) else format_timestamp(at)
        raise PartialResultError(
            f"{store!r} does not begin at ledger begin, so it does not show all that was active at {place}; give the"
            f" network, lf.load_opening(net, at={place!r}), or a store that does"
        )
    last = format_timestamp((at if isinstance(at, int) else at.micros) - 1)
    moment = last if isinstance(at, int) else (at.migration_id, last)
    active = active_of(OPENED, store, at=moment, opening=None, as_="arrow")
    found = attrs_of(active)
    if found.get("two_places"):
        raise _two_places(cursor_of(found["cursor"]))
    if found.get("cursor") is None:  # before the first event
        before = Cursor(0, at - 1) if isinstance(at, int) else Cursor(at.migration_id, at.micros - 1)
        return Opening(active.select(ACTIVE.names).replace_schema_metadata(None), before, OPENED)
    opening = opening_of(active, {})
    assert opening is not None, "a frame of contracts is one"
    return opening


def _two_places(end: Cursor) -> InputError:
    """The error for a time when two migrations run: what one archives before it, the other may create after it.

    Args:
        end: the last place before that time.
    """
    time, later = format_timestamp(end.micros + 1), end.migration_id
    return InputError(
        f"{time} is two places of the history, as migration {later} had begun then and migration {later - 1} had not"
        f" ended: give ({later - 1}, {time!r}) or ({later}, {time!r}) as start= of the events, and to their opening"
    )


def _snapshot_before(net: Network, moment: Cursor | int) -> Cursor | None:
    """The last snapshot before a moment; None if the scan has none.

    Raises:
        PartialResultError: the scan has pruned what followed it.
    """
    micros = moment if isinstance(moment, int) else moment.micros
    try:
        firsts = list(first_cursors(net.scan.update_pages))
        for first in reversed(firsts):
            if first >= moment if isinstance(moment, Cursor) else first.micros >= moment:
                continue
            # A migration that had ended by then has its last snapshot at any time.
            own = isinstance(moment, int) or moment.migration_id == first.migration_id
            taken = at_or_before(net.scan, first.migration_id, micros - 1 if own else LATEST)
            if taken is not None and taken >= first.micros:
                return Cursor(first.migration_id, taken)
            if taken is not None and first == firsts[0]:  # no snapshot precedes the ledger
                raise PartialResultError(
                    f"the scan's last snapshot before then is of {format_timestamp(taken)}, and its history begins at"
                    f" {first}: it has pruned what lies between. Give a later at=, or name a scan that keeps more"
                )
    except NotFoundError as error:
        if not error.unknown_route:
            raise
    return None


def _end(moment: Cursor | int, place: Cursor | None, history: Any) -> Cursor:
    """The last place before a moment."""
    if isinstance(moment, Cursor):
        return Cursor(moment.migration_id, moment.micros - 1)
    last = pc.max(history.events["migration_id"]).as_py()
    return Cursor(max(0 if last is None else last, 0 if place is None else place.migration_id), moment - 1)
