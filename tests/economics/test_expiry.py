"""The round in which a coin can be expired, many coins at once and one by one."""

import random
from decimal import ROUND_CEILING, Decimal

import pyarrow as pa
import pytest

from ledgerframes.economics.expiry import expiry_of
from ledgerframes.tables.kinds import AMOUNT

PLACE = Decimal(1).scaleb(-10)


def coins(*rows):
    created, amounts, rates = zip(*rows, strict=True)
    return pa.table(
        {
            "created_round": pa.chunked_array([pa.array(created, pa.int64())]),
            "amount": pa.array(amounts, AMOUNT.arrow),
            "rate_per_round": pa.array(rates, AMOUNT.arrow),
        }
    )


def drawn(seed):
    rng = random.Random(seed)
    for _ in range(500):
        rate = rng.choice([Decimal(0), PLACE, Decimal("0.1"), rng.randrange(1, 10**12) * PLACE])
        # Whole multiples of the rate, and one place beside them.
        amount = rng.randrange(0, 10**6) * (rate or PLACE) + rng.choice([-1, 0, 1]) * PLACE
        yield rng.randrange(-5, 10**6), amount, rate


@pytest.mark.parametrize("huge", [Decimal(10) ** 27, None])
def test_a_coin_can_be_expired_in_the_first_round_whose_fee_is_the_coin(huge):
    rows = list(drawn(7))
    more = [(0, huge, Decimal(1))] if huge else []  # 64 bits do not hold its places, so all are computed one by one
    expected = [
        None if rate <= 0 else created + int((amount / rate).to_integral_value(ROUND_CEILING))
        for created, amount, rate in rows
    ]
    assert expiry_of(coins(*rows, *more)).to_pylist()[: len(rows)] == expected


def test_a_round_beyond_64_bits_is_null():
    rows = [(2**63 - 2, Decimal(1), Decimal(1)), (2**63 - 1, Decimal(1), Decimal(1)), (7, Decimal(10), Decimal(3))]
    assert expiry_of(coins(*rows)).to_pylist() == [2**63 - 1, None, 11]
