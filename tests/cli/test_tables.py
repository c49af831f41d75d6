"""Tables other than the history, from a shell."""

import csv
import json

import pyarrow.parquet as pq
import pytest

from tests.replay import replay


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
    for name in ("a.json", "a.parquet"):
        assert (
            command("load", "instruments", "-o", str(tmp_path / name), "--registry-url", served.registry_url).code == 0
        )
    (one,) = json.loads((tmp_path / "a.json").read_text())
    assert (one["instrument_id"], one["decimals"], one["paused"]) == ("Amulet", 10, False)
    assert pq.read_table(tmp_path / "a.parquet").num_rows == 1


def test_tables_and_columns_are_listed(command):
    assert "holdings_summary" in command("tables").out
    described = json.loads(command("describe", "events", "--json").out)
    assert described[0]["column"] == "migration_id"
