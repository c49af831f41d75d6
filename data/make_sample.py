"""Makes `data/sample`: every table of a small simulated ledger as Parquet, and the answers they were read from.

`make sample` runs it. The same program makes the same rows, so a test compares the two.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa

import ledgerframes as lf

SEED, UPDATES, PORT = 7, 200, 8390  # a recording names its server, so the port stays the same
PLACE = Path(__file__).parent / "sample"


def load_all(net: lf.types.Network) -> dict[str, pa.Table]:
    """Every table that a loader fills, whole, by name."""
    history = lf.load_history(net, as_="arrow", progress=False)
    tables: dict[str, Any] = dict(history._asdict())
    owners = sorted({one for row in tables["events"]["signatories"].to_pylist() for one in row or ()})
    last = tables["updates"].to_pylist()[-1]  # without a time it would be now, another at each run
    moment = {name: last[name] for name in ("record_time", "migration_id")}
    tables["holdings_summary"] = lf.load_holdings_summary(net, owners, as_="arrow", **moment)
    tables["transfer_preapprovals"] = lf.load_transfer_preapprovals(net, owners[:10], as_="arrow")
    for name in ("licenses", "instruments", "name_entries", "name_rules", "transfer_offers", "users"):
        tables[name] = getattr(lf, f"load_{name}")(net, as_="arrow")
    for name in ("rounds", "names", "featured_apps", "super_validators", "scans"):
        tables[name] = getattr(lf, f"load_{name}")(net, as_="arrow")
    # A part of them: every item carries its update once more.
    tables |= lf.load_verdicts(net, start=(1, "2025-03-03"), limit=4, as_="arrow", progress=False)._asdict()
    coin = ["splice-amulet:Splice.Amulet:Amulet"]
    tables["active_contracts"] = lf.load_active_contracts(net, templates=coin, as_="arrow")
    tables["coins"] = lf.load_coins(net, owners, as_="arrow")
    members = tables["super_validators"]["participant_id"]
    tables["traffic"] = lf.load_traffic(net, members, as_="arrow")
    tables["validator_faucets"] = lf.load_validator_faucets(net, tables["licenses"]["validator"], as_="arrow")
    transactions = [row for row in tables["updates"].to_pylist() if row["kind"] == "transaction"]
    largest = max(transactions[1:], key=lambda row: row["event_count"])  # the first is the bootstrap, of 300 kB
    of_ledger = lf.load_ledger_transaction(net, largest["update_id"], as_="arrow")
    tables |= {f"ledger_{name}": table for name, table in of_ledger._asdict().items()}
    tables["ledger_contracts"] = lf.load_ledger_contracts(net, owners[1:2], limit=2, page_size=2, as_="arrow")
    return tables


def drop_repeated(answers: Path) -> None:
    """Remove what a request was answered again if it is the same: a replay gives the last answer again by itself."""
    for path in sorted(answers.glob("*-000[1-9].json"), reverse=True):
        before = path.with_stem(f"{path.stem[:-4]}{int(path.stem[-4:]) - 1:04}")
        is_last = not path.with_stem(f"{path.stem[:-4]}{int(path.stem[-4:]) + 1:04}").exists()
        if is_last and body_of(path) == body_of(before):
            path.unlink()


def body_of(path: Path) -> object:
    """What a recorded answer says."""
    return json.loads(path.read_text(encoding="utf-8"))["answer"]["body"]


def make(folder: Path, *, port: int) -> None:
    """Write `tables/` and `answers/` into a folder that is made anew, and `about.json` with the rows of each table."""
    shutil.rmtree(folder, ignore_errors=True)
    with lf.sandbox(seed=SEED, updates=UPDATES, port=port) as net, lf.record(folder / "answers", net=net) as kept:
        tables = load_all(kept)
    drop_repeated(folder / "answers")
    lf.export(tables, folder / "tables", personal=True)  # nobody is real: the tables are as loaders give them
    rows = {name: table.num_rows for name, table in sorted(tables.items())}
    about = {"ledgerframes": lf.__version__, "seed": SEED, "updates": UPDATES, "rows": rows}
    (folder / "about.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    make(PLACE, port=PORT)
