"""Where an export goes: whole or not at all, never over what must stay, and a clear word when it cannot."""

import json
import os
import re
import signal
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

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
def test_a_second_export_needs_overwrite(tmp_path, form):
    lf.export({"t": ONE}, tmp_path, **form)
    before = left(tmp_path)

    with pytest.raises(lf.errors.InputError, match="overwrite=True"):
        lf.export({"t": ONE}, tmp_path, **form)
    report = lf.export({"t": pa.concat_tables([ONE, ONE])}, tmp_path, overwrite=True, **form)

    assert report.rows == 2
    assert left(tmp_path) == before


@every_form
def test_an_export_whose_source_fails_leaves_what_was_there(tmp_path, form):
    def failing():
        yield from ONE.to_batches()
        raise OSError("the source is gone")

    lf.export({"t": ONE}, tmp_path, **form)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}

    with pytest.raises(OSError, match="the source is gone") as raised:
        lf.export({"t": ONE, "u": failing()} if "hive" in form else {"t": failing}, tmp_path, overwrite=True, **form)

    assert not isinstance(raised.value, lf.LedgerframesError)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


@every_form
def test_a_link_is_never_written_through(tmp_path, form):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "kept").write_text("kept")
    name = "t" if form.get("layout") else "ledgerframes.xlsx" if form["format"] == "xlsx" else f"t.{form['format']}"
    out = tmp_path / "out"
    out.mkdir()
    (out / name).symlink_to(tmp_path / ("elsewhere" if form.get("layout") else "kept"))

    with pytest.raises(lf.errors.InputError, match="is a link"):
        lf.export({"t": ONE}, out, overwrite=True, **form)

    assert (tmp_path / "kept").read_text() == "kept"
    assert left(tmp_path / "elsewhere") == []
    assert left(out) == [name]


def test_a_folder_with_other_things_in_it_is_not_replaced(tmp_path):
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "thesis.odt").write_text("years of work")

    with pytest.raises(lf.errors.InputError, match="other things"):
        lf.export({"t": ONE}, tmp_path, layout="hive", overwrite=True)
    assert left(tmp_path / "t") == ["thesis.odt"]


def test_replaced_hive_folders_keep_no_partition_of_before(tmp_path):
    rows = sample(CATALOGUE["updates"], 30)
    lf.export({"updates": rows}, tmp_path, layout="hive")

    lf.export({"updates": rows.slice(0, 1)}, tmp_path, layout="hive", overwrite=True)

    assert pq.read_table(tmp_path / "updates").num_rows == 1


def test_a_table_exported_in_two_layouts_is_not_read_from_either(tmp_path):
    rows = sample(CATALOGUE["events"], 30)
    lf.export({"events": rows}, tmp_path)
    lf.export({"events": rows.slice(0, 1)}, tmp_path, layout="hive", overwrite=True)

    with pytest.raises(lf.errors.InputError, match="has events twice"):
        lf.rewards(tmp_path)


FILL = """
    import resource, sys
    import pyarrow as pa
    import ledgerframes as lf
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
    batch = pa.record_batch({"a": [f"{n * 7919 % 1000003:x}" * 9 for n in range(20_000)], "n": range(20_000)})
    try:
        lf.export({"first": batch.slice(0, 3), "t": [batch] * 20}, sys.argv[1], **eval(sys.argv[2]))
    except lf.errors.InputError as error:
        print(error)
"""


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("form", [FORMS["csv"], FORMS["hive"]], ids=str)
def test_a_full_disk_is_named_and_leaves_nothing(tmp_path, form):
    said = run(FILL, tmp_path, repr(form))

    assert "cannot write" in said.stdout, said.stderr
    assert "make room" in said.stdout
    assert str(tmp_path) in said.stdout
    assert said.stderr == ""
    assert left(tmp_path) == []


def run(code, *arguments):
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", textwrap.dedent(code), *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT, timeout=300)


