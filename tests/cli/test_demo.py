"""`ledgerframes demo` shows the main job and leaves its results behind."""

import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest


@pytest.mark.long(quick=1)
@pytest.mark.parametrize(("updates", "times"), [(150, 1), (2_000, 2)])
def test_demo_loads_syncs_exports_draws_and_says_where_and_can_run_again(
    command, tmp_path, monkeypatch, updates, times
):
    monkeypatch.setattr("ledgerframes.apps.demo._UPDATES", updates)
    for _ in range(times):
        ended = command("demo")
        assert (ended.code, ended.err) == (0, "")

    output = tmp_path / "demo-output"
    assert {path.name for path in output.iterdir()} == {"tables", "lake", "bi", "charts", "report.html"}
    files = sorted([*(output / "tables").iterdir(), *(output / "bi").iterdir()])
    assert len(files) == 10
    for path in files:
        table = pq.read_table(path)
        line = next(line for line in ended.out.splitlines() if str(path.relative_to(tmp_path)) in line)
        assert f"  {path.stem}  {table.num_rows:,} row" in line
        assert not any(pa.types.is_nested(field.type) for field in table.schema) or "tables" in path.parts
    counts = [pq.read_metadata(output / "tables" / f"{name}.parquet").num_rows for name in ("updates", "events")]
    assert "Loaded {:,} updates, {:,} events".format(*counts) in ended.out
    for path in (output / "charts").iterdir():
        assert path.read_bytes().startswith(b"\x89PNG")
        assert str(path.relative_to(tmp_path)) in ended.out
    assert "What happens most:" in ended.out
    assert ended.out.endswith(f"Open this file: {output / 'report.html'}\n")
    assert "for what is new: 3 requests" in ended.out


@pytest.mark.long
def test_the_demo_writes_its_files_also_where_nobody_reads_what_it_prints(tmp_path):
    read, write = os.pipe()
    os.close(read)
    ended = subprocess.run([sys.executable, "-m", "ledgerframes", "demo"], cwd=tmp_path, stdout=write, check=False)
    os.close(write)
    assert ended.returncode == 0
    assert (tmp_path / "demo-output" / "report.html").exists()
