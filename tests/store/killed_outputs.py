"""A derive, a star or a report in a process of its own, to be killed: called by `kill_outputs`, and imported once."""

import logging
import warnings
from pathlib import Path

import deltalake.fs  # noqa: F401
import duckdb  # noqa: F401
import matplotlib.figure  # noqa: F401
import pyarrow.dataset  # noqa: F401

import ledgerframes as lf
from ledgerframes.errors import IncompleteFiguresWarning
from ledgerframes.store.derive.tables import DERIVABLE
from tests.store.killing import die_at


def make(folder, what, target, options, failed, kill_at=None):
    """Make one of a lake's outputs; what must not happen is written into the file `failed`.

    `kill_at` counts commits: the process dies before one for an even number, after it for an odd one.
    """
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", IncompleteFiguresWarning)
    logging.disable()
    if kill_at is not None:
        die_at(kill_at, "_commit")
    store = lf.open_store(folder)
    try:
        if what == "derive":
            store.derive(DERIVABLE)
        elif what == "star":
            store.export(target, model="star", **options)
        else:
            store.report(target, **options)
    except Exception as error:
        Path(failed).write_text(f"{what} {options}: {type(error).__name__}: {error}\n", encoding="utf-8")
        raise
