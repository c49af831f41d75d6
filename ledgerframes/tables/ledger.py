"""Tables of transactions, trees, reassignments and active contracts as the ledger interface returns them."""

from __future__ import annotations

from typing import Final

from ledgerframes.tables.kinds import BOOL, INT64, JSON, TEXT, TEXTS, TIME
from ledgerframes.tables.table import Column, loaded

_ENDPOINTS: Final = (
    "POST /v2/updates/transaction-by-id",
    "POST /v2/updates/update-by-id",
    "POST /v2/updates/update-by-hash",
    "POST /v2/updates/get-updates-page",
    "POST /v2/commands/submit-and-wait-for-transaction-tree",
    "POST /v2/commands/submit-and-wait-for-reassignment",
)


def _maybe(name: str, kind: object, meaning: str, source: str, **more: str) -> Column:
    return Column(name, kind, meaning, nullable=True, source=source, **more)  # type: ignore[arg-type]


LEDGER_TRANSACTIONS: Final = loaded(
    "ledger_transactions",
    "One row: a transaction, transaction tree or reassignment as the participant reports it.",
    _ENDPOINTS,
    ("update_id",),
    (
        Column("update_id", TEXT, "Id of the update, the same on every node.", source="/updateId"),
        _maybe("command_id", TEXT, "Command id, where the reader is its submitter.", "/commandId",
               spelling="empty is unset"),
        _maybe("workflow_id", TEXT, "Workflow id; null when none was set.", "/workflowId", spelling="empty is unset"),
        _maybe("effective_at", TIME, "Ledger effective time.", "/effectiveAt"),
        Column("offset", INT64, "Offset on this participant; never compare it between nodes.", source="/offset"),
        _maybe("synchronizer_id", TEXT, "Synchronizer that sequenced it.", "/synchronizerId",
               spelling="empty is unset"),
        _maybe("record_time", TIME, "When the synchronizer sequenced it.", "/recordTime"),
        _maybe("transaction_hash", TEXT,
               "Hash of the transaction, as `load_ledger_transaction` takes it; null before Canton 3.6.",
               "/transactionHash", spelling="empty is unset"),
        _maybe("external_transaction_hash", TEXT, "Hash that an external party signed.", "/externalTransactionHash",
               spelling="empty is unset"),
        _maybe("paid_traffic_cost", INT64, "Traffic that the submitting node paid.", "/paidTrafficCost", unit="bytes"),
        _maybe("trace_parent", TEXT, "W3C trace parent.", "/traceContext/traceparent"),
        _maybe("trace_state", TEXT, "W3C trace state.", "/traceContext/tracestate"),
        Column("event_count", INT64, "How many events it has here.", unit="events", source="the events' number"),
    ),
)  # fmt: skip

LEDGER_EVENTS: Final = loaded(
    "ledger_events",
    "One row per event of a ledger transaction, tree or reassignment.",
    _ENDPOINTS,
    ("update_id", "node_id"),
    (
        Column("update_id", TEXT, "Id of the update.", source="updateId of the transaction"),
        Column("kind", TEXT, "The event's kind, such as CreatedEvent or ExercisedTreeEvent.",
               source="the event's only key"),
        _maybe("offset", INT64, "Offset on this participant.", "/offset"),
        _maybe("record_time", TIME, "When a synchronizer sequenced the update.", "recordTime of the update"),
        _maybe("synchronizer_id", TEXT, "Synchronizer that sequenced it.", "synchronizerId of the update"),
        _maybe("node_id", INT64, "Number of the event in its transaction.", "/nodeId"),
        _maybe("last_descendant_node_id", INT64, "The exercise's subtree goes up to here.", "/lastDescendantNodeId"),
        _maybe("contract_id", TEXT, "The contract created, exercised, archived or reassigned.", "/contractId"),
        _maybe("template_id", TEXT, "Template as package hash, module and entity.", "/templateId"),
        _maybe("template_name", TEXT, "Template as Module:Entity.", "template_id without its package"),
        _maybe("package_name", TEXT, "Name of the template's package.", "/packageName"),
        _maybe("choice", TEXT, "Name of the exercised choice.", "/choice"),
        _maybe("consuming", BOOL, "Whether the exercise ended the contract.", "/consuming"),
        _maybe("interface_id", TEXT, "Interface of the choice.", "/interfaceId", spelling="empty is unset"),
        _maybe("acting_parties", TEXTS, "Parties that exercised.", "/actingParties"),
        _maybe("witness_parties", TEXTS, "Requesting parties that see the event.", "/witnessParties"),
        _maybe("signatories", TEXTS, "Parties whose authority created the contract.", "/signatories"),
        _maybe("observers", TEXTS, "Parties that see the contract.", "/observers"),
        _maybe("implemented_interfaces", TEXTS, "The requested interfaces of the template.", "/implementedInterfaces"),
        _maybe("view_interfaces", TEXTS,
               "Interfaces whose views of the created contract were computed, in the order of interface_views.",
               "interfaceId of every element of interfaceViews"),
        _maybe("interface_views", JSON,
               "Views of the created contract by interface, each with its status: code 0 if viewValue is valid.",
               "/interfaceViews"),
        _maybe("created_at", TIME, "When the contract was created.", "/createdAt"),
        _maybe("payload", JSON, "Create argument or choice argument.", "createArgument or choiceArgument"),
        _maybe("exercise_result", JSON, "Result of the choice.", "/exerciseResult"),
        _maybe("contract_key", JSON, "Contract key, any JSON.", "/contractKey"),
        _maybe("source_synchronizer", TEXT, "Of a reassignment: where the contract leaves.", "/source"),
        _maybe("target_synchronizer", TEXT, "Of a reassignment: where it goes.", "/target"),
        _maybe("reassignment_id", TEXT, "Of a reassignment: the id of the unassignment.", "/reassignmentId"),
        _maybe("reassignment_counter", INT64, "Of a reassignment: equal on both legs.", "/reassignmentCounter"),
        _maybe("submitter", TEXT, "Of a reassignment: party it was submitted for.", "/submitter"),
    ),
)  # fmt: skip

