"""A quarter of a simulated ledger: its books balance, people keep hours and weekends, and it takes a few seconds."""

from __future__ import annotations

import time
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from ledgerframes.sandbox.generator.generate import generate
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.calendar import calendar_of, updates_of_days
from tests.sandbox.economy_books import Books

DAYS = 90


@pytest.fixture(scope="module")
def quarter():
    begin = time.thread_time()
    world = generate(7, updates_of_days(DAYS), days=DAYS)
    return world, time.thread_time() - begin


@pytest.fixture(scope="module")
def moments(quarter):
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return [epoch + timedelta(microseconds=update.record_time) for update in quarter[0].updates]


@pytest.mark.long
def test_the_books_of_a_quarter_balance(quarter):
    books = Books().read(quarter[0].items())

    assert books.supply * 10**10 == quarter[0].coins.units
    assert {charged for charged, _ in books.transfers} == {True, False}
    assert set(books.outcomes.values()) == {"claimed", "expired"}
    assert set(books.fund_ends) == {
        "claimed", "DevelopmentFundCoupon_Reject", "DevelopmentFundCoupon_Withdraw", "DevelopmentFundCoupon_DsoExpire",
    }  # fmt: skip
    per_year = {phases["Open"]["issuanceConfig"]["amuletToIssuePerYear"] for phases in books.phases.values()}
    assert len(per_year) == 2


@pytest.mark.long
def test_a_quarter_is_as_long_as_it_says_and_no_day_is_empty(moments):
    assert timedelta(days=DAYS - 3) < max(moments) - min(moments) < timedelta(days=DAYS + 3)
    per_day = Counter(one.date() for one in moments)
    first, last = min(per_day), max(per_day)
    assert all(per_day[first + timedelta(days=n)] for n in range((last - first).days))


@pytest.mark.long
def test_people_keep_hours_and_weekends(moments):
    hours, weekdays = Counter(one.hour for one in moments), Counter(one.weekday() for one in moments)

    assert hours[15] > 4 * hours[3]
    assert min(weekdays[day] for day in range(5)) > 1.5 * max(weekdays[5], weekdays[6])


def test_quiet_hours_take_longer_than_busy_ones_and_a_week_is_a_week():
    calendar = calendar_of(updates_of_days(14), days=14)
    hour, week = 3_600 * timestamps.SECOND, 7 * 86_400 * timestamps.SECOND
    monday = calendar.begin

    assert calendar.after(monday, week) == monday + week
    assert calendar.after(monday + 3 * hour, hour) - (monday + 3 * hour) > hour
    assert calendar.after(monday + 15 * hour, hour) - (monday + 15 * hour) < hour
    assert calendar_of(100).after(monday, 17) == monday + 17
