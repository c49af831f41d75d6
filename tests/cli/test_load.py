"""`load`, `plan`, `migrations` and the listed tables: files that others can read, data on standard output."""

import json

import pandas as pd
import pyarrow.parquet as pq
import pytest

import ledgerframes as lf

THREE = ("updates", "events", "reassignments")
WANTED = {"history": THREE, "events": THREE[1:2]}


@pytest.mark.parametrize(("what", "names"), WANTED.items(), ids=WANTED)
def test_load_writes_a_file_a_table_names_each_and_has_what_the_python_function_gives(
    command, scan, tmp_path, what, names
):
    options = ("--start", "1@2025-03-03T09:03", "--limit", 70, "--personal")
    ended = command("load", what, "-o", "lake", *options, LEDGERFRAMES_SCAN_URL=scan)

    with lf.connect(scan_url=scan) as net:
        wanted = lf.load_history(net, start=(1, "2025-03-03T09:03"), limit=70, as_="arrow")
    assert (ended.code, ended.err) == (0, "")
    assert wanted.updates.num_rows == 70
    said = dict(line.split("\t") for line in ended.out.splitlines())
    assert said == {f"lake/{name}.parquet": f"{getattr(wanted, name).num_rows} rows" for name in names}
    assert {path.name for path in (tmp_path / "lake").iterdir()} == {f"{name}.parquet" for name in names}
    for name in names:
        assert pq.read_table(tmp_path / "lake" / f"{name}.parquet").equals(getattr(wanted, name)), name
        schema = pq.read_schema(tmp_path / "lake" / f"{name}.parquet")
        assert [field.name for field in schema if not (field.metadata or {}).get(b"description")] == []
        assert json.loads(schema.metadata[b"ledgerframes"])["source"] == scan


def test_events_are_chosen_by_template_choice_and_party(command, scan, tmp_path):
    with lf.connect(scan) as net:
        wanted = lf.load_events(net, choice="Archive", as_="arrow")
    template, party = wanted["template_name"][0].as_py(), wanted["acting_parties"][0][0].as_py()
    chosen = ("--choice", "Archive", "--template", template, "--party", party)
    assert command("load", "events", "-o", tmp_path, "--scan-url", scan, *chosen).code == 0
    found = pq.read_table(tmp_path / "events.parquet")
    assert 0 < found.num_rows < wanted.num_rows
    assert {*found["template_name"].to_pylist(), *found["choice"].to_pylist()} == {template, "Archive"}
    assert "--choice does not apply to updates" in command("load", "updates", "-o", "-", *chosen[:2]).err


def test_a_second_load_needs_overwrite_and_an_empty_range_gives_an_empty_file(command, scan, tmp_path):
    for options, rows in (
        (("--limit", 20), 20),
        (("--limit", 5, "--overwrite"), 5),
        (("--start", "2020-01-01", "--end", "2020-01-02", "--overwrite"), 0),
    ):
        assert command("load", "updates", "-o", tmp_path, "--scan-url", scan, *options).code == 0

        assert pq.read_metadata(tmp_path / "updates.parquet").num_rows == rows
        assert [path.name for path in tmp_path.iterdir()] == ["updates.parquet"]
    for place in (tmp_path, tmp_path / "updates.parquet"):  # refused before anything is asked
        refused = command("load", "updates", "-o", place, "--scan-url", "http://127.0.0.1:9/api/scan")
        assert (refused.code, "already exists; pass --overwrite" in refused.err) == (2, True)
    refused = command("load", "history", "-o", tmp_path, "--scan-url", "http://127.0.0.1:9/api/scan")
    assert "updates.parquet' already exists" in refused.err


def test_a_range_that_ends_after_what_the_scan_shows_is_said_to_be_a_part(command, scan):
    newest = lf.load_updates(lf.connect(scan)).record_time.max()

    done = command("load", "updates", "-o", "u.csv", "--scan-url", scan, "--end", "2035-01-01")

    ends = newest.isoformat().replace("+00:00", "Z")
    assert (done.code, done.err) == (0, f"what is there ends at {ends}, before the end of the range: more may follow\n")


