"""Events from a participant query store: from rows in their documented form, and through a Postgres if there is one."""

import json
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest

import ledgerframes as lf

#: The documented columns of exercises() that are read, and those of creates().
NONE = pd.DataFrame(
    columns=["template_fqn", "choice", "consuming", "exercise_event_id", "exercised_effective_at", "contract_id",
             "argument", "result"]
)  # fmt: skip


@pytest.fixture(scope="module")
def history():
    """A history of the sandbox without reassignments, which PQS has otherwise."""
    with lf.sandbox(updates=400) as net:
        return lf.load_history(net)


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


def test_steps_of_the_token_standard_are_counted_though_pqs_names_no_interfaces():
    with lf.sandbox(updates=500, seed=9) as net:
        events = lf.load_events(net)
    said = ["sender", "receiver", "amount", "instrument_admin", "kind", "step"]
    wanted = lf.token_transfers(events)
    assert wanted.step.ne("reported").any()
    found = lf.token_transfers(lf.events_from_pqs(*as_pqs(events), from_beginning=True))
    pd.testing.assert_frame_equal(found[said], wanted[said], check_like=True)


READ = ["event_type", "contract_id", "template_name", "package_name", "choice", "record_time", "record_month",
        "node_index", "depth", "acting_parties", "signatories", "observers"]  # fmt: skip


def check(found, history):
    """The same events and the same tables as a scan gives."""
    events = history.events.sort_values(["migration_id", "record_time", "update_id", "node_index"], ignore_index=True)
    created = events.event_type == "created_event"
    for name in READ:
        own = {"signatories": created, "observers": created, "acting_parties": ~created}.get(name, slice(None))
        assert found[name][own].fillna("-").to_list() == events[name][own].fillna("-").to_list(), name
    assert list(map(json.loads, found.payload)) == list(map(json.loads, events.payload))
    ours, theirs = lf.coin_history(found), lf.coin_history(events)
    assert len(ours) == len(theirs) > 40
    assert ours.sort_values("contract_id").owner.to_list() == theirs.sort_values("contract_id").owner.to_list()
    for table in (lf.transfers, lf.mint_burn):
        ours, theirs = table(found, decimals="exact"), table(events, decimals="exact")
        assert len(ours) == len(theirs) > 0
        amounts = [name for name in theirs if theirs[name].map(lambda cell: isinstance(cell, Decimal)).any()]
        for name in amounts:
            assert ours[name].dropna().sum() == theirs[name].dropna().sum(), name


@pytest.mark.filterwarnings("ignore::ledgerframes.errors.IncompleteFiguresWarning")
def test_rows_in_the_documented_form_give_the_tables_that_a_scan_gives(history):
    found = lf.events_from_pqs(*as_pqs(history.events), from_beginning=True)

    assert found.columns.to_list() == history.events.columns.to_list()
    check(found, history)
    assert found.attrs["complete"] is True
    assert found.attrs["from_beginning"] is True


def test_views_of_interfaces_are_left_out_and_each_form_of_an_id_is_read(history):
    creates, exercises = as_pqs(history.events)
    doubled = pd.concat([creates, creates.assign(payload_type="interface", template_fqn="p:M:I")])
    texts = creates.assign(create_event_id=[f"({a},{b})" for a, b in creates.create_event_id])
    records = creates.assign(create_event_id=[{"f1": a, "f2": b} for a, b in creates.create_event_id])

    whole = lf.events_from_pqs(creates, exercises)
    for other in (doubled, texts, records):
        assert lf.events_from_pqs(other, exercises).equals(whole)
    assert whole.attrs["from_beginning"] is False
    with pytest.raises(lf.errors.PartialResultError, match="does not begin at ledger begin"):
        lf.sv_weights(whole)


def test_offsets_stand_for_ids_of_updates_in_order_and_trees_are_unknown_without_the_last_descendants(history):
    creates, exercises = (frame.drop(columns="transaction_id") for frame in as_pqs(history.events))
    found = lf.events_from_pqs(creates, exercises)
    bare = lf.events_from_pqs(creates, exercises.drop(columns="last_descendant_node_id"))

    assert found.update_id.is_monotonic_increasing
    assert found.update_id.nunique() == history.events.update_id.nunique()
    assert bare.depth.isna().all()
    assert bare.parent_event_id.isna().all()


