"""Makes `lake_0_1.zip`: a lake as version 0.1.0 wrote it, for the tests that open it with a later version.

It has to be run with version 0.1.0; a later one writes another lake. What it holds:

- the network is `lf.sandbox(seed=SEED, updates=UPDATES)`: three migrations of 80 updates, whose record times overlap;
  `history.jsonl` in the archive is its history, one update per line, so that it can be served after the sandbox has
  come to make other ledgers: `serve(net, history)` puts it in place of a sandbox's own;
- the server lagged: it did not show the updates `HIDDEN` (positions in the server's order), the last ones of
  migration 0. The clock closed migration 0 all the same, so the lake lacks them and claims to be complete;
- the first sync read up to `END`, in the middle of migration 1, in small commits;
- the second sync, up to the same place, found nothing and left a row in `syncs`;
- `licenses` were synced once.

Run it from the project's folder: `python tests/store/data/make_lake_of_0_1.py`.
"""

from __future__ import annotations

import json
import tempfile
import zipfile
from pathlib import Path
from typing import Final

import ledgerframes as lf
from ledgerframes.sandbox.world.world import Update

SEED: Final = 7
UPDATES: Final = 240
HIDDEN: Final = range(76, 80)
END: Final = (1, "2025-03-03T09:04:00Z")
ARCHIVE: Final = Path(__file__).with_name("lake_0_1.zip")


def make(folder: Path) -> None:
    """Sync a lake into a folder, and keep the network beside it."""
    with lf.sandbox(seed=SEED, updates=UPDATES) as net:
        updates = net.sandbox.world.updates
        (folder / "history.jsonl").write_text("".join(f"{json.dumps(_line(update))}\n" for update in updates))
        kept = [update for position, update in enumerate(updates) if position not in HIDDEN]
        updates[:] = kept
        store = lf.open_store(folder / "lake")
        for _ in range(2):
            store.sync(net, end=END, workers=1, page_size=40, commit_bytes=150_000, progress=False)
        store.sync(net, tables=["licenses"], progress=False)


def serve(net: lf.types.Network, history: str) -> None:
    """Let a sandbox serve a kept history in place of its own."""
    lines = (json.loads(line) for line in history.splitlines())
    net.sandbox.world.updates[:] = [Update(*line[:5], line[5].encode()) for line in lines]


def _line(update: Update) -> list[object]:
    return [*update[:5], update.rendered.decode()]


def main() -> None:
    """Make the lake and pack it."""
    if lf.__version__ != "0.1.0":
        raise SystemExit(f"this is version {lf.__version__}; the lake has to be made with version 0.1.0")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder)
        with zipfile.ZipFile(ARCHIVE, "w", zipfile.ZIP_LZMA) as archive:
            for file in sorted(folder.rglob("*")):
                if file.is_file() and not file.name.endswith(".lock"):
                    archive.write(file, file.relative_to(folder))


if __name__ == "__main__":
    main()