def test_the_history_of_ones_own_parties_is_two_files_and_goes_by_offsets(command, monkeypatch, tmp_path):
    with lf.sandbox(updates=60) as net:
        url = ("--ledger-url", net.sandbox.ledger_url)
        monkeypatch.setenv("LEDGERFRAMES_LEDGER_TOKEN", net.sandbox.token("alice"))
        alice = lf.load_users(net).set_index("user_id").primary_party["alice"]
        ended = command("load", "ledger_history", "-o", tmp_path, *url, "--party", alice, "--start", "5", "--end", "50")
        wanted = lf.load_ledger_history(net, [alice], start=5, end=50, as_="arrow")
        contracts = command("load", "ledger_contracts", "-o", tmp_path / "c.csv", *url, "--party", alice, "--at", "40")
        refused = command("load", "ledger_contracts", "-o", tmp_path / "d.csv", *url, "--party", alice, "--at", "noon")
        unknown = command("load", "users", "-o", "-", *url, LEDGERFRAMES_LEDGER_TOKEN="another").err

    assert ended.code == 0, ended.err
    for name, table in wanted._asdict().items():
        assert pq.read_table(tmp_path / f"{name}.parquet").to_pylist() == table.to_pylist()
    assert contracts.code == 0, contracts.err
    assert unknown.endswith("What to do: give a token that is valid now, as LEDGERFRAMES_LEDGER_TOKEN.\n")
    assert "--at 'noon' is not valid: give an offset, a whole number\n" in refused.err


@pytest.mark.parametrize("place", ["-", "/dev/stdout"])
def test_standard_output_takes_one_table_as_csv(command, scan, tmp_path, place):
    ended = command("load", "updates", "-o", place, "--scan-url", scan, "--limit", 5)

    assert ended.code == 0, ended.err
    lines = ended.out.splitlines()
    assert lines[0].startswith("migration_id,record_time,")
    assert len(lines) == 6
    assert ended.err == "5 rows\n"
    assert list(tmp_path.iterdir()) == []


def test_a_workbook_takes_one_table_or_several(command, scan, tmp_path):
    for table, names in (("updates", ("updates",)), ("history", THREE)):
        ended = command("load", table, "-o", f"{table}.xlsx", "--scan-url", scan, "--limit", 5)

        assert [line.split("\t")[0] for line in ended.out.splitlines()] == [f"{table}.xlsx"] * len(names)
        assert [*pd.read_excel(tmp_path / f"{table}.xlsx", sheet_name=None)] == [*names, "about"]


def test_instruments_become_json_and_parquet_and_a_table_without_rows_is_not_called_a_range(command, small, tmp_path):
    scan, registry = ("--scan-url", small.sandbox.scan_url), ("--registry-url", small.sandbox.registry_url)
    done = command("load", "names", "--prefix", "nobody-has-this", "-o", tmp_path / "names.csv", *scan)
    assert (done.code, done.err) == (0, "no rows of names\n")
    for name in ("a.json", "a.parquet"):
        assert command("load", "instruments", "-o", str(tmp_path / name), *registry).code == 0
    (one,) = json.loads((tmp_path / "a.json").read_text())
    assert (one["instrument_id"], one["decimals"], one["paused"]) == ("Amulet", 10, False)
    assert pq.read_table(tmp_path / "a.parquet").num_rows == 1


def test_plan_is_a_few_lines_or_one_document(command, scan):
    ended = command("plan", "--scan-url", scan)

    assert (ended.code, ended.err) == (0, "")
    with lf.connect(scan_url=scan) as net:
        assert ended.out.splitlines()[:2] == str(lf.plan(net)).splitlines()[:2]
    assert [line.split()[0] for line in ended.out.splitlines()] == ["range", "size", "cost"]
    plan = json.loads(command("plan", "--json", "--scan-url", scan, "--end", "2025-03-03T09:05").out)
    assert set(plan) == {"range", "rows", "requests", "sync_requests", "megabytes", "minutes", "begins_late"}
    assert 0 < plan["rows"] < 300


def test_migrations_say_what_the_function_says_in_every_form(command, scan):
    with lf.connect(scan_url=scan) as net:
        wanted = lf.migrations(net)
    forms = [command("migrations", "--scan-url", scan, *form) for form in ((), ("--csv",), ("--json",))]

    assert [len(ended.out.splitlines()) for ended in forms[:2]] == [4, 4]
    assert forms[1].out.splitlines()[0] == "migration_id,first_record_time,last_record_time"
    assert (forms[2].code, forms[2].err) == (0, "")
    found = pd.DataFrame(json.loads(forms[2].out))
    assert found.migration_id.tolist() == wanted.migration_id.tolist() == [0, 1, 2]
    for column in ("first_record_time", "last_record_time"):
        assert found[column].tolist() == wanted[column].dt.strftime("%Y-%m-%dT%H:%M:%S.%fZ").tolist()


def test_version_tables_and_columns_are_shown_and_without_a_command_there_is_help(command):
    assert "holdings_summary" in command("tables").out
    assert json.loads(command("describe", "events", "--json").out)[0]["column"] == "migration_id"
    assert json.loads(command("find", "coins", "--json").out)[0]["name"] == "coins"
    assert command("--version").out == f"ledgerframes {lf.__version__}\n"
    assert "sandbox" in command().out
