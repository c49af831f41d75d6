"""Where an export goes: whole or not at all, never over what must stay, and a clear word when it cannot."""

import json
import os
import re
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ledgerframes as lf
from ledgerframes.export.atomic_write import writing
from ledgerframes.tables.catalogue import CATALOGUE
from tests.export.rows import sample

ROOT = Path(__file__).parents[2]
ONE = pa.table({"a": ["x"]})
FORMS = {
    "parquet": {"format": "parquet"}, "hive": {"layout": "hive"}, "csv": {"format": "csv"}, "xlsx": {"format": "xlsx"},
}  # fmt: skip
every_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())


def left(folder):
    return sorted(path.name for path in folder.iterdir())


@every_form
def test_a_second_export_needs_overwrite_and_one_that_fails_leaves_what_was_there(tmp_path, form):
    def failing():
        yield from ONE.to_batches()
        raise OSError("the source is gone")

    lf.export({"t": ONE}, tmp_path, **form)
    before, names = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}, left(tmp_path)

    with pytest.raises(lf.errors.InputError, match="overwrite=True"):
        lf.export({"t": ONE}, tmp_path, **form)
    with pytest.raises(OSError, match="the source is gone") as raised:
        lf.export({"t": ONE, "u": failing()} if "hive" in form else {"t": failing}, tmp_path, overwrite=True, **form)

    assert not isinstance(raised.value, lf.LedgerframesError)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
    assert lf.export({"t": pa.concat_tables([ONE, ONE])}, tmp_path, overwrite=True, **form).rows == 2
    assert left(tmp_path) == names


@every_form
def test_a_link_is_never_written_through(tmp_path, form):
    out, kept = tmp_path / "out", tmp_path / "kept"
    out.mkdir()
    kept.mkdir() if form.get("layout") else kept.write_text("kept")
    name = "t" if form.get("layout") else "ledgerframes.xlsx" if form["format"] == "xlsx" else f"t.{form['format']}"
    (out / name).symlink_to(kept)

    with pytest.raises(lf.errors.InputError, match="is a link"):
        lf.export({"t": ONE}, out, overwrite=True, **form)

    assert (left(kept) if form.get("layout") else kept.read_text()) in ([], "kept")
    assert left(out) == [name]


def test_what_is_not_an_export_is_never_replaced(tmp_path):
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "thesis.odt").write_text("years of work")
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "device.parquet")
    before = sorted(tmp_path.rglob("*"))

    for name, place, options, said in (
        ("t", tmp_path, {"layout": "hive"}, "other things"),
        ("device", tmp_path, {}, "is a device, not a file"),
        ("t", tmp_path / "file", {}, "name another place"),
    ):
        with pytest.raises(lf.errors.InputError, match=said):
            lf.export({name: ONE}, place, overwrite=True, **options)
        assert sorted(tmp_path.rglob("*")) == before


def test_replaced_hive_folders_keep_no_partition_and_a_table_in_two_layouts_is_not_read_from_either(tmp_path):
    rows = sample(CATALOGUE["events"], 30)
    lf.export({"events": rows}, tmp_path, layout="hive")
    lf.export({"events": rows.slice(0, 1)}, tmp_path, layout="hive", overwrite=True)
    assert pq.read_table(tmp_path / "events").num_rows == 1

    lf.export({"events": rows}, tmp_path)
    with pytest.raises(lf.errors.InputError, match="has events twice"):
        lf.rewards(tmp_path)


