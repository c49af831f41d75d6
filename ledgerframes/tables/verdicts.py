"""The three tables of scan's event history: verdicts on confirmation requests, their views, and app activity."""

from __future__ import annotations

from typing import Final

from ledgerframes.tables.kinds import BOOL, INT64, JSON, TEXT, TEXTS, TIME
from ledgerframes.tables.table import Column, loaded

_ENDPOINTS: Final = ("POST /v0/events",)
_MONTH: Final = Column("record_month", TEXT, "Calendar month of the record time in UTC as YYYY-MM; partitions a store.",
                       source="record_time")  # fmt: skip
#: The first columns of views and activity, which belong to a verdict.
_PLACE: Final = (
    Column("migration_id", INT64, "Migration of the verdict.", source="migration_id of the verdict"),
    Column("record_time", TIME, "Record time of the verdict.", source="record_time of the verdict"),
    _MONTH,
    Column("update_id", TEXT, "Id of the verdict's confirmation request.", source="update_id of the verdict"),
)

VERDICTS: Final = loaded(
    "verdicts",
    "One row per confirmation request that mediators decided on, whether it became an update or not.",
    _ENDPOINTS,
    ("update_id",),
    (
        Column("migration_id", INT64, "Counts the network's migrations; orders before record time.",
               source="/verdict/migration_id"),
        Column("record_time", TIME, "When the synchronizer sequenced the request.", source="/verdict/record_time"),
        _MONTH,
        Column("update_id", TEXT, "Id of the request, and of the update if it became one that this scan sees.",
               source="/verdict/update_id"),
        Column("synchronizer_id", TEXT, "Synchronizer that sequenced the request.", source="/verdict/domain_id"),
        Column("finalization_time", TIME,
               "When the mediators had decided, by this scan's own mediator: other scans differ by some seconds.",
               source="/verdict/finalization_time"),
        Column("result", TEXT, "VERDICT_RESULT_ACCEPTED, VERDICT_RESULT_REJECTED, or VERDICT_RESULT_UNSPECIFIED.",
               source="/verdict/verdict_result"),
        Column("submitting_parties", TEXTS, "Parties on whose behalf the request was submitted.",
               source="/verdict/submitting_parties"),
        Column("submitting_participant_uid", TEXT, "Unique id of the participant that submitted the request.",
               source="/verdict/submitting_participant_uid"),
        Column("mediator_group", INT64, "Number of the mediator group that decided.", source="/verdict/mediator_group"),
        Column("has_update", BOOL,
               "Whether the scan has an update of this id: false where it was rejected or is wholly private.",
               source="whether /update is there"),
        Column("total_traffic_cost", INT64,
               "Traffic that the submitting participant paid for the request; null on servers that do not send it.",
               nullable=True, unit="bytes", source="/traffic_summary/total_traffic_cost"),
        Column("root_views", JSON, "Ids of the views that lie in no other view, as a JSON list.", nullable=True,
               source="/verdict/transaction_views/root_views"),
    ),
)  # fmt: skip

VIEWS: Final = loaded(
    "views",
    "One row per view of a confirmation request: a part of it, with those who see and confirm it.",
    _ENDPOINTS,
    ("update_id", "view_id"),
    (
        *_PLACE,
        Column("view_id", INT64, "Number of the view in its request.", source="/view_id"),
        Column("informees", TEXTS, "Parties that see the view.", source="/informees"),
        Column("confirming_parties", JSON,
               "Who has to confirm: a JSON list of quorums, each with parties and threshold.",
               source="/confirming_parties"),
        Column("sub_views", JSON, "Ids of the views inside this one, as a JSON list.", source="/sub_views"),
        Column("traffic_cost", INT64,
               "Traffic of the envelopes that hold the view; one with several views counts for each of them.",
               nullable=True, unit="bytes", source="envelope_traffic_summaries of /traffic_summary"),
        Column("view_hash", TEXT, "Hash of the view, to find it in a sequencer's data; null in older data.",
               nullable=True, source="/view_hash", spelling="empty is unset"),
    ),
)  # fmt: skip

APP_ACTIVITY: Final = loaded(
    "app_activity",
    "One row per app provider that a confirmation request gave activity to, in bytes of traffic.",
    _ENDPOINTS,
    ("update_id", "party"),
    (
        *_PLACE,
        Column("round_number", INT64, "Mining round that the activity counts for.", unit="rounds",
               source="round_number of /app_activity_records"),
        Column("party", TEXT, "The app provider.", source="/party"),
        Column("weight", INT64, "How much activity.", unit="bytes", source="/weight"),
    ),
)  # fmt: skip
