"""Amounts are exact as the ledger spells them, and so are their products; anything else is counted."""

import json
import random
from decimal import ROUND_HALF_EVEN, Context, Decimal
from itertools import cycle

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import ledgerframes as lf
from ledgerframes.models.engine import Engine
from ledgerframes.models.inputs import inputs_of
from ledgerframes.tables.derived import DERIVED
from ledgerframes.tables.kinds import AMOUNT
from tests.economics.histories import WHOLE, frame_of, table_of
from tests.economics.items import create, update
from tests.economics.payments import coin

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


BROKEN = (
    "{broken", "", " ", "[]", "null", '"text"', "7", '{"a":', "{}", '{"amount":{"initialAmount":{}}}', "\\u0000", "é",
)  # fmt: skip
ODD = (None, 7, -1, 0.5, 10**40, True, "", "1_0", " 1 ", "9" * 39, "NaN", "1e400", [], {}, [None], ["\x00"], "0E-10")


def odd(random):
    """A change that puts something else in place of one member, at any depth."""

    def change(text):
        value = json.loads(text)
        place, key, inner = None, None, value
        while isinstance(inner, dict | list) and inner and (place is None or random.random() >= 0.2):
            place, key = inner, random.choice(list(inner) if isinstance(inner, dict) else range(len(inner)))
            inner = place[key]
        if place is None:
            return text
        place[key] = random.choice(ODD)
        return json.dumps(value)

    return change


def test_payloads_that_no_ledger_should_have_end_no_query_and_are_counted(exact_history):
    texts, rng = cycle(BROKEN), random.Random(5)
    other = odd(rng)

    def change(text):
        return next(texts) if rng.random() < 0.1 else other(text) if rng.random() < 0.5 else text

    events = exact_history.events
    for name in ("payload", "exercise_result"):
        spoiled = pa.array([None if text is None else change(text) for text in events[name].to_pylist()])
        events = events.set_column(events.column_names.index(name), events.schema.field(name), spoiled)
    with Engine(inputs_of(exact_history._replace(events=events)).gives) as engine:
        for name in DERIVED:
            engine.rows(name)
        counted = engine.not_understood("mint_burn") | engine.not_understood("transfers")

    assert sum(counted.values()) > 100


@pytest.mark.parametrize("amount", ["9" * 28, "6" + "0" * 27], ids=["of 128 bits", "of 127 bits"])
def test_a_sum_of_more_than_38_digits_is_an_error_that_names_the_table(amount):
    events = table_of([update("u", 0, *(create(AMULET, name, coin("o", amount)) for name in "ab"))])

    for name in ("supply", "mint_burn"):
        with pytest.raises(lf.errors.InputError, match=f"{name} needs more than 38 digits"):
            getattr(lf, name)(events, opening="nothing")
