"""A sync in a process of its own, to be killed: called by `kills`, imported once by its fork server."""

import logging
import warnings
from contextlib import nullcontext
from pathlib import Path

import deltalake
import deltalake.fs  # noqa: F401
import filelock  # noqa: F401
import httpx  # noqa: F401
import pyarrow.dataset  # noqa: F401

import ledgerframes as lf
import ledgerframes.store.opening
import ledgerframes.store.store
import ledgerframes.transport.wire
from ledgerframes.errors import BeginsLateWarning
from tests.simulation.mutants import MUTANTS
from tests.store.killing import die_at


def sync(folder, urls, options, failed, kill_at=None, mutant=None):
    """Bring a store up to date; what must not happen is written into the file `failed`.

    `kill_at` counts the commits: the process dies before the commit of a table for an even number, after it for an odd
    one. `mutant` takes a rule back.
    """
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", BeginsLateWarning)
    logging.disable()
    if kill_at is not None:
        die_at(kill_at, "append")
    try:
        with MUTANTS[mutant].applied() if mutant else nullcontext():
            lf.open_store(folder).sync(lf.connect(scan_url=urls), progress=False, **options)
    except lf.errors.RequestError:
        pass  # every server failed too often
    except Exception as error:
        Path(failed).write_text(f"{type(error).__name__}: {error}\n{urls} {options}\n", encoding="utf-8")
        raise