KILLED = """
    import os, signal, sys
    import pyarrow as pa
    import ledgerframes as lf
    def rows():
        yield pa.record_batch({"a": ["x"] * 1000})
        os.kill(os.getpid(), signal.SIGKILL)
    lf.export({"first": pa.table({"a": ["x"]}), "t": rows}, sys.argv[1], **eval(sys.argv[2]))
"""


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("form", [FORMS["parquet"], FORMS["hive"]], ids=str)
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL and no flock on Windows")
def test_a_killed_export_leaves_no_file_and_the_next_sweeps_up(tmp_path, form):
    assert run(KILLED, tmp_path, repr(form)).returncode == -signal.SIGKILL
    assert [name for name in left(tmp_path) if not name.startswith(".")] == []

    lf.export({"t": ONE}, tmp_path, **form)

    assert [name for name in left(tmp_path) if name.startswith(".")] == []


def test_an_export_that_runs_is_not_swept_by_another(tmp_path):
    def meanwhile():
        lf.export({"u": ONE}, tmp_path)
        yield from ONE.to_batches()

    lf.export({"t": meanwhile}, tmp_path)

    assert left(tmp_path) == ["t.parquet", "u.parquet"]


def test_a_name_taken_while_the_export_runs_is_not_overwritten(tmp_path):
    def meanwhile():
        (tmp_path / "t.parquet").write_text("somebody's")
        yield from ONE.to_batches()

    with pytest.raises(lf.errors.InputError, match="already exists"):
        lf.export({"t": meanwhile}, tmp_path)
    assert (tmp_path / "t.parquet").read_text() == "somebody's"


def test_a_place_that_is_a_file_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(lf.errors.InputError, match="name another place"):
        lf.export({"t": ONE}, tmp_path / "file")


def test_files_have_the_rights_that_the_user_s_mask_gives(tmp_path):
    lf.export({"t": ONE}, tmp_path)
    (tmp_path / "made").touch()

    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("made", "t.parquet")}
    assert len(modes) == 1


WRONG = {
    "format": ({"format": "xls"}, "format='xls' is not valid: give 'parquet', 'csv' or 'xlsx'"),
    "profile": ({"profile": "BI"}, "profile='BI' is not valid: give 'bi' or 'exact'"),
    "layout": ({"layout": "delta"}, "layout='delta' is not valid: give 'file' or 'hive'"),
    "times": ({"times": "ns"}, "times='ns' is not valid: give 'us' or 'ms'"),
    "hive without Parquet": ({"layout": "hive", "format": "csv"}, "is for Parquet"),
    "provenance": ({"provenance": {"a": object()}}, "provenance is not JSON"),
}


@pytest.mark.parametrize(("arguments", "said"), WRONG.values(), ids=WRONG.keys())
def test_an_argument_that_cannot_be_is_refused_before_anything_is_written(tmp_path, arguments, said):
    with pytest.raises(lf.errors.InputError, match=said):
        lf.export({"t": ONE}, tmp_path / "out", **arguments)
    assert left(tmp_path) == []


@pytest.mark.parametrize("name", ["../t", "a/b", "t.parquet", "nul", "1a", "é", "a" * 64])
def test_a_table_s_name_that_is_no_file_name_everywhere_is_refused(tmp_path, name):
    with pytest.raises(lf.errors.InputError, match="cannot be a file's name"):
        lf.export({name: ONE}, tmp_path)


@pytest.mark.parametrize("name", ["a" * 26, "History", "about"])
def test_a_table_s_name_that_is_no_sheet_s_name_is_refused(tmp_path, name):
    with pytest.raises(lf.errors.InputError, match="cannot be a sheet's name"):
        lf.export({name: ONE}, tmp_path, format="xlsx")


