"""`rewards`: every reward coupon, what it is worth and what became of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from operator import attrgetter
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.economics.form import from_opening, given
from ledgerframes.economics.reading.amounts import amounts, product, products
from ledgerframes.economics.reading.choices import PAYING
from ledgerframes.economics.reading.lifetimes import Lifetimes
from ledgerframes.economics.reading.not_understood import NotUnderstood
from ledgerframes.economics.reading.parsing import columns_of
from ledgerframes.economics.reading.source import Source, source_of_events
from ledgerframes.economics.reading.tree import Tree
from ledgerframes.economics.reward_checks import check_claims, check_expiries
from ledgerframes.economics.reward_kinds import (
    CLAIMS,
    EXPIRIES,
    KINDS,
    NOT_REWARDS,
    REWARD_LIKE,
    WITHDRAWALS,
    Kind,
    issued_kind,
)
from ledgerframes.economics.rounds import ISSUANCE, Rounds, rounds_of
from ledgerframes.frames import As, Decimals
from ledgerframes.tables.kinds import AMOUNT
from ledgerframes.tables.rounds_and_rewards import REWARDS

_NULL: Final = pa.scalar(None, pa.string())


@from_opening
def rewards(events: Any, *, opening: Any = None, as_: As = "pandas", decimals: Decimals | None = None) -> Any:
    """List the reward coupons: of whom, what they are worth, and whether they were claimed or expired.

    A coupon states a weight, not coin: its amount is the weight times what its round issues per weight of its kind,
    rounded half even to 10 places, as the ledger does. A coupon whose create lies before the events has no row unless
    `opening` has it; `attrs["without_create"]` counts such coupons that ended, by template.

    `attrs["checks"]` holds the ledger's own sums against these: `unclaimed_rewards` compares the amount of each
    `UnclaimedReward` with the sum over the coupons that expired with it, rounded once, and `claims` the inputs in the
    summary of each transfer with the coupons that it claimed. Each counts what is equal, different and unknown.

    Args:
        events: events of `load_events`, a `History` or a `Store`.
        opening: contracts active before the events, rounds among them, as `load_active_contracts` or
            `active_contracts` gives them.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"object"` (exact), `"arrow"`, `"float"`, `"string"`; by default as the
            events were loaded to hold them, else `"object"`.

    Returns:
        One row per coupon, in the order of creation, with the columns of `lf.describe("rewards")`: amounts in coin,
        times in UTC. `issuance` and `amount` are null while the round is not known to issue.

    Raises:
        InputError: an argument is not valid, or columns are missing.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     rewards = lf.rewards(lf.load_events(net))
        >>> rewards.columns.to_list()[:5]
        ['contract_id', 'kind', 'round', 'provider', 'beneficiary']
    """
    source, notes = source_of_events(events), NotUnderstood()
    known = rounds_of(source, opening, notes, ISSUANCE)
    lives = Lifetimes.of(source, list(KINDS), opening)
    tree = Tree.of(source, lives.ends["update_id"])
    rows = reward_rows(lives, tree, known, notes)
    _count_unknown(source, notes)
    checks = {
        "unclaimed_rewards": check_expiries(source, known),
        "claims": check_claims(source, lives, tree, rows),
    }
    return given(
        rows, REWARDS, source, notes, as_=as_, decimals=decimals, checks=checks, without_create=lives.without_create()
    )  # fmt: skip


def reward_rows(lives: Lifetimes, tree: Tree, known: Rounds, notes: NotUnderstood) -> pa.Table:
    """The rows of the table from the lives of the coupons."""
    created = lives.created.select(["contract_id", "template_name", "created_at", "payload"])
    created = created.append_column("ended_at", lives.ended("record_time"))
    created = created.append_column("outcome", _outcomes(lives, tree, notes))
    created = created.append_column("place", pa.array(range(created.num_rows), pa.int64()))
    parts = [
        _of_kind(created.filter(pc.equal(created["template_name"], template)), kind, known, notes)
        for template, kind in KINDS.items()
    ]
    return pa.concat_tables(parts).sort_by("place")


def _outcomes(lives: Lifetimes, tree: Tree, notes: NotUnderstood) -> pa.Array:
    """What became of each coupon, by the choice that consumed it; Archive is a claim below what takes coupons in."""
    ends = lives.ends
    below = tree.nearest(tree.places(ends["parent_event_id"]), tree.mask(PAYING)) >= 0
    claimed = pc.or_(
        pc.is_in(ends["choice"], pa.array(CLAIMS)), pc.and_(pc.equal(ends["choice"], "Archive"), pa.array(below))
    )
    words = pc.if_else(
        claimed,
        "claimed",
        pc.if_else(
            pc.is_in(ends["choice"], pa.array(EXPIRIES)),
            "expired",
            pc.if_else(pc.is_in(ends["choice"], pa.array(WITHDRAWALS)), "withdrawn", _NULL),
        ),
    )
    strange = ends.filter(pc.is_null(words))
    notes.choices(strange, ())
    words = words.combine_chunks() if isinstance(words, pa.ChunkedArray) else words
    outcomes = words.take(pa.array(lives.end_of, mask=lives.end_of < 0))
    return pc.if_else(pa.array(lives.end_of < 0), "open", outcomes)


def _of_kind(created: pa.Table, kind: Kind, known: Rounds, notes: NotUnderstood) -> pa.Table:
    """The rows of one template."""
    values = {name: value for name, value in _VALUES.items() if _has(kind, name)}
    rows = columns_of(created, "payload", kind.coupon, _TYPES, values, notes)
    missing = {"weight": pa.scalar(Decimal(1), _TYPES["weight"]), "featured": None, "round": None}
    for name, value in missing.items():
        if name not in values:
            constant = pa.repeat(value or pa.scalar(None, _TYPES[name]), rows.num_rows)
            rows = rows.append_column(pa.field(name, _TYPES[name]), constant)
    rows = rows.append_column("kind", pa.array([kind.name] * rows.num_rows, pa.string()))
    issuance, worth = _worth(rows, kind, known)
    with_amount = rows.append_column("issuance", issuance).append_column("amount", worth)
    return with_amount.select(sorted(with_amount.column_names))


def _has(kind: Kind, name: str) -> bool:
    return name in {"provider", "beneficiary"} or name in kind.coupon.__struct_fields__


_TYPES: Final = {field.name: field.type for field in REWARDS.schema}
_VALUES: Final[dict[str, Callable[[Any], Any]]] = {
    "provider": lambda coupon: getattr(coupon, "provider", None) or coupon.beneficiary,
    "beneficiary": lambda coupon: getattr(coupon, "beneficiary", None) or coupon.provider,
    "weight": attrgetter("weight"),
    "featured": attrgetter("featured"),
    "round": attrgetter("round.number"),
}


def _worth(rows: pa.Table, kind: Kind, known: Rounds) -> tuple[Any, Any]:
    if kind.in_coin:
        return pa.nulls(rows.num_rows, AMOUNT.arrow), rows["weight"]
    issuance = _issuances(rows["round"], kind.name, rows["featured"], known)
    return issuance, products(rows["weight"], issuance)


def _issuances(numbers: pa.ChunkedArray, kind: str, featured: Any, known: Rounds) -> Any:
    """The issuance per weight of each coupon of a kind."""
    rounds = pc.unique(numbers).to_pylist()
    places = pc.index_in(numbers, pa.array(rounds, pa.int64()))
    plain, raised = (
        amounts(known.issuance(number, issued_kind(kind, featured=feature)) for number in rounds).take(places)
        for feature in (False, True)
    )
    return pc.if_else(pc.fill_null(featured, False), raised, plain)  # noqa: FBT003


def with_issuance(rows: pa.Table, known: pa.Table) -> pa.Table:
    """Coupons with the issuance of their round where that was not known to them, and what they are worth with it.

    Args:
        rows: rows of the table.
        known: rows of `round_history`.
    """
    in_coin = pa.array([kind.name for kind in KINDS.values() if kind.in_coin], pa.string())
    unissued = pc.and_(pc.is_null(rows["issuance"]), pc.invert(pc.is_in(rows["kind"], in_coin)))
    places = pc.fill_null(pc.and_(unissued, pc.is_in(rows["round"], known["round"])), False)  # noqa: FBT003
    if not pc.any(places).as_py():
        return rows
    by_round = Rounds({cells["round"]: cells for cells in known.to_pylist()})
    columns = (rows[name].to_pylist() for name in ("kind", "featured", "round", "weight", "issuance", "amount"))
    cells = []
    for unknown, kind, featured, number, weight, issuance, amount in zip(places.to_pylist(), *columns, strict=True):
        if not unknown:
            cells.append((issuance, amount))
            continue
        own_issuance = by_round.issuance(number, issued_kind(kind, featured=featured))
        cells.append((own_issuance, product(weight, own_issuance)))
    for place, name in enumerate(("issuance", "amount")):
        at = rows.column_names.index(name)
        rows = rows.set_column(at, rows.schema.field(at), amounts(pair[place] for pair in cells))
    return rows


def _count_unknown(source: Source, notes: NotUnderstood) -> None:
    """Count the creates of templates that are named like a reward and that this version does not read."""
    names = source.all_rows(("template_name", "event_type"))
    created = names["template_name"].filter(pc.equal(names["event_type"], "created_event"))
    counts = Counter({pair["values"]: pair["counts"] for pair in pc.value_counts(created).to_pylist()})
    listed = pa.array([name for name in counts if name is not None and name.startswith("Splice.")], pa.string())
    strange = listed.filter(pc.match_substring_regex(listed, REWARD_LIKE)).to_pylist()
    notes.update({name: counts[name] for name in strange if name not in {*KINDS, *NOT_REWARDS}})
