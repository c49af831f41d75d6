"""`coins`: every coin contract, its terms, what created it and what ended it."""

from __future__ import annotations

from operator import attrgetter
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.analysis.coverage import check_whole
from ledgerframes.economics.expiry import expiry_of
from ledgerframes.economics.form import at_moment, given
from ledgerframes.economics.reading.choices import COIN_CHOICES
from ledgerframes.economics.reading.lifetimes import Lifetimes
from ledgerframes.economics.reading.models import AMULET, COINS, LOCKED_AMULET, Amulet, LockedAmulet
from ledgerframes.economics.reading.not_understood import NotUnderstood
from ledgerframes.economics.reading.parsing import columns_of, kinds_of
from ledgerframes.economics.reading.source import Source, source_of_events
from ledgerframes.economics.reading.tree import Tree
from ledgerframes.frames import As, Decimals
from ledgerframes.paging.cursor import Cursor
from ledgerframes.paging.window import Bound, bound
from ledgerframes.tables.coin_stocks import COIN_HISTORY


@at_moment
def coins(
    events: Any, *, opening: Any = None, at: Bound | None = None, as_: As = "pandas", decimals: Decimals | None = None
) -> Any:
    """List the coin contracts: owner, amount, round and rate, lock, and what created and ended each.

    Those whose `ended_at` is null are active, at the end of the events or at `at`. Like `active_contracts` it needs to
    know what was there before the events.

    Args:
        events: events of `load_events`, a `History` or a `Store`, from ledger begin. A `History` or a `Store` also has
            the coins that only an assignment shows.
        opening: contracts active before the events, as `load_active_contracts` or `active_contracts` gives them, or
            `"nothing"` if there were none.
        at: count events up to and including this time (in every migration) or pair (migration id, time).
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"object"` (exact), `"arrow"`, `"float"`, `"string"`; by default as the
            events were loaded to hold them, else `"object"`.

    Returns:
        One row per coin contract, in the order of creation, with the columns of `lf.describe("coin_history")`:
        amounts in coin, times in UTC. Holding fees are notional; `expires_at_round` is the first round in which the
        coin can be expired.

    Raises:
        InputError: an argument is not valid, or columns are missing.
        PartialResultError: the provenance of the events does not prove that they begin at ledger begin without a gap.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     coins = lf.coins(lf.load_events(net))
        >>> coins.contract_id.is_unique
        True
    """
    source, notes, moment = source_of_events(events), NotUnderstood(), bound(at, "at")
    check_whole(source.proof, name="events", opening=opening)
    lives = Lifetimes.of(source, COINS, opening, until=moment)
    tree = Tree.of(source)
    places = tree.places(lives.created["parent_event_id"])
    more = {
        "created_by": tree.choices(places),
        "ended_at": lives.ended("record_time"),
        "ended_by": lives.ended_by(tree),
    }
    rows = coin_rows(lives, notes, more)
    rows = rows.append_column("expires_at_round", expiry_of(rows))
    notes.choices(lives.ends, COIN_CHOICES)
    return given(
        rows, COIN_HISTORY, source, notes, as_=as_, decimals=decimals, without_create=lives.without_create()
    )  # fmt: skip


def coin_rows(lives: Lifetimes, notes: NotUnderstood, more: dict[str, pa.Array]) -> pa.Table:
    """The terms of each coin beside its contract_id, created_at, record_time and more columns, in order of creation."""
    created = lives.created.drop_columns(["parent_event_id"])
    for name, values in more.items():
        created = created.append_column(name, values)
    created = created.append_column("place", pa.array(range(created.num_rows), pa.int64()))
    parts = []
    for template, (coin, values) in _TERMS.items():
        own = created.filter(pc.equal(created["template_name"], template))
        terms = columns_of(own, "payload", coin, _KINDS, values, notes)
        locked = pa.repeat(pa.scalar(template == LOCKED_AMULET), terms.num_rows)
        parts.append(terms.append_column(pa.field("locked", pa.bool_()), locked))
    # Coins that are not locked get nulls in the columns of the lock.
    return pa.concat_tables(parts, promote_options="default").sort_by("place")


def active_coins(source: Source, opening: Any, moment: Cursor | int | None, notes: NotUnderstood) -> pa.Table:
    """The terms of the coins that are active at a moment."""
    lives = Lifetimes.of(source, COINS, opening, until=moment)
    rows = coin_rows(lives, notes, {"ended_at": lives.ended("record_time")})
    return rows.filter(pc.is_null(rows["ended_at"]))


def _terms(prefix: str) -> dict[str, Any]:
    members = {
        "owner": "owner",
        "amount": "amount.initial",
        "created_round": "amount.created.number",
        "rate_per_round": "amount.rate.rate",
    }
    return {name: attrgetter(prefix + member) for name, member in members.items()}


_KINDS: Final = kinds_of(COIN_HISTORY)
_LOCK: Final = {"lock_holders": attrgetter("lock.holders"), "lock_expires_at": attrgetter("lock.expires")}
_TERMS: Final = {
    AMULET: (Amulet, _terms("")),
    LOCKED_AMULET: (LockedAmulet, _terms("amulet.") | _LOCK),
}
