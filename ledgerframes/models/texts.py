"""`lf.models` and `lf.model`: the SQL of the computed tables, to read, to change and to run elsewhere."""

from __future__ import annotations

import re
from typing import Final

import pandas as pd

from ledgerframes.arguments import did_you_mean, suggesting
from ledgerframes.errors import InputError
from ledgerframes.models.declared_reads import READS
from ledgerframes.models.engine import INPUTS, below, kind_of, known, macros, settings_of, steps, text_of
from ledgerframes.models.reads import Read
from ledgerframes.tables.derived import COMPUTED
from ledgerframes.tables.from_snapshots import SNAPSHOTS_READ
from ledgerframes.tables.history import UPDATES
from ledgerframes.tables.kinds import AMOUNT, BOOL, INT64, TEXTS, TIME
from ledgerframes.tables.replayed import ACTIVE
from ledgerframes.tables.verdicts import VERDICTS

#: Views that a caller need not have.
_OPTIONAL: Final = {"opening": ACTIVE, UPDATES.name: UPDATES, VERDICTS.name: VERDICTS, **SNAPSHOTS_READ}
_TYPES: Final = {
    TEXTS: "varchar[]",
    TIME: "timestamptz",
    INT64: "bigint",
    BOOL: "boolean",
    AMOUNT: "decimal(38, 10)",
}
#: Settings that are true unless set: the events are then taken to be whole, from ledger begin.
_OF_A_WHOLE: Final = ("begun", "new_known", "range_known")
_COMMENT: Final = re.compile(r"(?:--.*\n)+")


def models() -> pd.DataFrame:
    """List the models: one for each computed table, the steps that several of them read, and the reads of payloads.

    Returns:
        One row per model, tables first: model, kind (table, step or read), rows (what a row is), reads (a list of the
        models and inputs that it reads).

    Example:
        >>> import ledgerframes as lf
        >>> list(lf.models().kind.unique())
        ['table', 'step', 'read']
    """
    reads = sorted(READS)
    own = sorted(known() - {*INPUTS, *READS, *COMPUTED, ACTIVE.name})
    tables = [name for name in (*COMPUTED, ACTIVE.name) if name in known()]
    names = [*tables, *own, *reads]
    return pd.DataFrame(
        {
            "model": pd.Series(names, dtype="str"),
            "kind": pd.Series(["table"] * len(tables) + ["step"] * len(own) + ["read"] * len(reads), dtype="str"),
            "rows": pd.Series([_comment(name) or _records(READS[name]) for name in names], dtype="str"),
            "reads": [list(below(name)) for name in names],
        }
    )


@suggesting
def model(name: str) -> str:
    """Return the SQL of a model: a text that DuckDB runs without this package.

    It relies on views `events` and `reassignments` of the columns that `load_history` returns and `lf.export`
    writes. A view `opening`, of contracts active before the events, may be there; tables of licenses, instruments and
    holdings read views `licenses`, `instruments` and `holdings_summary`.

    A text cannot know where the events begin, so it takes them to begin at ledger begin. For others, run the settings
    that its first comment lists; what cannot be known is null then.

    Args:
        name: one of `lf.models().model`.

    Returns:
        The macros, then each step below the model, once, then a statement that returns its rows; DuckDB 2.0 runs it.

    Raises:
        InputError: there is no such model.

    Example:
        >>> import ledgerframes as lf
        >>> print(lf.model("sv_rewards").splitlines()[0])
        -- One row per round, super validator and beneficiary: the rewards of kind sv.
    """
    names = known() - {*INPUTS}
    if name not in names:
        raise InputError(f"there is no model {name!r}{did_you_mean(name, names) or '; lf.models() lists them'}")
    *lower, last = steps(name)
    comment, statement = _divided(last)
    parts = [
        f"{comment}-- It relies on {_views(name)}; DuckDB 2.0 or newer runs it.\n{_taken_whole(name)}",
        "-- What every model needs.",
        *(f"{macro};" for macro in macros()),
        *(_nothing(view) for view in _OPTIONAL if view in {"opening", *_inputs(name)}),
        *(f"create or replace temp {kind_of(step)} {step} as\n{text_of(step)};" for step in lower),
        f"{statement};",
    ]
    return "\n".join(parts) + "\n"


def _taken_whole(name: str) -> str:
    """The comment on what to set for events that begin later than the ledger; empty if no setting matters."""
    asked = settings_of(name)
    settings = " ".join(f"set variable {setting} = false;" for setting in _OF_A_WHOLE if setting in asked)
    return f"-- It takes the events to begin at ledger begin. If they do not: {settings}\n" if settings else ""


def _nothing(view: str) -> str:
    """The statement that creates an optional view if a caller has none."""
    table = _OPTIONAL[view]
    columns = [f"null::{_TYPES.get(column.kind, 'varchar')} as {column.name}" for column in table.columns]
    listed = ",\n  ".join(columns)
    return f"-- {table.meaning}\ncreate view if not exists {view} as select\n  {listed}\nwhere false;"


def _inputs(name: str) -> set[str]:
    """The inputs that a model reads, itself or by its steps."""
    return {lower for step in steps(name) for lower in below(step)} & {*INPUTS}


def _views(name: str) -> str:
    """The views that a model relies on, in words."""
    inputs = _inputs(name) - {"opening"}
    listed = [name for name in INPUTS if name in inputs] or ["events"]
    return f"views {' and '.join(listed)}" if len(listed) > 1 else f"a view {listed[0]}"


def _divided(name: str) -> tuple[str, str]:
    """The comment that a model begins with, and the statement after it."""
    text = text_of(name)
    found = _COMMENT.match(text)
    return ("", text) if found is None else (found[0], text[found.end() :])


def _comment(name: str) -> str:
    """The description of a model's rows."""
    return " ".join(line.removeprefix("--").strip() for line in _divided(name)[0].splitlines())


def _records(read: Read) -> str:
    """The description of a read's rows."""
    of = ", ".join((*read.templates, *read.choices)) or read.rows
    return f"One row per {'item' if read.each else 'record'} of {of}."