def test_contracts_archived_by_what_is_not_there_are_counted_and_the_frame_is_not_complete(history):
    creates, exercises = as_pqs(history.events)
    with pytest.warns(lf.errors.IncompleteFiguresWarning, match="archived by events that are not among the exercises"):
        found = lf.events_from_pqs(creates, exercises[~exercises.consuming.astype(bool)], from_beginning=True)

    assert found.attrs["complete"] is False
    assert found.attrs["archived_unseen"] == creates.archive_event_id.notna().sum() > 0
    with pytest.raises(lf.errors.PartialResultError, match="has a gap"):
        lf.sv_weights(found)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"create_event_id": "#1220:3"}, "is not (offset, node); older releases of PQS have other ids"),
        ({"template_fqn": "Amulet"}, "is not a template's name"),
        ({"created_effective_at": "soon"}, "effective time"),
    ],
    ids=["id", "template", "time"],
)
def test_what_is_not_of_pqs_is_refused(history, change, said):
    creates, _ = as_pqs(history.events.head(40))
    with pytest.raises(lf.errors.InputError) as caught:
        lf.events_from_pqs(creates.assign(**change), NONE)
    assert said in str(caught.value)
    with pytest.raises(lf.errors.InputError, match="payload"):
        lf.events_from_pqs(creates.drop(columns="payload"), NONE)


PAGE = Path(__file__).parents[2] / "docs" / "howto" / "pqs.md"
DOCUMENTED = """
create type event_id as (o bigint, n integer);
create table transactions (ix bigint, transaction_id text);
create table c (template_fqn text, payload_type text, create_event_id event_id, created_effective_at timestamptz,
  archive_event_id event_id, contract_id text, payload jsonb, package_id text, signatories text[], observers text[],
  created_at_ix bigint);
create table e (template_fqn text, choice text, consuming boolean, exercise_event_id event_id,
  exercised_effective_at timestamptz, contract_id text, argument jsonb, result jsonb, package_id text,
  controllers text[], last_descendant_node_id integer, exercised_at_ix bigint);
create function creates() returns setof c as 'select * from c' language sql;
create function exercises() returns setof e as 'select * from e' language sql;
"""


def of_pandas(uri, queries):
    """The frames of the page's queries, read by pandas."""
    psycopg2 = pytest.importorskip("psycopg2", reason="needs a driver: pip install psycopg2-binary")
    with closing(psycopg2.connect(uri)) as link:
        return [pd.read_sql(query, link) for query in queries]


def of_the_page(uri, queries):
    """The frames that the page's own lines read, by ADBC."""
    pytest.importorskip("adbc_driver_postgresql", reason="needs ADBC: pip install adbc-driver-postgresql pyarrow")
    lines = PAGE.read_text(encoding="utf-8").partition("```text\n")[2].partition("events = ")[0]
    names = dict(zip(["CREATES", "EXERCISES"], queries, strict=True))
    exec(lines.replace("postgresql://reader@HOST/pqs", uri), names)
    return names["frames"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("read", [of_pandas, of_the_page])
def test_rows_of_a_postgres_give_the_same(history, tmp_path, read):
    pgserver = pytest.importorskip("pgserver", reason="needs a Postgres: pip install pgserver psycopg2-binary")
    psycopg2 = pytest.importorskip("psycopg2", reason="needs a driver: pip install psycopg2-binary")
    queries = PAGE.read_text(encoding="utf-8").partition("```sql\n")[2].partition("```")[0].split(";\n")[:2]
    server = pgserver.get_server(tmp_path / "data")
    try:
        with closing(psycopg2.connect(server.get_uri())) as link, link, link.cursor() as cursor:
            cursor.execute(DOCUMENTED)
            seen = {}
            for table, rows in zip("ce", as_pqs(history.events), strict=True):
                place = {"c": "create", "e": "exercise"}[table]
                for row in rows.astype(object).where(rows.notna(), None).to_dict("records"):
                    row[f"{place}d_at_ix"] = seen.setdefault(row.pop("transaction_id"), row[f"{place}_event_id"][0])
                    marks = ", ".join("%s::event_id" if name.endswith("event_id") else "%s" for name in row)
                    cursor.execute(f"insert into {table} ({', '.join(row)}) values ({marks})", list(row.values()))
            cursor.executemany("insert into transactions values (%s, %s)", [(ix, name) for name, ix in seen.items()])
        found = lf.events_from_pqs(*read(server.get_uri(), queries), from_beginning=True)
    finally:
        server.cleanup()
    check(found, history)
