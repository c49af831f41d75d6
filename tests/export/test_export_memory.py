"""A million rows take no more memory to export than a hundred thousand; started by `make soak`."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FORMS = {
    "parquet": {}, "hive": {"layout": "hive"}, "bi": {"profile": "bi"}, "csv": {"format": "csv"},
    "xlsx": {"format": "xlsx"},
}  # fmt: skip
LIMIT = 320 << 20  # two row groups waiting, their copies on the way out, and the allocator's reserves

CODE = """
import sys
from pathlib import Path
import pyarrow as pa
import ledgerframes as lf
from ledgerframes.tables.catalogue import CATALOGUE
from tests.export.rows import column

def highest():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))

def rows(count):
    batch = pa.record_batch([column(field, 10_000) for field in SCHEMA], schema=SCHEMA)
    return (batch for _ in range(count // 10_000))

SCHEMA = CATALOGUE["events"].schema
form = eval(sys.argv[3])
lf.export({"events": rows(20_000)}, Path(sys.argv[1]) / "warm", **form)
before = highest()
report = lf.export({"events": rows(int(sys.argv[2]))}, Path(sys.argv[1]) / "out", **form)
print(report.rows, highest() - before)
"""


@pytest.mark.soak
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the highest use is read from /proc")
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_memory_does_not_grow_with_the_rows(tmp_path, form):
    count = 1_000_000 if form.get("format") != "xlsx" else 100_000
    command = [sys.executable, "-c", CODE, str(tmp_path), str(count), repr(form)]

    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)

    written, grown = map(int, done.stdout.split())
    assert written == count
    assert grown < LIMIT
