"""`join_prices`: amounts of coin at the prices of a series that the caller has, such as a market's."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Any, Final

import pandas as pd
import pyarrow as pa

from ledgerframes.amounts import in_pandas
from ledgerframes.arguments import duration, suggesting
from ledgerframes.errors import InputError
from ledgerframes.frames import attrs_of, decimals_of, to_pandas
from ledgerframes.paging.cursor import Duration
from ledgerframes.tables.catalogue import CATALOGUE
from ledgerframes.tables.derived import DERIVED

_LAST_PLACE: Final = Decimal("1E-10")
_EXACT: Final = Context(prec=76, rounding=ROUND_HALF_EVEN)


@suggesting
def join_prices(frame: Any, prices: Any, *, on: str | None = None, within: Duration = "1d") -> pd.DataFrame:
    """Add the price at the time of each row, and every amount of coin at that price. No market data is fetched.

    Args:
        frame: a table with a column of time and amounts of coin, such as `transfers` or `mint_burn` return it.
        prices: a Series of prices with times as its index, or a frame with the columns `time` and `price`; in UTC, in
            any order.
        on: the column of time; by default `record_time`, else the first column of times.
        within: how old a price may be; of a series of one price per day, `"1d"` uses each for its own day.

    Returns:
        The rows in their order, with `market_price`, the last price at or before the row's time, and for each amount of
        coin NAME a column NAME_at_market in the currency of the price, rounded half even to ten places where amounts
        are exact. Null where no price is known that is young enough.

    Raises:
        InputError: an argument is not valid, there is no column of time, a price is missing or not positive, or two
            prices are at one time.

    Example:
        >>> import pandas as pd, ledgerframes as lf
        >>> with lf.sandbox(updates=300) as net:
        ...     paid = lf.transfers(lf.load_history(net))
        ...     begin = lf.load_updates(net, limit=1).record_time[0]
        >>> valued = lf.join_prices(paid.assign(record_time=begin), pd.Series([0.15], index=[begin]))
        >>> bool((valued.amount_at_market == valued.amount * 0.15).all())
        True
    """
    oldest = duration(within, "within", bare=False)
    rows = to_pandas(frame, name="frame", giver="lf.transfers").copy()
    known, moments = _known(prices), _times(rows, on).dropna().sort_values()
    dated = pd.merge_asof(
        moments.rename_axis("row").reset_index(), known, on="time", tolerance=pd.Timedelta(oldest, "us")
    )
    found = dated.set_index("row")["price"].reindex(range(len(rows)))
    found = found.astype(object).where(found.notna(), None)
    amounts, form = _of_coin(rows), decimals_of(attrs_of(rows))
    rows["market_price"] = found.astype(float).to_numpy()
    for name in amounts:
        values = rows[name].astype(object).where(rows[name].notna(), None)
        pairs = zip(values, found, strict=True)
        if pd.api.types.is_float_dtype(rows[name].dtype):
            rows[f"{name}_at_market"] = rows[name].to_numpy() * rows["market_price"].to_numpy()
            continue
        products = [None if None in pair else _product(*pair) for pair in pairs]
        exactly = pd.Series(products, index=rows.index, dtype=object)
        if form != "exact":
            column = pa.chunked_array([pa.array(products, pa.decimal128(38, 10))])
            exactly = in_pandas(column, form).set_axis(rows.index)
        rows[f"{name}_at_market"] = exactly
    return rows


def _product(amount: Any, price: Decimal) -> Decimal:
    return _EXACT.quantize(_EXACT.multiply(Decimal(str(amount)), price), _LAST_PLACE)


def _moments(times: pd.Series) -> pd.Series:
    return pd.to_datetime(times, utc=True).dt.as_unit("us").rename("time").reset_index(drop=True)


def _known(prices: Any) -> pd.DataFrame:
    """The price from each time on, in order, each once."""
    if isinstance(prices, pd.Series):
        prices = pd.DataFrame({"time": prices.index, "price": prices.to_numpy()})
    series = to_pandas(prices, ("time", "price"), name="prices", giver='pd.DataFrame({"time": …, "price": …})')
    if pd.api.types.is_numeric_dtype(series["time"]):
        raise InputError(
            "prices: the times are numbers, and nothing says of which unit; for seconds since 1970 give"
            ' pd.to_datetime(prices["time"], unit="s", utc=True)'
        )
    try:
        values = [Decimal(str(price)) for price in series["price"]]
        known = pd.DataFrame({"time": _moments(series["time"]), "price": pd.Series(values, dtype=object)})
    except (ValueError, TypeError, ArithmeticError) as error:
        raise InputError(f"prices: {error}; give times in UTC and numbers") from error
    for time, value in zip(series["time"], values, strict=True):
        if not value.is_finite() or value <= 0 or pd.isna(time):
            raise InputError(f"prices: {value} at {time} is not valid: give a price above 0 with its time")
    known = known.drop_duplicates().sort_values("time", kind="stable")
    for time in known["time"][known["time"].duplicated()]:
        both = " and ".join(str(price) for price in known["price"][known["time"] == time][:2])
        raise InputError(f"prices: {both} are both at {time}; give one price for a time")
    return known


def _times(rows: pd.DataFrame, on: str | None) -> pd.Series:
    there = [str(name) for name, kind in rows.dtypes.items() if str(kind).startswith("datetime64[")]
    name = on or ("record_time" if "record_time" in there else next(iter(there), None))
    if name not in there:
        known = f"there are {', '.join(there)}" if there else "it has none; join the record_time of its updates first"
        raise InputError(f"on={on!r}: the frame has no such column of times: {known}")
    return _moments(rows[name])


def _of_coin(rows: pd.DataFrame) -> list[str]:
    """The columns of a declared table that contain coin."""
    declared = {
        column.name for table in (*CATALOGUE.values(), *DERIVED.values()) for column in table.columns
        if column.unit == "coin"
    }  # fmt: skip
    return [name for name in rows.columns if name in declared]
