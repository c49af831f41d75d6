"""`load`, `plan`, `migrations` and the listed tables: files that others can read, data on standard output."""

from __future__ import annotations

import csv
import json
import re

import pandas as pd
import pyarrow.parquet as pq
import pytest

import ledgerframes as lf
from tests.replay import replay

THREE = ("updates", "events", "reassignments")
WANTED = {"history": THREE, "events": THREE[1:2]}


@pytest.mark.parametrize(("what", "names"), WANTED.items(), ids=WANTED)
def test_load_writes_a_file_a_table_and_names_each(command, scan, tmp_path, what, names):
    ended = command("load", what, "-o", "lake", "--scan-url", scan)

    assert ended.code == 0, ended.err
    assert ended.err == ""
    said = dict(line.split("\t") for line in ended.out.splitlines())
    rows = {name: pq.read_metadata(tmp_path / "lake" / f"{name}.parquet").num_rows for name in names}
    assert said == {f"lake/{name}.parquet": f"{count} rows" for name, count in rows.items()}
    assert sorted(path.name for path in (tmp_path / "lake").iterdir()) == sorted(f"{name}.parquet" for name in names)


def test_the_files_hold_what_the_python_function_gives(command, scan, tmp_path):
    place = "1@2025-03-03T09:03"
    options = ("--start", place, "--limit", 70, "--personal")
    ended = command("load", "history", "-o", tmp_path, *options, LEDGERFRAMES_SCAN_URL=scan)

    with lf.connect(scan_url=scan) as net:
        wanted = lf.load_history(net, start=(1, "2025-03-03T09:03"), limit=70, as_="arrow")
    assert ended.code == 0, ended.err
    for name, table in wanted._asdict().items():
        assert pq.read_table(tmp_path / f"{name}.parquet").equals(table), name
        schema = pq.read_schema(tmp_path / f"{name}.parquet")
        assert [field.name for field in schema if not (field.metadata or {}).get(b"description")] == []
        assert json.loads(schema.metadata[b"ledgerframes"])["source"] == scan
    assert wanted.updates.num_rows == 70


def test_a_second_load_replaces_the_first_and_an_empty_range_gives_an_empty_file(command, scan, tmp_path):
    for options, rows in (
        (("--limit", 20), 20),
        (("--limit", 5), 5),
        (("--start", "2020-01-01", "--end", "2020-01-02"), 0),
    ):
        assert command("load", "updates", "-o", tmp_path, "--scan-url", scan, *options).code == 0

        assert pq.read_metadata(tmp_path / "updates.parquet").num_rows == rows
        assert [path.name for path in tmp_path.iterdir()] == ["updates.parquet"]


def test_a_range_that_ends_after_what_the_scan_shows_is_said_to_be_a_part(command, scan):
    newest = lf.load_updates(lf.connect(scan)).record_time.max()

    done = command("load", "updates", "-o", "u.csv", "--scan-url", scan, "--end", "2035-01-01")

    ends = newest.isoformat().replace("+00:00", "Z")
    assert (done.code, done.err) == (0, f"what is there ends at {ends}, before the end of the range: more may follow\n")
    assert command("load", "updates", "-o", "u.csv", "--scan-url", scan).err == ""


def ledger_options(net):
    return ["--ledger-url", net.sandbox.ledger_url], {"LEDGERFRAMES_LEDGER_TOKEN": net.sandbox.token("alice")}


def test_the_history_of_ones_own_parties_is_two_files_and_goes_by_offsets(command, monkeypatch, tmp_path):
    with lf.sandbox(updates=60) as net:
        url, token = ledger_options(net)
        for name, value in token.items():
            monkeypatch.setenv(name, value)
        alice = lf.load_users(net).set_index("user_id").primary_party["alice"]
        ended = command("load", "ledger_history", "-o", tmp_path, *url, "--party", alice, "--start", "5", "--end", "50")
        wanted = lf.load_ledger_history(net, [alice], start=5, end=50, as_="arrow")
        contracts = command("load", "ledger_contracts", "-o", tmp_path / "c.csv", *url, "--party", alice, "--at", "40")
        refused = command("load", "ledger_contracts", "-o", tmp_path / "c.csv", *url, "--party", alice, "--at", "noon")

    assert ended.code == 0, ended.err
    for name, table in wanted._asdict().items():
        assert pq.read_table(tmp_path / f"{name}.parquet").to_pylist() == table.to_pylist()
    assert contracts.code == 0, contracts.err
    assert refused.code != 0
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
    one = command("load", "updates", "-o", "one.xlsx", "--scan-url", scan, "--limit", 5)
    three = command("load", "history", "-o", "three.xlsx", "--scan-url", scan, "--limit", 5)

    assert one.out == "one.xlsx\t5 rows\n"
    assert [line.split("\t")[0] for line in three.out.splitlines()] == ["three.xlsx"] * 3
    assert [*pd.read_excel(tmp_path / "one.xlsx", sheet_name=None)] == ["updates", "about"]
    assert [*pd.read_excel(tmp_path / "three.xlsx", sheet_name=None)] == [*THREE, "about"]


