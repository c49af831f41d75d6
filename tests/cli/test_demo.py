"""`ledgerframes demo` shows the main job and leaves three tables behind."""

from __future__ import annotations

import re

import pyarrow.parquet as pq


def test_demo_writes_three_described_tables_and_says_where(shell, tmp_path):
    ended = shell("demo")

    assert ended.code == 0, ended.err
    assert ended.err == ""
    files = {path.stem: path for path in (tmp_path / "demo-output").iterdir()}
    assert set(files) == {"updates", "events", "reassignments"}
    for name, path in files.items():
        table = pq.read_table(path)
        assert all(field.metadata[b"description"] for field in table.schema), name
        assert f"demo-output/{name}.parquet  {table.num_rows:,} rows" in ended.out
    assert "One reassignment's two halves:" in ended.out


def test_demo_tells_the_numbers_that_it_wrote(command, tmp_path):
    ended = command("demo", "-o", tmp_path)

    said = re.search(r"Loaded ([\d,]+) updates, ([\d,]+) events, ([\d,]+) halves", ended.out)
    assert said is not None
    counts = [int(number.replace(",", "")) for number in said.groups()]
    names = ("updates", "events", "reassignments")
    assert counts == [pq.read_metadata(tmp_path / f"{name}.parquet").num_rows for name in names]
    assert counts[0] == 2000
