"""Tables of how contracts move between synchronizers, computed from reassignments by `ledgerframes.models`."""

from __future__ import annotations

from typing import Final

from ledgerframes.tables.kinds import DURATION, INT64, TEXT, TEXTS, TIME
from ledgerframes.tables.table import Column, computed

_CONTRACT: Final = Column("contract_id", TEXT, "Id of the contract.", source="contract_id")
_TEMPLATE: Final = Column("template_name", TEXT, "Template as Module:Entity; null if there is no assignment.", True,
                          source="template_name of the assignment")  # fmt: skip
_SOURCE: Final = Column("source_synchronizer", TEXT, "Synchronizer that it left.", source="source_synchronizer")
_TARGET: Final = Column("target_synchronizer", TEXT, "Synchronizer that it went to.", source="target_synchronizer")
_COUNTER: Final = Column("reassignment_counter", INT64, "Which reassignment of the contract it is.",
                         unit="reassignments", source="reassignment_counter")  # fmt: skip
_UNASSIGN_ID: Final = Column("unassign_id", TEXT, "Id that both legs have.", True, source="unassign_id")

REASSIGNMENT_FLOWS: Final = computed(
    "reassignment_flows",
    "One row per reassignment: its two legs.",
    ("source_synchronizer", "unassign_id", "contract_id", "reassignment_counter"),
    (
        _UNASSIGN_ID,
        _CONTRACT,
        _TEMPLATE,
        _SOURCE,
        _TARGET,
        _COUNTER,
        Column("unassigned_at", TIME, "Record time of the unassignment; null if it is not there.", True,
               source="record_time of the unassignment"),
        Column("assigned_at", TIME, "Record time of the assignment; null if it is not there.", True,
               source="record_time of the assignment"),
        Column("in_flight", DURATION, "Time between the legs; negative where the assignment was recorded first.", True,
               source="assigned_at less unassigned_at"),
        Column("status", TEXT, "completed, in flight, assigned without unassignment, or repaired (source and target are"
               " the same).", source="which legs are there"),
        Column("edge", TEXT, "start: its other leg may lie before the range; end: it may come after it; null where the"
               " range is known to hold both.", True,
               source="range of the reassignments, and other legs of the contract on the same synchronizer"),
    ),
    of="reassignments",
)  # fmt: skip

FLOW_MATRIX: Final = computed(
    "flow_matrix",
    "One row per source and target, and period if requested: the number of reassignments.",
    ("period", "source_synchronizer", "target_synchronizer"),
    (
        Column("period", TIME, "Begin of the period, in UTC; there only with `period=`, and null in SQL.", True,
               source="unassigned_at, else assigned_at"),
        _SOURCE,
        _TARGET,
        Column("count", INT64, "Reassignments.", unit="reassignments", source="reassignment_flows"),
        Column("contracts", INT64, "Different contracts.", unit="contracts", source="contract_id"),
        Column("in_flight", INT64, "Reassignments without an assignment.", unit="reassignments", source="status"),
    ),
    of="reassignments",
)  # fmt: skip

CONTRACT_JOURNEYS: Final = computed(
    "contract_journeys",
    "One row per contract that was reassigned: its path over the synchronizers.",
    ("contract_id",),
    (
        _CONTRACT,
        _TEMPLATE,
        Column("reassignments", INT64, "Number of its reassignments.", unit="reassignments",
               source="reassignment_flows"),
        Column("path", TEXTS, "Synchronizers in the order of the counter; null marks missing steps.",
               source="source_synchronizer and target_synchronizer"),
        Column("began_at", TIME, "Record time of the first leg.", source="unassigned_at, else assigned_at"),
        Column("ended_at", TIME, "Record time of the last assignment; null while it is in flight.", True,
               source="assigned_at"),
        Column("gaps", INT64, "Counters missing in between: steps outside the range; null beyond 64 bits.", True,
               "reassignments", "reassignment_counter"),
    ),
    of="reassignments",
)  # fmt: skip

REASSIGNMENT_ANOMALIES: Final = computed(
    "reassignment_anomalies",
    "One row per finding: legs that do not match, and counters that do not increase.",
    ("anomaly", "update_id"),
    (
        Column("anomaly", TEXT, "The kind of anomaly.", source="the legs of the contract and of the unassign id"),
        _CONTRACT,
        _UNASSIGN_ID,
        _COUNTER,
        Column("update_id", TEXT, "Update of the leg.", source="update_id"),
        Column("record_time", TIME, "Record time of the leg.", source="record_time"),
        Column("detail", TEXT, "The value that it is compared with.", source="the other leg"),
    ),
    of="reassignments",
)

TABLES: Final = (REASSIGNMENT_FLOWS, FLOW_MATRIX, CONTRACT_JOURNEYS, REASSIGNMENT_ANOMALIES)
