"""What every model does with payloads and sums that no ledger should have."""

from __future__ import annotations

import json
import random
from itertools import cycle

import pyarrow as pa
import pytest

import ledgerframes as lf
from ledgerframes.models.engine import Engine
from ledgerframes.models.inputs import inputs_of
from ledgerframes.tables.derived import DERIVED
from tests.economics.histories import coin, create, table_of, update

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


def test_payloads_that_no_ledger_should_have_end_no_query_and_are_counted(history):
    texts, rng = cycle(BROKEN), random.Random(5)
    other = odd(rng)

    def change(text):
        return next(texts) if rng.random() < 0.1 else other(text) if rng.random() < 0.5 else text

    events = history.events
    for name in ("payload", "exercise_result"):
        spoiled = pa.array([None if text is None else change(text) for text in events[name].to_pylist()])
        events = events.set_column(events.column_names.index(name), events.schema.field(name), spoiled)
    with Engine(inputs_of(history._replace(events=events)).gives) as engine:
        for name in DERIVED:
            engine.rows(name)
        counted = engine.not_understood("mint_burn") | engine.not_understood("transfers")

    assert sum(counted.values()) > 100


@pytest.mark.parametrize("amount", ["9" * 28, "6" + "0" * 27], ids=["of 128 bits", "of 127 bits"])
def test_a_sum_of_more_than_38_digits_is_an_error_that_names_the_table(amount):
    events = table_of([update("u", 0, *(create("Splice.Amulet:Amulet", name, coin("o", amount)) for name in "ab"))])

    for name in ("supply", "mint_burn"):
        with pytest.raises(lf.errors.InputError, match=f"{name} needs more than 38 digits"):
            getattr(lf, name)(events, opening="nothing")
