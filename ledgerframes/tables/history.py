"""The three tables of the update history; scan's update endpoints fill them."""

from __future__ import annotations

from typing import Final

from ledgerframes.tables.kinds import BOOL, INT64, JSON, TEXT, TEXTS, TIME
from ledgerframes.tables.table import EXTRA_MEANING, Column, Table

_ENDPOINTS: Final = ("POST /v2/updates", "GET /v1/updates/{update_id}", "GET /v2/updates/hash/{hash}")
_EXTRA: Final = Column("extra", JSON, EXTRA_MEANING, nullable=True)

_PLACE: Final = (
    Column(
        "migration_id",
        INT64,
        "Counts the network's migrations; orders before record time.",
    ),
    Column(
        "record_time",
        TIME,
        "When the synchronizer sequenced the update; unique per migration and synchronizer only.",
    ),
    Column("record_month", TEXT, "Calendar month of the record time in UTC as YYYY-MM; partitions a store."),
    Column("update_id", TEXT, "Id of the update, the same on every node."),
)
_TEMPLATE: Final = (
    Column(
        "template_id",
        TEXT,
        "Template as package hash, module and entity; an upgrade changes the hash.",
        nullable=True,
    ),
    Column(
        "template_name",
        TEXT,
        "Template as Module:Entity, the same across upgrades: group by this.",
        nullable=True,
    ),
    Column("package_name", TEXT, "Name of the package the template belongs to.", nullable=True),
)
_STAKEHOLDERS: Final = (
    Column("signatories", TEXTS, "Parties whose authority created the contract.", nullable=True),
    Column("observers", TEXTS, "Parties that see the contract without having signed it.", nullable=True),
)
_CREATED: Final = Column("created_at", TIME, "Ledger effective time of the contract's creation.", nullable=True)

UPDATES: Final = Table(
    "updates",
    "One row an update: a transaction, or one half of a reassignment.",
    _ENDPOINTS,
    ("update_id",),
    (
        *_PLACE,
        Column("kind", TEXT, "transaction, assignment or unassignment."),
        Column(
            "synchronizer_id",
            TEXT,
            "Synchronizer that sequenced it: the target of an assignment, the source of an unassignment.",
        ),
        Column(
            "effective_at",
            TIME,
            "Ledger effective time of a transaction, before or after the record time.",
            nullable=True,
        ),
        Column("workflow_id", TEXT, "Workflow id given by the submitter; null when none was.", nullable=True),
        Column("root_event_ids", TEXTS, "Ids of a transaction's top-level events, in order.", nullable=True),
        Column("event_count", INT64, "How many events the update has.", unit="events"),
        Column(
            "external_transaction_hash",
            TEXT,
            "Hash that an external party signed; null unless externally signed.",
            nullable=True,
        ),
        Column("offset", TEXT, "Offset on the answering node; never compare it between nodes.", nullable=True),
        _EXTRA,
    ),
)

EVENTS: Final = Table(
    "events",
    "One row an event of a transaction tree, in preorder.",
    _ENDPOINTS,
    ("update_id", "event_id"),
    (
        *_PLACE,
        Column("event_id", TEXT, "Id of the event, unique within its update."),
        Column("synchronizer_id", TEXT, "Synchronizer that sequenced the update."),
        Column("node_index", INT64, "Place in the tree: 0, 1, … in preorder from the roots."),
        Column(
            "parent_event_id",
            TEXT,
            "The exercise this event is a consequence of; null at a root.",
            nullable=True,
        ),
        Column("depth", INT64, "0 at a root; null where no root reaches the event.", nullable=True, unit="levels"),
        Column("event_type", TEXT, "created_event, exercised_event, or a kind this version does not know."),
        Column("contract_id", TEXT, "The contract created or exercised.", nullable=True),
        *_TEMPLATE,
        Column("choice", TEXT, "Name of the exercised choice.", nullable=True),
        Column(
            "consuming",
            BOOL,
            "Whether the exercise ended the contract, whatever the choice is called.",
            nullable=True,
        ),
        Column("interface_id", TEXT, "Interface through which the choice was exercised.", nullable=True),
        Column("acting_parties", TEXTS, "Parties that exercised the choice.", nullable=True),
        Column("child_event_ids", TEXTS, "Ids of the exercise's direct consequences, in order.", nullable=True),
        *_STAKEHOLDERS,
        _CREATED,
        Column("payload", JSON, "The create arguments, or the choice argument.", nullable=True),
        Column("exercise_result", JSON, "What the choice returned: any JSON.", nullable=True),
        _EXTRA,
    ),
)

REASSIGNMENTS: Final = Table(
    "reassignments",
    "One row an assignment or unassignment: one half of a contract's way between two synchronizers.",
    _ENDPOINTS,
    ("update_id",),
    (
        *_PLACE,
        Column("kind", TEXT, "assignment or unassignment."),
        Column("submitter", TEXT, "Party on whose behalf it was submitted."),
        Column("source_synchronizer", TEXT, "Synchronizer the contract leaves."),
        Column("target_synchronizer", TEXT, "Synchronizer the contract goes to."),
        Column("unassign_id", TEXT, "Id that the two halves share.", nullable=True),
        Column(
            "reassignment_counter",
            INT64,
            "Equal on both halves; grows with each unassignment of the contract, 0 at its creation.",
        ),
        Column("contract_id", TEXT, "The contract being reassigned."),
        Column(
            "event_id",
            TEXT,
            "Id of an assignment's created event; differs between servers, never a key.",
            nullable=True,
        ),
        *_TEMPLATE,
        _CREATED,
        *_STAKEHOLDERS,
        Column("payload", JSON, "The contract's create arguments, on an assignment.", nullable=True),
        _EXTRA,
    ),
)