LEDGER_CONTRACTS: Final = loaded(
    "ledger_contracts",
    "One row per contract that parties of a participant saw as active, and per reassignment of one under way.",
    ("POST /v2/state/active-contracts-page",),
    ("contract_id", "kind", "synchronizer_id", "reassignment_counter"),
    (
        Column("contract_id", TEXT, "Id of the contract, the same on every node.", source="/contractId"),
        Column("kind", TEXT, "JsActiveContract; JsIncompleteUnassigned: it has left its synchronizer and not arrived; "
               "JsIncompleteAssigned: it has arrived, and is not yet seen leaving.",
               source="the only key of contractEntry"),
        _maybe("synchronizer_id", TEXT, "Where it is active; null while a reassignment is under way.",
               "/synchronizerId"),
        _maybe("reassignment_counter", INT64, "Number of its reassignments.", "/reassignmentCounter"),
        _maybe("workflow_id", TEXT, "Workflow id of the update that created or assigned it.", "workflowId next to it"),
        _maybe("offset", INT64, "Offset of the update that created or assigned it, on this participant.", "/offset"),
        _maybe("node_id", INT64, "Number of the creation in that update.", "/nodeId"),
        Column("template_id", TEXT, "Template as package hash, module and entity.", source="/templateId"),
        *LEDGER_EVENTS.take("template_name", "package_name", "created_at", "signatories", "observers"),
        _maybe("witness_parties", TEXTS, "Requesting parties that see the contract.", "/witnessParties"),
        _maybe("view_interfaces", TEXTS,
               "Interfaces whose views of the contract were computed, in the order of interface_views.",
               "interfaceId of every element of interfaceViews"),
        _maybe("interface_views", JSON,
               "Views of the contract by interface, each with its status: code 0 if viewValue is valid.",
               "/interfaceViews"),
        _maybe("payload", JSON, "Create argument.", "createArgument"),
        _maybe("contract_key", JSON, "Contract key, any JSON.", "/contractKey"),
        _maybe("source_synchronizer", TEXT, "Of a reassignment under way: where the contract leaves.", "/source"),
        _maybe("target_synchronizer", TEXT, "Of a reassignment under way: where it goes.", "/target"),
        _maybe("reassignment_id", TEXT, "Of a reassignment under way: the unassignment's id.", "/reassignmentId"),
        _maybe("submitter", TEXT, "Of a reassignment under way: party it was submitted for.", "/submitter"),
    ),
)  # fmt: skip

REJECTS: Final = loaded(
    "rejects",
    "One row per item that could not be decoded, whole, with the reason.",
    ("any",),
    (),
    (
        Column("table", TEXT, "The table it was meant for.", source="the reader"),
        Column("endpoint", TEXT, "The endpoint that sent it.", source="the reader"),
        _maybe("item", TEXT, "Which item of the answer it was.", "the reader"),
        Column("reason", TEXT, "Why it could not be decoded.", source="the reader"),
        Column("raw", JSON, "The item as it was sent.", source="the whole item"),
    ),
)
