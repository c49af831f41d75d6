"""Columns of amounts are exact, however amounts are spelled: read at once or one by one, multiplied and summed."""

from decimal import Decimal, localcontext

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ledgerframes as lf
from ledgerframes.economics.reading.amounts import EXACT, fits, list_sums, product, products
from ledgerframes.economics.reading.models import AMULET, ISSUING_ROUND
from ledgerframes.tables.kinds import AMOUNT
from tests.economics.histories import WHOLE, coin, create, frame_of, update

COUPON = "Splice.Amulet:SvRewardCoupon"
amounts = st.integers(-(10**38) + 1, 10**38 - 1).map(lambda units: Decimal(units).scaleb(-10, EXACT)) | st.none()


@given(st.lists(st.tuples(amounts, amounts), max_size=6))
def test_products_of_columns_are_those_of_their_amounts(pairs):
    left, right = (pa.chunked_array([pa.array([pair[place] for pair in pairs], AMOUNT.arrow)]) for place in (0, 1))
    with localcontext(EXACT):
        want = [product(*pair) for pair in pairs]

        found = products(left, right).to_pylist()

    # What has more digits than an amount is not known.
    assert found == [value if value is None or fits(value) else None for value in want]


def test_a_product_is_rounded_half_to_even():
    pairs = [("0.0000000001", "0.5"), ("0.0000000003", "0.5"), ("-0.0000000003", "0.5"), ("0.0000000001", "0.51")]
    left, right = (pa.array([Decimal(pair[place]) for pair in pairs], AMOUNT.arrow) for place in (0, 1))

    assert [str(value) for value in products(left, right).to_pylist()] == ["0E-10", "2E-10", "-2E-10", "1E-10"]


def test_sums_of_lists_tell_an_empty_list_from_a_missing_one():
    lists = pa.chunked_array([[["1.5", "2.25"], [], None], [["0.0000000001"]]]).cast(pa.list_(AMOUNT.arrow))

    assert list_sums(lists).to_pylist() == [Decimal("3.75"), Decimal(0), None, Decimal("1e-10")]


SPELLINGS = {
    "plain": ("12.5000000000", "12.5"),
    "an exponent": ("1.25E+1", "12.5"),
    "many zeros": ("12.500000000000000000", "12.5"),
    "underscores": ("1_2.5", "12.5"),
    "blanks": (" 12.5 ", "12.5"),
    "a number": (12.5, "12.5"),
    "a whole number": (12, "12"),
    "very small": ("1E-10", "0.0000000001"),
    "28 digits": ("9" * 28 + ".9999999999", "9" * 28 + ".9999999999"),
}
REFUSED = {
    "eleven places": "1.00000000001",
    "29 digits": "1" + "0" * 28,
    "no number": "NaN",
    "infinite": "Infinity",
    "a word": "much",
    "empty": "",
    "null": None,
    "a list": ["1"],
}


@pytest.mark.parametrize(("spelled", "amount"), SPELLINGS.values(), ids=SPELLINGS)
@pytest.mark.parametrize("others", [0, 3])
def test_an_amount_is_read_in_every_spelling(spelled, amount, others):
    plain = [coin("ann", f"{number}.5") for number in range(1, others + 1)]
    odd = coin("ann", "1")
    odd["amount"]["initialAmount"] = spelled
    nodes = [create(AMULET, f"00{number}", payload) for number, payload in enumerate([odd, *plain])]

    coins = lf.coins(frame_of([update("u", 0, *nodes)], **WHOLE))

    assert coins.amount.tolist() == [Decimal(amount), *(Decimal(one["amount"]["initialAmount"]) for one in plain)]
    assert coins.attrs["not_understood"] == {}


@pytest.mark.parametrize("spelled", REFUSED.values(), ids=REFUSED)
def test_what_is_no_amount_is_counted_and_costs_its_own_row_alone(spelled):
    odd = coin("ann", "1")
    odd["amount"]["initialAmount"] = spelled
    nodes = [create(AMULET, "001", odd), create(AMULET, "002", coin("ann", "7"))]

    coins = lf.coins(frame_of([update("u", 0, *nodes)], **WHOLE))

    assert coins.contract_id.tolist() == ["002"]
    assert coins.attrs["not_understood"] == {AMULET: 1}


def test_a_coupon_that_is_worth_more_than_an_amount_can_be_has_none():
    issuing = {
        "round": {"number": "3"}, "issuancePerSvRewardCoupon": "2000000000.0000000000",
        "issuancePerValidatorRewardCoupon": "0.1", "issuancePerFeaturedAppRewardCoupon": "0.1",
        "issuancePerUnfeaturedAppRewardCoupon": "0.1", "optIssuancePerValidatorFaucetCoupon": "0.1",
    }  # fmt: skip
    coupons = [
        {"sv": "sv", "beneficiary": "sv", "weight": weight, "round": {"number": "3"}} for weight in ("9" * 27, "2")
    ]
    nodes = [create(ISSUING_ROUND, "00r", issuing)]
    nodes += [create(COUPON, f"00{number}", payload) for number, payload in enumerate(coupons)]

    rewards = lf.rewards(frame_of([update("u", 0, *nodes)]), as_="arrow")

    assert rewards["issuance"].to_pylist() == [Decimal(2 * 10**9)] * 2
    assert rewards["amount"].to_pylist() == [None, Decimal(4 * 10**9)]