NOWHERE = {
    "another ending": (
        "updates",
        "x.txt",
        "the ending is not valid: give a file ending in .parquet, .csv, .json, .xlsx",
    ),
    "a name that no file can have": ("updates", "x" * 300 + ".csv", "cannot write"),
    "several tables into a file": ("history", "x.csv", "history is several tables"),
    "several tables to standard output": ("history", "-", "history is several tables"),
}


@pytest.mark.parametrize(("table", "place", "said"), NOWHERE.values(), ids=NOWHERE)
def test_an_output_that_cannot_take_it_is_refused_before_anything_is_asked(command, tmp_path, table, place, said):
    ended = command("load", table, "-o", place, "--scan-url", "http://127.0.0.1:9")

    assert ended.code == 2
    assert said in ended.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.filterwarnings("always")
def test_a_warning_is_one_line_that_names_no_file_of_ours(command, scan):
    with lf.connect(scan) as net:
        middle = lf.load_updates(net, limit=150).record_time.iloc[-1]
    with lf.sandbox(seed=7, updates=300, prune_before=(0, middle)) as pruned:
        ended = command("load", "updates", "-o", "late.csv", "--scan-url", pruned.sandbox.scan_url)

    assert ended.code == 0, ended.err
    assert re.fullmatch(r"warning: .* begins at .*, after ledger begin: .*\n", ended.err)


def test_a_table_without_rows_is_not_called_a_range(command, scan, tmp_path):
    done = command("load", "names", "--prefix", "nobody-has-this", "-o", tmp_path / "names.csv", "--scan-url", scan)

    assert (done.code, done.err) == (0, "no rows of names\n")


@pytest.fixture(scope="module")
def served(captures):
    assert captures
    with replay() as server:
        yield server


def test_licenses_become_a_csv_in_one_command(command, served, tmp_path):
    file = tmp_path / "licenses.csv"
    ended = command("load", "licenses", "-o", str(file), "--scan-url", served.scan_url)
    assert (ended.code, ended.out) == (0, f"{file}\t300 rows\n")
    with file.open() as opened:
        rows = list(csv.DictReader(opened))
    assert len(rows) == 300
    assert rows[0]["last_active_at"] == "2026-01-30T08:39:28.485596Z"
    assert rows[0]["coupons_missed"] == "14"
    assert "contactPoint" not in file.read_text()


def test_instruments_become_json_and_parquet(command, served, tmp_path):
    for name, ids in (("a.json", ()), ("a.parquet", ("--id", "Amulet", "--id", "Amulet"))):
        options = ("--registry-url", served.registry_url, *ids)
        assert command("load", "instruments", "-o", str(tmp_path / name), *options).code == 0
    (one,) = json.loads((tmp_path / "a.json").read_text())
    assert (one["instrument_id"], one["decimals"], one["paused"]) == ("Amulet", 10, False)
    assert pq.read_table(tmp_path / "a.parquet").num_rows == 1


def test_tables_and_columns_are_listed(command):
    assert "holdings_summary" in command("tables").out
    described = json.loads(command("describe", "events", "--json").out)
    assert described[0]["column"] == "migration_id"


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
    first, *rows = command("migrations", "--csv", "--scan-url", scan).out.splitlines()
    assert (first, len(rows)) == ("migration_id,first_record_time,last_record_time", 3)
    assert len(command("migrations", "--scan-url", scan).out.splitlines()) == 1 + 3
    ended = command("migrations", "--json", "--scan-url", scan)

    assert (ended.code, ended.err) == (0, "")
    with lf.connect(scan_url=scan) as net:
        wanted = lf.migrations(net)
    found = json.loads(ended.out)
    assert [row["migration_id"] for row in found] == wanted.migration_id.tolist() == [0, 1, 2]
    for column in ("first_record_time", "last_record_time"):
        assert [row[column] for row in found] == wanted[column].dt.strftime("%Y-%m-%dT%H:%M:%S.%fZ").tolist()


@pytest.mark.long
def test_verbose_logs_the_requests_on_standard_error_only(shell, scan):
    quiet = shell("migrations", "--json", "--scan-url", scan)
    loud = shell("--verbose", "migrations", "--json", "--scan-url", scan)

    assert loud.out == quiet.out
    assert "ledgerframes.transport:POST /v2/updates -> 200" in loud.err
    assert {line.split(":")[1].split(".")[0] for line in loud.err.splitlines()} == {"ledgerframes"}


def test_version_is_the_package_s_and_without_a_command_there_is_help(command):
    assert command("--version").out == f"ledgerframes {lf.__version__}\n"
    said = command()
    for name in ("load", "plan", "migrations", "sandbox", "demo"):
        assert name in said.out + said.err
