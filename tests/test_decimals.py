"""The four forms of amounts and the one of lists: what pandas can do with each, and who chooses the form."""

from __future__ import annotations

import random
from decimal import Decimal
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ledgerframes as lf
from ledgerframes.errors import RoundedAmountsWarning
from ledgerframes.frames import shape

PAGE = Path(__file__).parents[1] / "docs" / "howto" / "amounts.md"
FORMS = ("float", "exact", "arrow", "string")
OPERATIONS = {
    "`.sum()`": lambda amounts, _: amounts.sum(),
    "`.mean()`": lambda amounts, _: amounts.mean(),
    "`.median()`": lambda amounts, _: amounts.median(),
    "`.quantile(0.9)`": lambda amounts, _: amounts.quantile(0.9),
    "`.min()`, `.max()`": lambda amounts, _: amounts.max(),
    "`.sort_values()`": lambda amounts, _: amounts.sort_values(),
    "`.nlargest(3)`": lambda amounts, _: amounts.nlargest(3),
    "`.describe()`": lambda amounts, _: amounts.describe()["mean"],
    "`.groupby().sum()`": lambda _, rows: rows.groupby("kind").amount.sum(),
    "`.groupby().nlargest(2)`": lambda _, rows: rows.groupby("kind").amount.nlargest(2),
    '`.pivot_table(aggfunc="sum")`': lambda _, rows: (
        rows.pivot_table(index="kind", values="amount", aggfunc="sum").amount
    ),
    "`.cumsum()`": lambda amounts, _: amounts.cumsum(),
    "`.diff()`": lambda amounts, _: amounts.diff(),
    "`+ 1`": lambda amounts, _: amounts + 1,
    "`* 0.5`": lambda amounts, _: amounts * 0.5,
    "`/ 3`": lambda amounts, _: amounts / 3,
    "`/ amounts.sum()`": lambda amounts, _: amounts / amounts.sum(),
    "`> 100`": lambda amounts, _: amounts > 100,
    "`.round(2)`": lambda amounts, _: amounts.round(2),
    "`.plot()`": lambda amounts, _: pd.Series(amounts.plot().lines[0].get_ydata()),
    "`.astype(float)`": lambda amounts, _: amounts.astype(float),
}


def outcome(operation, rows):
    """What a result is: exact, rounded to a float, text, or none at all."""
    try:
        result = operation(rows.amount, rows)
    except Exception:  # noqa: BLE001 - whatever pandas raises, the operation does not work
        return "no"
    kind = str(getattr(result, "dtype", type(result).__name__))
    if kind.startswith(("float", "double")):
        return "rounded"
    return "as text" if kind == "str" else "exact"


def test_a_function_that_needs_every_digit_refuses_floats(hour, hour_history):
    rounded = lf.holdings_from_events(*hour_history[1:])
    exact = lf.holdings_from_events(*hour_history[1:], decimals="exact")

    for refused in (lambda: lf.reconcile_holdings(exact, rounded), lambda: lf.holding_fees(rounded)):
        with pytest.raises(lf.errors.InputError, match=r'floats in .*lf\.load_holdings_summary\(…, decimals="exact"\)'):
            refused()
    assert lf.reconcile_holdings(exact, exact).empty
    supplies = lf.load_instruments(hour)
    with pytest.raises(lf.errors.InputError, match=r'lf\.load_instruments\(…, decimals="exact"\)'):
        lf.instrument_supply(supplies)


def test_exporting_floats_warns_once_and_writes_doubles(hour_history, tmp_path):
    burned = lf.mint_burn(hour_history, decimals="exact").burned_names
    assert (Decimal(0) in set(burned), [amount for amount in burned if "E" in str(amount)]) == (True, [])
    frames = {
        "supply": lf.supply(hour_history),
        "mint_burn": lf.mint_burn(hour_history),
        "updates": hour_history.updates,
    }
    with pytest.warns(RoundedAmountsWarning, match="the frames of supply, mint_burn hold floats") as warned:
        lf.export(frames, tmp_path)
    assert len(warned) == 1
    assert str(pq.read_schema(tmp_path / "supply.parquet").field("total").type) == "double"

    for form in ({"as_": "arrow"}, {"decimals": "exact"}):
        lf.export({"supply": lf.supply(hour_history, **form)}, tmp_path, overwrite=True)
        assert str(pq.read_schema(tmp_path / "supply.parquet").field("total").type).startswith("decimal128(")


def written():
    """The rows of the table in the documents."""
    rows = [line.strip("| \n").split(" | ") for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    return {row[0]: tuple(cell.strip() for cell in row[1:]) for row in rows}


@pytest.mark.filterwarnings("ignore")
def test_the_table_of_what_each_form_can_do_is_true(hour_history):
    mpl.use("Agg")
    frames = [lf.rewards(hour_history, decimals=form) for form in FORMS]
    known = [frame[frame.amount.notna()] for frame in frames]

    found = {name: tuple(outcome(operation, rows) for rows in known) for name, operation in OPERATIONS.items()}

    plt.close("all")
    assert written() == found


def kind_of(amounts):
    return type(amounts.dropna().iloc[0]).__name__ if amounts.dtype == object else str(amounts.dtype)


KINDS = {"float": "float64", "exact": "Decimal", "arrow": "decimal128(38, 10)[pyarrow]", "string": "str"}


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("form", FORMS)
def test_a_network_decides_how_amounts_are_held(hour, form):
    box = hour.sandbox
    with lf.connect(scan_url=box.scan_url, registry_url=box.registry_url, decimals=form) as net:
        history = lf.load_history(net, progress=False)
        assert kind_of(lf.load_instruments(net).total_supply) == KINDS[form]
        assert kind_of(lf.supply(history).total) == KINDS[form]
        assert kind_of(lf.holdings_from_events(*history[1:]).total_coin_holdings) == KINDS[form]
        assert kind_of(lf.supply(history, decimals="exact").total) == "Decimal"
        assert kind_of(lf.load_instruments(net, decimals="string").total_supply) == "str"
        assert str(lf.supply(history, as_="arrow")["total"].type) == "decimal128(38, 10)"


TEXTS = pa.list_(pa.string())


def made_up(rng: random.Random, distinct: int, mark: str, *, nulls: bool) -> pa.ChunkedArray:
    def cell():
        length = rng.choice([0, 1, 1, 2, 3, rng.randrange(20)])
        texts = [
            f"{mark}{rng.randrange(distinct) or ''}" if not nulls or rng.random() > 0.1 else None for _ in range(length)
        ]
        return texts if rng.random() > 0.1 else None

    chunks = [pa.array([cell() for _ in range(rng.choice([0, 1, 200]))], TEXTS) for _ in range(rng.randrange(4))]
    return pa.chunked_array(chunks, type=TEXTS)


@pytest.mark.parametrize("mark", ["", "party", "\x1f"])
@pytest.mark.parametrize(("distinct", "nulls"), [(1, False), (50, True), (5_000, False)])
def test_cells_are_the_lists_as_tuples(distinct, nulls, mark):
    rng = random.Random(distinct)
    for number in range(30):
        column = made_up(rng, distinct, mark, nulls=nulls)
        if number % 2:
            column = column.slice(rng.randrange(9), rng.randrange(300))

        cells = shape(pa.table({"parties": column}), as_="pandas")["parties"]

        assert cells.dtype == object
        assert cells.tolist() == [None if texts is None else tuple(texts) for texts in column.to_pylist()]