#: What a program does after its first argument, a folder, is known, and how large a file may get meanwhile.
FULL = {
    "csv": ("lf.export({'t': [batch] * 20}, out, format='csv')", 100_000),
    "hive": ("lf.export({'first': batch.slice(0, 3), 't': [batch] * 20}, out, layout='hive')", 100_000),
    "star": ("store.export(out + '/out', model='star')", 500),
}
FILL = """
    import resource, sys
    import pyarrow as pa
    import ledgerframes as lf
    out, store = sys.argv[1], lf.open_store(sys.argv[2])
    store.tables()
    batch = pa.record_batch({"a": [f"{n * 7919 % 1000003:x}" * 9 for n in range(20_000)], "n": range(20_000)})
    resource.setrlimit(resource.RLIMIT_FSIZE, (BYTES, BYTES))
    try:
        EXPORT
    except lf.errors.InputError as error:
        print(error)
"""


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("form", FULL)
def test_a_full_disk_is_named_and_leaves_nothing(tmp_path, tmp_path_factory, form):
    lake = tmp_path_factory.mktemp("lake") / "lake"
    if form == "star":
        with lf.sandbox(updates=60) as net:
            lf.open_store(lake).sync(net, progress=False)
    export, limit = FULL[form]

    code = textwrap.dedent(FILL).replace("EXPORT", export).replace("BYTES", str(limit))
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", code, tmp_path, lake]
    said = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT, timeout=300)

    assert re.fullmatch(f"cannot write '{tmp_path}.*File too large.*make room\n", said.stdout), said.stderr
    assert said.stderr == ""
    assert [path for path in tmp_path.rglob("*") if path.name != "out"] == []


def test_of_two_exports_at_once_neither_is_swept_and_a_name_taken_meanwhile_is_not_overwritten(tmp_path):
    (tmp_path / ".ledgerframes-killed").mkdir()  # before it had a lock, or while it was removed

    def meanwhile():
        lf.export({"u": ONE}, tmp_path)
        (tmp_path / "taken.parquet").write_text("somebody's")
        yield from ONE.to_batches()

    lf.export({"t": meanwhile}, tmp_path)
    assert left(tmp_path) == ["t.parquet", "taken.parquet", "u.parquet"]

    (tmp_path / "taken.parquet").unlink()
    (tmp_path / "u.parquet").unlink()
    with pytest.raises(lf.errors.InputError, match="already exists"):
        lf.export({"taken": meanwhile}, tmp_path)
    assert (tmp_path / "taken.parquet").read_text() == "somebody's"


