"""A sync in a process of its own, to be killed: called by `kills`, imported once by its fork server."""

import logging
import warnings
from pathlib import Path

import deltalake  # noqa: F401 - what a sync imports late, so that each process need not
import filelock  # noqa: F401
import httpx  # noqa: F401
import pyarrow.dataset  # noqa: F401

import ledgerframes as lf
import ledgerframes.store.opening
import ledgerframes.store.store
import ledgerframes.transport.http


def sync(folder, urls, options, failed):
    """Bring a store up to date; what must not happen is written into the file `failed`."""
    warnings.simplefilter("error")
    logging.disable()
    try:
        lf.open_store(folder).sync(lf.connect(scan_url=urls), progress=False, **options)
    except lf.RequestError:
        pass  # every server failed too often
    except Exception as error:
        Path(failed).write_text(f"{type(error).__name__}: {error}\n{urls} {options}\n", encoding="utf-8")
        raise
