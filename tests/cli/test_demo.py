"""`ledgerframes demo` shows the main job and leaves its results behind."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest


def test_demo_loads_syncs_exports_draws_and_says_where(shell, tmp_path):
    ended = shell("demo")

    assert ended.code == 0, ended.err
    assert ended.err == ""
    output = tmp_path / "demo-output"
    assert {path.name for path in output.iterdir()} == {"tables", "lake", "bi", "charts", "report.html"}
    files = sorted([*(output / "tables").iterdir(), *(output / "bi").iterdir()])
    assert len(files) == 10
    for path in files:
        table = pq.read_table(path)
        line = next(line for line in ended.out.splitlines() if str(path.relative_to(tmp_path)) in line)
        assert f"  {path.stem}  {table.num_rows:,} rows  " in line
        assert not any(pa.types.is_nested(field.type) for field in table.schema) or "tables" in path.parts
    for path in (output / "charts").iterdir():
        assert path.read_bytes().startswith(b"\x89PNG")
        assert str(path.relative_to(tmp_path)) in ended.out
    assert "What happens most:" in ended.out
    assert ended.out.endswith(f"Open this file: {output / 'report.html'}\n")
    assert "for what is new: 3 requests" in ended.out


@pytest.mark.long
def test_demo_tells_the_numbers_that_it_wrote_and_runs_again(command, tmp_path):
    for _ in range(2):
        ended = command("demo", "-o", tmp_path)

    said = re.search(r"Loaded ([\d,]+) updates, ([\d,]+) events, ([\d,]+) legs", ended.out)
    assert said is not None
    counts = [int(number.replace(",", "")) for number in said.groups()]
    names = ("updates", "events", "reassignments")
    assert counts == [pq.read_metadata(tmp_path / "tables" / f"{name}.parquet").num_rows for name in names]
    assert counts[0] == 2000
