"""`Store.sync` from objects by one and two workers, against their decompression alone and against pages."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count, islice
from pathlib import Path
from typing import Final

import pyarrow as pa

import ledgerframes as lf
from tests.benchmarks.lake import sync
from tests.benchmarks.long_history import items
from tests.benchmarks.measuring import Row, side_by_side
from tests.benchmarks.servers import bulk_scan

UPDATES: Final = 50_000
PER_OBJECT: Final = 12_500
PER_FRAME: Final = 1_200  # of about 9 MB, as scans have it
PAGES, ONE, TWO = "pages of 1,000 from a quick server, 1 worker", "1 worker", "2 workers"
#: All of the history is one segment; the sandbox's large history ends before.
SEGMENT: Final = "0001-01-01T00:00:00Z~2100-01-01T00:00:00Z"


def rows() -> list[Row]:
    """One worker against each baseline, and two against one."""
    size = sum(len(item) + 1 for item in items(0, UPDATES))
    lines, count_lines = (
        ("zstd -dc, lines counted", _by_zstd) if shutil.which("zstd") else ("pyarrow's zstd, lines", _by_arrow)
    )
    with (
        as_objects(items(0, UPDATES)) as folder,
        bulk_scan(UPDATES, keep=True) as url,
        lf.connect(scan_url=url) as net,
    ):
        files = sorted(folder.rglob("*.zstd"))
        assert count_lines(files) == UPDATES
        found = side_by_side(
            {
                ONE: lambda: _sync_folder(folder, 1),
                TWO: lambda: _sync_folder(folder, 2),
                lines: lambda: count_lines(files),
                PAGES: lambda: sync(net, workers=1),
            },
            rounds=3,
        )
    what = f"sync of {UPDATES:,} updates from objects"
    return [
        Row(what=f"{what}, {own}", baseline=baseline, ours=found[own], theirs=found[baseline], size=size)
        for own, baseline in ((ONE, lines), (TWO, lines), (TWO, ONE), (ONE, PAGES))
    ]


@contextmanager
def as_objects(history: Iterator[bytes]) -> Iterator[Path]:
    """A folder with a history's items as objects."""
    with tempfile.TemporaryDirectory() as name:
        segment = Path(name) / SEGMENT
        segment.mkdir()
        for number in count():
            own = islice(history, PER_OBJECT)
            frames = iter(lambda own=own: list(islice(own, PER_FRAME)), [])
            packed = [pa.compress(b"\n".join(frame) + b"\n", codec="zstd", asbytes=True) for frame in frames]
            if not packed:
                break
            (segment / f"updates_compact_json_{number}.zstd").write_bytes(b"".join(packed))
        yield Path(name)


def _sync_folder(folder: Path, workers: int) -> None:
    with lf.open_objects(folder) as net:
        sync(net, workers=workers)


def _by_zstd(files: Sequence[Path]) -> int:
    with subprocess.Popen(["zstd", "-dcq", *map(str, files)], stdout=subprocess.PIPE) as unpacked:
        counted = subprocess.run(["wc", "-l"], stdin=unpacked.stdout, capture_output=True, check=True)
    return int(counted.stdout)


def _by_arrow(files: Sequence[Path]) -> int:
    count = 0
    for file in files:
        with pa.CompressedInputStream(str(file), "zstd") as stream:
            while piece := stream.read(2**22):
                count += piece.count(b"\n")
    return count
