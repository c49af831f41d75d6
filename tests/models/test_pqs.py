"""Events from a participant query store: from rows in their documented form."""

import json
from decimal import Decimal

import pandas as pd
import pytest

import ledgerframes as lf

#: The documented columns of exercises() that are read, and those of creates().
NONE = pd.DataFrame(
    columns=["template_fqn", "choice", "consuming", "exercise_event_id", "exercised_effective_at", "contract_id",
             "argument", "result"]
)  # fmt: skip


@pytest.fixture(scope="module")
def rows(hour_history):
    """Without reassignments, which PQS has otherwise."""
    return as_pqs(hour_history.events)


def as_pqs(events):
    """The rows that PQS would return of these events, as its documentation describes them."""
    events = events.sort_values(["migration_id", "record_time", "update_id", "node_index"])
    offsets = {update: number for number, update in enumerate(dict.fromkeys(events.update_id), 1)}
    lasts = dict(zip(events.event_id, events.node_index, strict=True))
    for row in events.iloc[::-1].itertuples():
        if isinstance(row.parent_event_id, str):
            lasts[row.parent_event_id] = max(lasts[row.parent_event_id], lasts[row.event_id])
    creates, exercises = [], []
    for row in events.itertuples():
        place, package = (offsets[row.update_id], row.node_index), row.template_id.split(":")[0]
        shared = {
            "template_fqn": f"{row.package_name}:{row.template_name}", "contract_id": row.contract_id,
            "package_id": package, "transaction_id": row.update_id,
        }  # fmt: skip
        if row.event_type == "created_event":
            creates.append(shared | {
                "payload_type": "template", "create_event_id": place, "created_effective_at": row.record_time,
                "payload": row.payload, "signatories": list(row.signatories), "observers": list(row.observers),
                "archive_event_id": None,
            })  # fmt: skip
        else:
            exercises.append(shared | {
                "choice": row.choice, "consuming": row.consuming, "exercise_event_id": place,
                "exercised_effective_at": row.record_time, "argument": row.payload, "result": row.exercise_result,
                "controllers": list(row.acting_parties), "last_descendant_node_id": lasts[row.event_id],
            })  # fmt: skip
    ended = {row["contract_id"]: row["exercise_event_id"] for row in exercises if row["consuming"]}
    for row in creates:
        row["archive_event_id"] = ended.get(row["contract_id"])
    return pd.DataFrame(creates), pd.DataFrame(exercises)


READ = ["event_type", "contract_id", "template_name", "package_name", "choice", "record_time", "record_month",
        "node_index", "depth", "acting_parties", "signatories", "observers"]  # fmt: skip


@pytest.mark.filterwarnings("ignore::ledgerframes.errors.IncompleteFiguresWarning")
def test_rows_in_the_documented_form_give_the_tables_that_a_scan_gives(hour_history, rows):
    found = lf.events_from_pqs(*rows, from_beginning=True)

    events = hour_history.events.sort_values(
        ["migration_id", "record_time", "update_id", "node_index"], ignore_index=True
    )
    assert found.columns.to_list() == events.columns.to_list()
    created = events.event_type == "created_event"
    for name in READ:
        own = {"signatories": created, "observers": created, "acting_parties": ~created}.get(name, slice(None))
        assert found[name][own].fillna("-").to_list() == events[name][own].fillna("-").to_list(), name
    assert list(map(json.loads, found.payload)) == list(map(json.loads, events.payload))
    ours, theirs = (lf.coin_history(one).sort_values("contract_id").owner.to_list() for one in (found, events))
    assert ours == theirs
    assert len(ours) > 40
    for table in (lf.transfers, lf.mint_burn):
        ours, theirs = table(found, decimals="exact"), table(events, decimals="exact")
        assert len(ours) == len(theirs) > 0
        for name in theirs:
            if theirs[name].map(lambda cell: isinstance(cell, Decimal)).any():
                assert ours[name].dropna().sum() == theirs[name].dropna().sum(), name
    # Steps of the token standard are counted though PQS names no interfaces.
    said = ["sender", "receiver", "amount", "instrument_admin", "kind", "step"]
    wanted = lf.token_transfers(events)
    assert wanted.step.ne("reported").any()
    pd.testing.assert_frame_equal(lf.token_transfers(found)[said], wanted[said], check_like=True)
    assert (found.attrs["complete"], found.attrs["from_beginning"]) == (True, True)


def test_views_of_interfaces_are_left_out_and_each_form_of_an_id_is_read(hour_history, rows):
    creates, exercises = rows
    doubled = pd.concat([creates, creates.assign(payload_type="interface", template_fqn="p:M:I")])
    texts = creates.assign(create_event_id=[f"({a},{b})" for a, b in creates.create_event_id])
    records = creates.assign(create_event_id=[{"f1": a, "f2": b} for a, b in creates.create_event_id])

    whole = lf.events_from_pqs(creates, exercises)
    for other in (doubled, texts, records):
        assert lf.events_from_pqs(other, exercises).equals(whole)
    assert whole.attrs["from_beginning"] is False
    with pytest.raises(lf.errors.PartialResultError, match="does not begin at ledger begin"):
        lf.sv_weights(whole)

    # Offsets stand for ids of updates in order, and without the last descendants trees are unknown.
    found = lf.events_from_pqs(*(frame.drop(columns="transaction_id") for frame in (creates, exercises)))
    bare = lf.events_from_pqs(creates, exercises.drop(columns="last_descendant_node_id"))
    assert found.update_id.is_monotonic_increasing
    assert found.update_id.nunique() == hour_history.events.update_id.nunique()
    assert bare[["depth", "parent_event_id"]].isna().all(axis=None)


def test_contracts_archived_by_what_is_not_there_are_counted_and_the_frame_is_not_complete(rows):
    creates, exercises = rows
    with pytest.warns(lf.errors.IncompleteFiguresWarning, match="archived by events that are not among the exercises"):
        found = lf.events_from_pqs(creates, exercises[~exercises.consuming.astype(bool)], from_beginning=True)

    assert found.attrs["complete"] is False
    assert found.attrs["archived_unseen"] == creates.archive_event_id.notna().sum() > 0
    with pytest.raises(lf.errors.PartialResultError, match="has a gap"):
        lf.sv_weights(found)


def test_what_is_not_of_pqs_is_refused(hour_history):
    creates, _ = as_pqs(hour_history.events.head(40))
    for wrong, said in (
        (creates.assign(create_event_id="#1220:3"), r"is not \(offset, node\); older releases of PQS have other ids"),
        (creates.assign(template_fqn="Amulet"), "is not a template's name"),
        (creates.assign(created_effective_at="soon"), "effective time"), (creates.drop(columns="payload"), "payload"),
    ):  # fmt: skip
        with pytest.raises(lf.errors.InputError, match=said):
            lf.events_from_pqs(wrong, NONE)
