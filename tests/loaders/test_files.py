"""Tables written to files: exact, and whole or not at all."""

import csv
import json
from decimal import Decimal

import pyarrow.parquet as pq
import pytest

import ledgerframes as lf
from ledgerframes.cli.output import check_output, write_files


@pytest.fixture
def instruments(net):
    return lf.load_instruments(net, as_="arrow")


def test_the_three_forms_hold_the_same_exact_amounts(instruments, tmp_path):
    wanted = instruments.column("total_supply").to_pylist()
    for ending in ("parquet", "csv", "json"):
        write_files({"rows": instruments}, tmp_path / f"deep/er/i.{ending}")
    assert pq.read_table(tmp_path / "deep/er/i.parquet").column("total_supply").to_pylist() == wanted
    with (tmp_path / "deep/er/i.csv").open(newline="") as opened:
        read = [row["total_supply"] for row in csv.DictReader(opened)]
    assert [Decimal(text) if text else None for text in read] == wanted
    rows = json.loads((tmp_path / "deep/er/i.json").read_text())
    assert [row["total_supply"] and Decimal(row["total_supply"]) for row in rows] == wanted


def test_times_and_lists_can_be_read_back(net, tmp_path):
    events = lf.load_events(net, limit=40, as_="arrow", progress=False)
    write_files({"rows": events}, tmp_path / "e.csv")
    with (tmp_path / "e.csv").open(newline="") as opened:
        rows = list(csv.DictReader(opened))
    wanted = events.to_pylist()
    assert rows[0]["record_time"] == wanted[0]["record_time"].strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    for row, want in zip(rows, wanted, strict=True):
        assert (json.loads(row["signatories"]) if row["signatories"] else None) == want["signatories"]


def test_an_unknown_ending_is_refused(tmp_path):
    with pytest.raises(lf.errors.InputError, match=r"\.parquet, \.csv, \.json"):
        check_output(tmp_path / "i.xls", tables="instruments", several=False)


def test_a_place_that_cannot_be_written_is_named_and_nothing_is_left(instruments, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(lf.errors.InputError, match="name another place"):
        write_files({"rows": instruments}, tmp_path / "file" / "i.csv")
    (tmp_path / "folder" / "rows.parquet").mkdir(parents=True)
    (tmp_path / "folder" / "rows.parquet" / "mine").write_text("")
    with pytest.raises(lf.errors.InputError, match="name another place"):
        write_files({"rows": instruments}, tmp_path / "folder")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "folder", "mine", "rows.parquet"]
