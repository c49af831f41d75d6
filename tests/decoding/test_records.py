"""Items of the smaller tables become columns by their declaration; nothing is rounded and nothing dropped."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Context, Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ledgerframes.decoding.records import read_amount, read_records
from ledgerframes.errors import DecodeError
from ledgerframes.tables.contracts import LICENSES, TRANSFER_OFFERS
from ledgerframes.tables.snapshots import INSTRUMENTS, NAME_ENTRIES, USERS
from tests.decoding.items import changed

ENTRY = {
    "contractId": "00ab", "name": "a.cns", "amount": "1.0", "unit": "USDUNIT", "expiresAt": "1772432243532",
    "paymentInterval": "7776000000000", "paymentDuration": 2592000000000,
}  # fmt: skip
INSTRUMENT = {"id": "i", "name": "n", "symbol": "s", "decimals": 10, "supportedApis": {}}


def rows(table, *items):
    told = {name: [""] * len(items) for name in ("instrument_admin", "source") if name in table.names}  # by the load
    return read_records(table, [json.dumps(item).encode() for item in items], "GET /x", supplied=told).to_pylist()


@given(units=st.integers(-(10**38) + 1, 10**38 - 1))
@example(units=10**38 - 1)
@example(units=0)
@example(units=-143)
def test_every_amount_that_fits_is_exact_in_any_spelling(units):
    amount = Decimal(units).scaleb(-10, context=Context(prec=60))
    for text in (format(amount, "f"), str(amount), f"{amount:E}"):
        assert read_amount(text) == amount


@pytest.mark.parametrize(
    "text",
    [
        "1." + "9" * 200, "0." + "0" * 90 + "1", "1E+28", "9" * 29, "0.00000000001", "1e-11", "1E9999999",
        "NaN", "Infinity", "", " 1", "1,0", "0x1", "1_0",
    ],
)  # fmt: skip
def test_amounts_that_do_not_fit_are_refused_by_place(text):
    with pytest.raises(DecodeError) as caught:
        rows(NAME_ENTRIES, ENTRY, changed(ENTRY, {"amount": text}))
    error = caught.value
    assert (error.endpoint, error.table, error.column, error.item) == ("GET /x", "name_entries", "amount", "item 1")


@given(
    moment=st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59)),  # noqa: DTZ001
    digits=st.integers(0, 9),
    fraction=st.integers(0, 999_999_999),
)
def test_times_of_any_precision_are_read_and_finer_ones_kept(moment, digits, fraction):
    shown = f"{fraction:09}"[:digits]
    base = moment.replace(microsecond=0)
    text = f"{base.year:04}-{base:%m-%dT%H:%M:%S}{'.' + shown if digits else ''}Z"
    (row,) = rows(NAME_ENTRIES, changed(ENTRY, {"expiresAt": text}))
    micros = int(shown.ljust(9, "0")) // 1000
    assert row["expires_at"] == base.replace(tzinfo=UTC) + timedelta(microseconds=micros)
    finer = int(shown.ljust(9, "0")) % 1000 != 0
    assert (row["extra"] is not None) == finer
    if finer:
        assert json.loads(row["extra"]) == {"/expiresAt": text}


def test_epoch_milliseconds_and_durations_as_text_or_number_are_read():
    (row,) = rows(NAME_ENTRIES, ENTRY)
    assert row["expires_at"] == datetime(2026, 3, 2, 6, 17, 23, 532000, tzinfo=UTC)
    assert (row["payment_interval_us"], row["payment_duration_us"]) == (7776000000000, 2592000000000)


@pytest.mark.parametrize(
    ("members", "column"),
    [
        *(({"name": wrong}, "name") for wrong in (..., None, 5)),
        *(({"expiresAt": wrong}, "expires_at") for wrong in ("soon", "9" * 19)),
        *(({"paymentInterval": wrong}, "payment_interval_us") for wrong in ("1.5", 2**63, True)),
    ],
    ids=str,
)
def test_a_broken_member_is_an_error_that_names_its_column(members, column):
    with pytest.raises(DecodeError) as caught:
        rows(NAME_ENTRIES, changed(ENTRY, members))
    assert caught.value.column == column


def test_what_is_no_object_is_an_error():
    for item in (b"", b"5", b"[]", b"null", b'{"a"', b"\xff"):
        with pytest.raises(DecodeError, match=r"JSON object|not UTF-8"):
            read_records(NAME_ENTRIES, [item], "GET /x")


def test_optional_members_may_be_absent_or_null():
    null = dict.fromkeys(("totalSupply", "paused", "pauseInfo", "accountInputFieldsToShow"))
    absent, nulls = rows(INSTRUMENTS, INSTRUMENT, INSTRUMENT | null)
    assert absent == nulls
    assert (absent["paused"], absent["total_supply"]) == (False, None)
    (row,) = rows(USERS, {"id": "u", "primaryParty": ""})
    assert (row["primary_party"], row["is_deactivated"], row["annotations"], row["extra"]) == (None, False, "{}", None)


def test_unknown_members_are_kept_wherever_they_are():
    (row,) = rows(INSTRUMENTS, {**INSTRUMENT, "new": {"a": 1.50}, "pauseInfo": {"reason": "r", "who": "w"}})
    assert row["pause_reason"] == "r"
    assert json.loads(row["extra"]) == {"/new": {"a": 1.5}, "/pauseInfo/who": "w"}


def test_what_is_left_out_is_not_among_the_rest():
    contract = {
        "contract_id": "c", "template_id": "h:M:E", "created_at": "2026-01-01T00:00:00Z", "created_event_blob": "b10b",
        "payload": {"validator": "v", "sponsor": "s", "dso": "d"},
    }  # fmt: skip
    item = json.dumps(contract).encode()
    (row,) = read_records(LICENSES.having(), [item], "GET /x", left_out=["/created_event_blob"]).to_pylist()
    assert row["extra"] is None


def test_a_payload_is_kept_as_it_was_sent():
    payload = '{"amount" : {"amount":"1.50","unit":"AmuletUnit"},"z":1e400}'
    item = f'{{"contract_id":"c","template_id":"t","created_at":"2026-01-01T00:00:00Z","payload":{payload}}}'
    row = read_records(TRANSFER_OFFERS.having(), [item.encode()], "GET /x").to_pylist()[0]
    assert row["payload"] == payload
    assert row["amount"] == Decimal("1.5")