SAME = {
    "tables": ({"t": ONE, "T": ONE}, "'t' and 'T'"),
    "columns": ({"t": pa.table([["x"], ["y"]], names=["a", "A"])}, "'a' and 'A'"),
    "the same column twice": ({"t": pa.table([["x"], ["y"]], names=["a", "a"])}, "'a' and 'a'"),
    "unsafe column": ({"t": pa.table({"=a": ["x"]})}, "not safe"),
    "bytes in a record": ({"t": pa.table({"a": [{"b": b"x"}]})}, "of type struct"),
    "bytes": ({"t": pa.table({"a": [b"x"]})}, "of type binary"),
    "no table": ({}, "names no table"),
    "a number": ({"t": 3}, "is int"),
    "numbers": ({"t": [3]}, "returns int"),
    "no batch": ({"t": []}, "returns no batch"),
    "batches that differ": ({"t": [ONE.to_batches()[0], pa.record_batch({"a": [1]})]}, "cast them all"),
}


def test_a_column_that_has_the_name_of_an_exact_text_already_is_refused(tmp_path):
    amounts = pa.table({"amount": pa.array([1], pa.decimal128(38, 10)), "amount_exact": ["a"]})

    with pytest.raises(lf.errors.InputError, match="'amount_exact'"):
        lf.export({"t": amounts}, tmp_path, profile="bi")


@pytest.mark.parametrize(("sources", "said"), SAME.values(), ids=SAME.keys())
def test_a_source_that_cannot_be_exported_is_refused_and_leaves_nothing(tmp_path, sources, said):
    with pytest.raises(lf.errors.InputError, match=said):
        lf.export(sources, tmp_path)
    assert left(tmp_path) == []


def test_the_report_speaks_to_people_notebooks_and_programs(tmp_path):
    target = tmp_path / "<b>out"

    report = lf.export({"t": ONE, "u": ONE}, target)

    assert report.bytes == sum(path.stat().st_size for path in target.iterdir())
    assert report.files == (str(target / "t.parquet"), str(target / "u.parquet"))
    assert repr(report).startswith("2 tables, 2 rows, 0.00 MB of parquet in ")
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


TARGETS = {
    "x.txt": ({}, r"the ending is not valid: give a file ending in \.parquet, \.csv, \.xlsx"),
    "x.json": ({}, "the ending is not valid"),
    "x.csv": ({"format": "parquet"}, "format='parquet' and the ending of .* differ"),
    "-": ({"format": "csv"}, "'-' is not a file or folder here"),
    "two.csv": ({}, "is one file, and there are 2 tables; name a folder, or a workbook"),
}


@pytest.mark.parametrize(("target", "options", "said"), [(name, *rest) for name, rest in TARGETS.items()], ids=TARGETS)
def test_a_target_of_another_ending_is_refused(tmp_path, monkeypatch, target, options, said):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(lf.errors.InputError, match=said):
        lf.export({"t": ONE, "u": ONE} if target == "two.csv" else {"t": ONE}, target, **options)
    assert left(tmp_path) == []


def test_a_device_is_never_replaced(tmp_path):
    os.mkfifo(tmp_path / "t.parquet")

    with pytest.raises(lf.errors.InputError, match="is a device, not a file"):
        lf.export({"t": ONE}, tmp_path, overwrite=True)
    assert (tmp_path / "t.parquet").is_fifo()


STAR = """
    import resource, sys
    import ledgerframes as lf
    store = lf.open_store(sys.argv[1])
    store.tables()
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))
    try:
        store.export(sys.argv[2], model="star")
    except lf.errors.InputError as error:
        print(error)
"""


@pytest.mark.long
def test_a_disk_that_is_full_of_a_star_is_named(tmp_path):
    with lf.sandbox(updates=60) as net:
        lf.open_store(tmp_path / "lake").sync(net, progress=False)

    said = run(STAR, tmp_path / "lake", tmp_path / "out")

    assert re.fullmatch(r"cannot write '.*out.*File too large.*make room\n", said.stdout), said.stderr
    assert left(tmp_path / "out") == []
