"""Shell completion: names of tables, columns, models and sections, words of options, lakes; each within 0.3 s."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import typer

from ledgerframes.cli.help import ARGS

Complete = Callable[[str], list[str]]
_MODELS: Final = Path(__file__).parents[1] / "models"

#: The sections of a report; importing them takes longer than a shell waits.
SECTIONS: Final = (
    "summary", "activity", "flows", "holdings", "balances", "transfers", "rewards", "coin_supply", "burn",
    "key_figures", "governance", "licenses", "supply", "templates", "anomalies", "provenance",
)  # fmt: skip
#: The computed tables that a lake keeps.
COMPUTED: Final = (
    "round_history", "rewards", "transfers", "token_transfers", "traffic_purchases", "mint_burn", "coin_history",
    "supply_per_round",
)  # fmt: skip


def listed(names: Iterable[str] | Callable[[], Iterable[str]]) -> Complete:
    """Completes one of these names, also after commas."""

    def complete(incomplete: str) -> list[str]:
        before, comma, begun = incomplete.rpartition(",")
        known = names() if callable(names) else names
        return [f"{before}{comma}{name}" for name in known if name.startswith(begun)]

    return complete


def _tables() -> Iterable[str]:
    from ledgerframes.tables.catalogue import CATALOGUE

    return CATALOGUE


def _derived() -> Iterable[str]:
    from ledgerframes.tables.derived import DERIVED

    return DERIVED


tables: Final = listed(_tables)
models: Final = listed(lambda: sorted(path.stem for path in _MODELS.glob("*.sql") if path.stem != "macros"))
derived: Final = listed(_derived)
sections: Final = listed(SECTIONS)
computed: Final = listed(COMPUTED)
exported: Final = listed(lambda: [*_tables(), *COMPUTED])


def columns(context: typer.Context, incomplete: str) -> list[str]:
    """The columns of the table that was typed."""
    from ledgerframes.tables.catalogue import CATALOGUE

    # Before a command is whole, what was typed is in its arguments alone.
    typed = context.meta.get(ARGS, ())
    return listed([name for table in CATALOGUE.values() if table.name in typed for name in table.names])(incomplete)


def lakes(incomplete: str) -> list[str]:
    """The lakes whose path begins so, and the folders on the way to others."""
    folder = Path(incomplete if incomplete.endswith("/") else Path(incomplete).parent)
    try:
        near = sorted(path for path in folder.iterdir() if path.is_dir() and str(path).startswith(incomplete))
    except OSError:
        return []
    found = [str(path) for path in near if (path / "updates" / "_delta_log").is_dir()]
    return found or [f"{path}/" for path in near if not path.name.startswith(".")]
