"""A duration leaves as seconds: Parquet has no type for it, and few programs know one."""

from datetime import timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ledgerframes as lf


@pytest.mark.parametrize("profile", [None, "bi"])
@pytest.mark.parametrize("unit", ["us", "ns", "s"])
def test_durations_are_seconds(tmp_path, profile, unit):
    spans = pa.array([timedelta(seconds=2), None, timedelta(seconds=-1)], pa.duration(unit))
    lf.export({"flows": pa.table({"in_flight": spans})}, tmp_path / "out", profile=profile)
    found = pq.read_table(tmp_path / "out" / "flows.parquet")
    assert found.to_pydict() == {"in_flight_seconds": [2.0, None, -1.0]}
    assert b"seconds" in found.schema.field(0).metadata[b"description"]
