"""Amounts are exact as the ledger spells them, and so are their products; anything else is counted."""

from decimal import ROUND_HALF_EVEN, Context, Decimal

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import ledgerframes as lf
from ledgerframes.models.engine import Engine
from ledgerframes.tables.kinds import AMOUNT
from tests.economics.histories import WHOLE, coin, create, frame_of, update

AMULET = "Splice.Amulet:Amulet"
EXACT = Context(prec=120, rounding=ROUND_HALF_EVEN)
amounts = st.integers(-(10**38) + 1, 10**38 - 1).map(lambda units: Decimal(units).scaleb(-10, EXACT)) | st.none()


@pytest.fixture(scope="module")
def engine():
    with Engine({}) as opened:
        yield opened


@given(st.lists(st.tuples(amounts, amounts), min_size=1, max_size=6))
@example([(Decimal("1E-10"), Decimal("9999999999999999999999999999.5"))])
def test_a_worth_is_the_product_rounded_half_to_even(engine, pairs):
    rows = pa.table({name: [pair[place] for pair in pairs] for place, name in enumerate(("l", "r"))}).cast(
        pa.schema({"l": AMOUNT.arrow, "r": AMOUNT.arrow})
    )
    engine._connection.register("pairs", rows)

    found = [one for (one,) in engine._connection.sql("select coin(worth(l, r)) from pairs").fetchall()]

    for (left, right), worth in zip(pairs, found, strict=True):
        exact = None if left is None or right is None else EXACT.multiply(left, right)
        # A product that 18 digits before the point do not hold is not known; one that they hold may round up to more.
        known = exact is not None and -(10**18) < exact < 10**18
        assert worth == (exact.quantize(Decimal("1e-10"), context=EXACT) if known else None)


SPELLINGS = {
    "12.5000000000": "12.5", "12.500000000000000000": "12.5", "1E-10": "0.0000000001", "0E-10": "0",
    "-1.43E-8": "-0.0000000143", "9" * 28 + ".9999999999": "9" * 28 + ".9999999999",
}  # fmt: skip
#: Eleven places, 29 digits, other texts, and JSON numbers, which may have lost digits on their way.
REFUSED = (
    "1.00000000001", "1" + "0" * 28, "NaN", "Infinity", "much", "", None, ["1"], 12.5, 12, "1_2.5", " 12.5 ", "1.25E+1",
)  # fmt: skip


def test_an_amount_is_read_in_every_spelling_and_what_is_none_costs_its_own_row_alone():
    spelled = [*SPELLINGS, *REFUSED]
    coins = [coin("ann", "1") for _ in spelled]
    for terms, text in zip(coins, spelled, strict=True):
        terms["amount"]["initialAmount"] = text
    nodes = [create(AMULET, f"{number:03}", terms) for number, terms in enumerate(coins)]

    found = lf.coin_history(frame_of([update("u", 0, *nodes)], **WHOLE))

    wanted = {f"{number:03}": Decimal(amount) for number, amount in enumerate(SPELLINGS.values())}
    assert dict(zip(found.contract_id, found.amount, strict=True)) == wanted
    assert found.attrs["not_understood"] == {f"{AMULET}: amount.initialAmount": len(REFUSED)}
