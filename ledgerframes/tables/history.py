"""The three tables of the update history; scan's update endpoints fill them."""

from __future__ import annotations

from typing import Final

from ledgerframes.tables.kinds import BOOL, INT64, JSON, TEXT, TEXTS, TIME
from ledgerframes.tables.table import Column, loaded

_ENDPOINTS: Final = ("POST /v2/updates", "GET /v1/updates/{update_id}", "GET /v2/updates/hash/{hash}")

_PLACE: Final = (
    Column("migration_id", INT64, "Counts the network's migrations; orders before record time.",
           source="/migration_id, of a reassignment /event/migration_id"),
    Column("record_time", TIME,
           "When the synchronizer sequenced the update; unique per migration and synchronizer only.",
           source="/record_time"),
    Column("record_month", TEXT, "Calendar month of the record time in UTC as YYYY-MM; partitions a store.",
           source="record_time"),
    Column("update_id", TEXT, "Id of the update, the same on every node.", source="/update_id"),
)  # fmt: skip
_TEMPLATE: Final = (
    Column("template_id", TEXT, "Template as package hash, module and entity; an upgrade changes the hash.",
           nullable=True, source="/template_id of the event"),
    Column("template_name", TEXT, "Template as Module:Entity, the same across upgrades: group by this.", nullable=True,
           source="template_id without its package"),
    Column("package_name", TEXT, "Name of the package the template belongs to.", nullable=True,
           source="/package_name of the event"),
)  # fmt: skip
_STAKEHOLDERS: Final = (
    Column("signatories", TEXTS, "Parties whose authority created the contract.", nullable=True,
           source="/signatories of the event"),
    Column("observers", TEXTS, "Parties that see the contract without having signed it.", nullable=True,
           source="/observers of the event"),
)  # fmt: skip
_CREATED: Final = Column("created_at", TIME, "Ledger effective time of the contract's creation.", nullable=True,
                         source="/created_at of the event")  # fmt: skip

UPDATES: Final = loaded(
    "updates",
    "One row per update: a transaction, or one leg of a reassignment.",
    _ENDPOINTS,
    ("update_id",),
    (
        *_PLACE,
        Column("kind", TEXT, "transaction, assignment or unassignment.", source="the members that the item has"),
        Column("synchronizer_id", TEXT,
               "Synchronizer that sequenced it: the target of an assignment, the source of an unassignment.",
               source="/synchronizer_id, of a reassignment the target's or source's"),
        Column("effective_at", TIME, "Ledger effective time of a transaction, before or after the record time.",
               nullable=True, source="/effective_at"),
        Column("workflow_id", TEXT, "Workflow id given by the submitter; null when none was.", nullable=True,
               source="/workflow_id, empty is null"),
        Column("root_event_ids", TEXTS, "Ids of a transaction's top-level events, in order.", nullable=True,
               source="/root_event_ids"),
        Column("event_count", INT64, "Number of events in the update.", unit="events",
               source="number of members of /events_by_id; 1 of a reassignment"),
        Column("external_transaction_hash", TEXT, "Hash that an external party signed; null unless externally signed.",
               nullable=True, source="/external_transaction_hash"),
        Column("offset", TEXT, "Offset on the answering node; never compare it between nodes.", nullable=True,
               source="/offset"),
    ),
)  # fmt: skip

EVENTS: Final = loaded(
    "events",
    "One row per event of a transaction tree, in preorder.",
    _ENDPOINTS,
    ("update_id", "event_id"),
    (
        *_PLACE,
        Column("event_id", TEXT, "Id of the event, unique within its update.", source="key in /events_by_id"),
        Column("synchronizer_id", TEXT, "Synchronizer that sequenced the update.", source="/synchronizer_id"),
        Column("node_index", INT64, "Place in the tree: 0, 1, … in preorder from the roots.",
               source="the walk from /root_event_ids over /child_event_ids"),
        Column("parent_event_id", TEXT, "The exercise this event is a consequence of; null at a root.", nullable=True,
               source="the same walk"),
        Column("depth", INT64, "0 at a root; null where no root reaches the event.", nullable=True, unit="levels",
               source="the same walk"),
        Column("event_type", TEXT, "created_event, exercised_event, or a kind this version does not know.",
               source="/event_type of the event"),
        Column("contract_id", TEXT, "The contract created or exercised.", nullable=True,
               source="/contract_id of the event"),
        *_TEMPLATE,
        Column("choice", TEXT, "Name of the exercised choice.", nullable=True, source="/choice of the event"),
        Column("consuming", BOOL, "Whether the exercise ended the contract, whatever the choice is called.",
               nullable=True, source="/consuming of the event"),
        Column("interface_id", TEXT, "Interface through which the choice was exercised.", nullable=True,
               source="/interface_id of the event"),
        Column("acting_parties", TEXTS, "Parties that exercised the choice.", nullable=True,
               source="/acting_parties of the event"),
        Column("child_event_ids", TEXTS, "Ids of the exercise's direct consequences, in order.", nullable=True,
               source="/child_event_ids of the event"),
        *_STAKEHOLDERS,
        _CREATED,
        Column("payload", JSON, "The create arguments, or the choice argument.", nullable=True,
               source="/create_arguments or /choice_argument of the event"),
        Column("exercise_result", JSON, "Result of the choice: any JSON.", nullable=True,
               source="/exercise_result of the event"),
    ),
)  # fmt: skip

REASSIGNMENTS: Final = loaded(
    "reassignments",
    "One row per assignment or unassignment: one leg of a move between two synchronizers.",
    _ENDPOINTS,
    ("update_id",),
    (
        *_PLACE,
        Column("kind", TEXT, "assignment or unassignment.", source="the members that the item has"),
        Column("submitter", TEXT, "Party on whose behalf it was submitted.", source="/event/submitter"),
        Column("source_synchronizer", TEXT, "Synchronizer the contract leaves.", source="/event/source_synchronizer"),
        Column("target_synchronizer", TEXT, "Synchronizer the contract goes to.", source="/event/target_synchronizer"),
        Column("unassign_id", TEXT, "Id that both legs share.", nullable=True, source="/event/unassign_id"),
        Column("reassignment_counter", INT64,
               "Equal on both legs; grows with each unassignment of the contract, 0 at its creation.",
               source="/event/reassignment_counter"),
        Column("contract_id", TEXT, "The contract being reassigned.", source="/contract_id of the event"),
        Column("event_id", TEXT, "Id of an assignment's created event; differs between servers, never a key.",
               nullable=True, source="/event/created_event/event_id"),
        *_TEMPLATE,
        _CREATED,
        *_STAKEHOLDERS,
        Column("payload", JSON, "The contract's create arguments, on an assignment.", nullable=True,
               source="/create_arguments or /choice_argument of the event"),
    ),
)  # fmt: skip
