"""The dimensions of the star that a store exports for BI programs; `star` joins them to the facts."""

from __future__ import annotations

from typing import Final

from ledgerframes.tables.kinds import BOOL, INT64, TEXT, TIME, Kind
from ledgerframes.tables.rounds_and_rewards import ROUND_HISTORY
from ledgerframes.tables.table import Column, Table

DATE: Final = Kind("date", lambda pa: pa.date32(), "A day in UTC.")
KEY: Final = Kind("key", lambda pa: pa.int64(), "The first 63 bits of the SHA-256 of the natural key.")


def key(name: str, meaning: str, source: str, *, nullable: bool = False) -> Column:
    """A column of keys; `source` names the natural key."""
    return Column(name, KEY, meaning, nullable, source=source)


def date_key(name: str, meaning: str, source: str, *, nullable: bool = False) -> Column:
    """A column of keys of days: the date as a number, such as 20250303."""
    return Column(name, INT64, meaning, nullable, source=source)


_FIRST_SEEN: Final = Column("first_seen_at", TIME, "Record time of the first update that names it.", True,
                            source="record_time")  # fmt: skip

DIM_DATE: Final = Table(
    "dim_date",
    "One row per day in UTC of all calendar years in which a fact lies.",
    ("date_key",),
    (
        date_key("date_key", "Key of the day: its date as a number, such as 20250303.", "date"),
        Column("date", DATE, "The day.", source="record_time and other times of facts"),
        Column("year", INT64, "Year.", source="date"),
        Column("quarter", INT64, "Quarter, 1 to 4.", source="date"),
        Column("month", INT64, "Month, 1 to 12.", source="date"),
        Column("month_name", TEXT, "Month in English.", source="date"),
        Column("day", INT64, "Day of the month, from 1.", source="date"),
        Column("iso_year", INT64, "Year of the ISO week.", source="date"),
        Column("iso_week", INT64, "ISO week, 1 to 53.", source="date"),
        Column("weekday", INT64, "Day of the week: 1 is Monday, 7 is Sunday.", source="date"),
        Column("weekday_name", TEXT, "Day of the week in English.", source="date"),
        Column("is_weekend", BOOL, "Whether it is a Saturday or a Sunday.", source="date"),
    ),
)

DIM_ROUND: Final = Table(
    "dim_round",
    "One row per mining round that a fact or the history names.",
    ("round_key",),
    (key("round_key", "Key of the round.", "round in decimal"), *ROUND_HISTORY.columns),
)

DIM_PARTY: Final = Table(
    "dim_party",
    "One row per party that a fact or a license names.",
    ("party_key",),
    (
        key("party_key", "Key of the party.", "party_id"),
        Column("party_id", TEXT, "The party.", source="events and computed tables"),
        Column("hint", TEXT, "The part before `::`, which its operator chose.", source="party_id"),
        Column("fingerprint", TEXT, "The part after `::`; null if there is none.", True, source="party_id"),
        Column("name", TEXT, "Its name: the first by alphabet of the name service, else as super validator.", True,
               source="creates of Splice.Ans:AnsEntry, svs of Splice.DsoRules:DsoRules"),
        _FIRST_SEEN,
        Column("is_validator", BOOL, "Whether it has, or had, a validator license.",
               source="licenses, creates of Splice.ValidatorLicense:ValidatorLicense"),
        Column("is_super_validator", BOOL, "Whether it is, or was, a super validator.",
               source="svs of Splice.DsoRules:DsoRules, rewards of kind sv"),
        Column("is_featured", BOOL, "Whether it has, or had, a featured app right, or a featured reward.",
               source="creates of Splice.Amulet:FeaturedAppRight, featured of rewards"),
    ),
)  # fmt: skip

DIM_TEMPLATE: Final = Table(
    "dim_template",
    "One row per template, the same across upgrades of its package.",
    ("template_key",),
    (
        key("template_key", "Key of the template.", "package_name and template_name"),
        Column("package_name", TEXT, "Name of its package.", True, source="package_name"),
        Column("template_name", TEXT, "Module and entity.", source="template_name"),
        Column("module", TEXT, "The part before the colon.", source="template_name"),
        Column("entity", TEXT, "The part after the colon; null if there is none.", True, source="template_name"),
        _FIRST_SEEN,
    ),
)

DIM_SYNCHRONIZER: Final = Table(
    "dim_synchronizer",
    "One row per synchronizer.",
    ("synchronizer_key",),
    (
        key("synchronizer_key", "Key of the synchronizer.", "synchronizer_id"),
        Column("synchronizer_id", TEXT, "The synchronizer.", source="synchronizer_id"),
        Column("hint", TEXT, "The part before `::`.", source="synchronizer_id"),
        Column("fingerprint", TEXT, "The part after `::`; null if there is none.", True, source="synchronizer_id"),
        _FIRST_SEEN,
    ),
)

_LICENSE: Final = "the latest license, of the events or of the table licenses"
DIM_VALIDATOR: Final = Table(
    "dim_validator",
    "One row per validator that has, or had, a license.",
    ("validator_key",),
    (
        key("validator_key", "Key of the validator.", "party of the validator"),
        key("party_key", "Its party in dim_party.", "party of the validator"),
        Column("validator", TEXT, "Its party.", source=_LICENSE),
        key("sponsor_party_key", "Party of the super validator that sponsored it.", "sponsor of the license"),
        Column("first_round", INT64, "First round that it reported for.", True, "rounds", _LICENSE),
        Column("last_round", INT64, "Last round that it reported for.", True, "rounds", _LICENSE),
        Column("missed", INT64, "Rounds between the two that it did not report for.", True, "rounds", _LICENSE),
        Column("version", TEXT, "Software version that it last reported.", True, source=_LICENSE),
        Column("license_created_at", TIME, "When its latest license was created.", source=_LICENSE),
        Column("ended_at", TIME, "Record time at which its latest license was cancelled or withdrawn.", True,
               source="exercises of ValidatorLicense_Cancel and ValidatorLicense_Withdraw"),
    ),
)  # fmt: skip

#: A table comes after those that name its rows.
DIMENSIONS: Final = (DIM_VALIDATOR, DIM_ROUND, DIM_TEMPLATE, DIM_SYNCHRONIZER, DIM_PARTY, DIM_DATE)