#: What is exported, to where, with which options, and what is said.
REFUSED = {
    "format": ({"t": ONE}, "out", {"format": "xls"}, "format='xls' is not valid: give 'parquet', 'csv' or 'xlsx'"),
    "profile": ({"t": ONE}, "out", {"profile": "BI"}, "profile='BI' is not valid: give 'bi' or 'exact'"),
    "layout": ({"t": ONE}, "out", {"layout": "delta"}, "layout='delta' is not valid: give 'file' or 'hive'"),
    "times": ({"t": ONE}, "out", {"times": "ns"}, "times='ns' is not valid: give 'us' or 'ms'"),
    "hive without Parquet": ({"t": ONE}, "out", {"layout": "hive", "format": "csv"}, "is for Parquet"),
    "provenance": ({"t": ONE}, "out", {"provenance": {"a": object()}}, "provenance is not JSON"),
    "another ending": ({"t": ONE}, "x.txt", {}, r"give a file ending in \.parquet, \.csv, \.xlsx"),
    "two endings": ({"t": ONE}, "x.csv", {"format": "parquet"}, "format='parquet' and the ending of .* differ"),
    "standard output": ({"t": ONE}, "-", {"format": "csv"}, "'-' is not a file or folder here"),
    "an address": ({"t": ONE}, Path("s3://bucket/out"), {}, "is not a folder of this machine"),
    "two into a file": ({"t": ONE, "u": ONE}, "two.csv", {}, "is one file, and there are 2 tables"),
    "a path": ({"../t": ONE}, "out", {}, "not safe for every reader"),
    "an ending": ({"t.parquet": ONE}, "out", {}, "not safe for every reader"),
    "a device of Windows": ({"nul": ONE}, "out", {}, "cannot be a file's name"),
    "a long name": ({"a" * 64: ONE}, "out", {}, "not safe for every reader"),
    "a long sheet": ({"a" * 26: ONE}, "out", {"format": "xlsx"}, "cannot be a sheet's name"),
    "a sheet of Excel's": ({"History": ONE}, "out", {"format": "xlsx"}, "cannot be a sheet's name"),
    "a sheet of ours": ({"about": ONE}, "out", {"format": "xlsx"}, "cannot be a sheet's name"),
    "tables": ({"t": ONE, "T": ONE}, "out", {}, "'t' and 'T'"),
    "several types": ({"t": pd.DataFrame({"mixed": ["a", 1]})}, "out", {}, "'t' cannot be exported: .*column mixed"),
    "columns": ({"t": pa.table([["x"], ["y"]], names=["a", "A"])}, "out", {}, "'a' and 'A'"),
    "unsafe column": ({"t": pa.table({"=a": ["x"]})}, "out", {}, "not safe"),
    "bytes": ({"t": pa.table({"a": [b"x"]})}, "out", {}, "of type binary"),
    "no table": ({}, "out", {}, "names no table"),
    "a number": ({"t": 3}, "out", {}, "is int"),
    "no batch": ({"t": []}, "out", {}, "returns no batch"),
    "batches that differ": (
        {"t": [ONE.to_batches()[0], pa.record_batch({"a": [1]})]}, "out", {}, "cast them all",
    ),
    "an exact text that is there": (
        {"t": pa.table({"amount": pa.array([1], pa.decimal128(38, 10)), "amount_exact": ["a"]})}, "out",
        {"profile": "bi"}, "'amount_exact'",
    ),
    "a month that names no partition": (
        {"updates": pa.table({"migration_id": [1], "record_month": ["../../x"]})}, "out", {"layout": "hive"},
        "record_month=",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("sources", "target", "options", "said"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_exported_is_refused_and_leaves_no_file(tmp_path, monkeypatch, sources, target, options, said):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(lf.errors.InputError, match=said):
        lf.export(sources, target, **options)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_the_report_speaks_to_people_notebooks_and_programs_and_files_have_the_rights_of_the_user_s_mask(tmp_path):
    target = tmp_path / "<b>out"

    report = lf.export({"t": ONE, "u": ONE}, target)

    (tmp_path / "made").touch()
    assert len({stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "made", target / "t.parquet")}) == 1
    assert report.bytes == sum(path.stat().st_size for path in target.iterdir())
    assert report.files == (str(target / "t.parquet"), str(target / "u.parquet"))
    assert repr(report).startswith("2 tables, 2 rows, 0.00 MB of parquet in ")
    assert repr(lf.export({"t": ONE}, tmp_path / "one")).startswith("1 table, 1 row, ")
    assert "&lt;b&gt;out" in report._repr_html_()
    assert "<b>" not in report._repr_html_()
    assert json.loads(report.to_json())["tables"][1] == {
        "name": "u", "rows": 1, "bytes": report.tables[1].bytes, "files": [str(target / "u.parquet")], "cut": 0,
        "left_out": 0,
    }  # fmt: skip


class HeldOpenError(PermissionError):
    winerror = 32


def test_a_file_that_another_program_has_open_is_said_to_be():
    with (
        pytest.raises(lf.errors.InputError, match=r"cannot write 'book\.xlsx'.*close the program that has it open"),
        writing("book.xlsx"),
    ):
        raise HeldOpenError(13, "The process cannot access the file because it is being used by another process")


ENDINGS = {
    "x.xlsx": ["x.xlsx"], "X.CSV": ["X.CSV"], "x.parquet": ["x.parquet"], "folder": ["t.parquet"], "a.b": ["t.parquet"],
}  # fmt: skip


@pytest.mark.parametrize(("target", "files"), ENDINGS.items(), ids=ENDINGS)
def test_the_ending_of_a_target_is_its_format(tmp_path, target, files):
    (tmp_path / "a.b").mkdir()  # a folder that exists is one, whatever its name

    report = lf.export({"t": ONE}, tmp_path / target)

    place = tmp_path / target
    assert (left(place) if place.is_dir() else [place.name]) == files
    assert report.format == ("parquet" if place.is_dir() else place.suffix[1:].lower())
    first = {".xlsx": b"PK", ".csv": b"a\r\n", ".parquet": b"PAR1"}[Path(files[0]).suffix.lower()]
    assert Path(report.files[0]).read_bytes().startswith(first)
