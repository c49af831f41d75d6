"""`traffic_purchases`: who bought how much traffic for whom, and at what price."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from msgspec import Struct
from msgspec import field as member

from ledgerframes.economics.form import from_events, given
from ledgerframes.economics.reading.amounts import products
from ledgerframes.economics.reading.choices import TRAFFIC
from ledgerframes.economics.reading.models import Int64
from ledgerframes.economics.reading.not_understood import NotUnderstood
from ledgerframes.economics.reading.parsing import columns_of, kinds_of
from ledgerframes.economics.reading.source import source_of_events
from ledgerframes.economics.summaries import outcomes_of, paying_exercises
from ledgerframes.frames import As, Decimals
from ledgerframes.tables.coin_flows import TRAFFIC_PURCHASES


class Purchase(Struct, frozen=True, gc=False):
    """The argument of `AmuletRules_BuyMemberTraffic`."""

    provider: str
    member_id: str = member(name="memberId")
    synchronizer_id: str = member(name="synchronizerId")
    migration_id: Int64 = member(name="migrationId")
    bytes: Int64 = member(name="trafficAmount")


@from_events
def traffic_purchases(events: Any, *, as_: As = "pandas", decimals: Decimals | None = None) -> Any:
    """List the purchases of traffic: who paid, for which member, how many bytes, how much in coin and in USD.

    Args:
        events: events of `load_events`, a `History` or a `Store`.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"object"` (exact), `"arrow"`, `"float"`, `"string"`; by default as the
            events were loaded to hold them, else `"object"`.

    Returns:
        One row per purchase, in the order of the events, with the columns of `lf.describe("traffic_purchases")`: what
        was paid in coin, with the fees of outputs and without other fees, and the same in USD at the price of its
        round, rounded half even to 10 places.

    Raises:
        InputError: an argument is not valid, or columns are missing.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     purchases = lf.traffic_purchases(lf.load_events(net))
        >>> purchases.columns.to_list()[2:6]
        ['provider', 'member_id', 'synchronizer_id', 'migration_id']
    """
    source, notes = source_of_events(events), NotUnderstood()
    rows = paying_exercises(source, "payload", choices=[TRAFFIC])
    outcomes = outcomes_of(rows, notes)
    rows = rows.append_column("round", outcomes["round"])
    rows = rows.append_column("amount", outcomes["paid"])
    rows = rows.append_column("amount_usd", products(outcomes["paid"], outcomes["price"]))
    values = {name: attrgetter(name) for name in Purchase.__struct_fields__}
    purchases = columns_of(rows, "payload", Purchase, kinds_of(TRAFFIC_PURCHASES), values, notes)
    return given(purchases, TRAFFIC_PURCHASES, source, notes, as_=as_, decimals=decimals)
