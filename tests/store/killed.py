"""Syncs, derives, stars and reports in processes that die by SIGKILL: `test_kills` and others start them."""

import contextlib
import logging
import os
import signal
import time
import warnings
from pathlib import Path

import deltalake.fs  # noqa: F401 - what a sync imports, once for all processes
import pyarrow.dataset  # noqa: F401

import ledgerframes as lf
import ledgerframes.store.store
import ledgerframes.transport.wire
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.derive import chunks
from ledgerframes.store.root import Root

#: What the process dies beside: any commit to a table's log, or one that readers go by.
COMMITS = {"table": (DeltaStoreTable, "_commit"), "root": (Root, "commit")}

#: What can be made of a lake: kept tables, in chunks that are small beside a lake of tests, a star or a report.
MADE = {
    "derive": lambda store, names: store.derive(names),
    "star": lambda store, target: store.export(target, model="star", allow_partial=True),
    "report": lambda store, target: store.report(target, sections=SECTIONS),
}
SECTIONS = ("summary", "activity", "flows", "balances", "transfers", "rewards", "coin_supply", "burn", "anomalies")


def sync(folder, urls, options, failed, instant=None, of="table"):
    """Bring a lake up to date; an error but for servers that are away is written into the file `failed`.

    `instant` counts commits: the process dies before one for an even number, after it for an odd one.
    """
    if instant is not None:
        _die_at(instant, *COMMITS[of])
    with _told(failed, options), contextlib.suppress(lf.errors.RequestError):
        lf.open_store(folder).sync(lf.connect(scan_url=urls), progress=False, **options)


def make(what, folder, target, failed, options, seconds):
    """Make something of a lake; errors are written into the file `failed`, and it may die as a sync does."""
    chunks.EVENTS_AT_ONCE = options["size"]
    if options["instant"] is not None:
        _die_at(options["instant"], *COMMITS["table"])
    with _told(failed, options), _dying(failed, seconds):
        MADE[what](lf.open_store(folder), target)


@contextlib.contextmanager
def _dying(failed, seconds):
    """End the process once it took so much processor time, however busy the machine is; no handler sees this signal.

    If it was not that long, the file `took` beside `failed` says how long it was.
    """
    signal.setitimer(signal.ITIMER_PROF, seconds)
    yield
    signal.setitimer(signal.ITIMER_PROF, 0)
    Path(failed).with_name("took").write_text(str(time.process_time()), encoding="utf-8")


@contextlib.contextmanager
def _told(failed, options):
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", lf.errors.IncompleteFiguresWarning)
    logging.disable()
    try:
        yield
    except Exception as error:
        Path(failed).write_text(f"{type(error).__name__}: {error}\n{options}\n", encoding="utf-8")
        raise


def _die_at(instant, owner, step):
    plain, passed = getattr(owner, step), 0

    def counted(self, *arguments, **named):
        nonlocal passed
        _die_if(passed == instant)
        result = plain(self, *arguments, **named)
        _die_if(passed + 1 == instant)
        passed += 2
        return result

    setattr(owner, step, counted)


def _die_if(now):
    if now:
        os.kill(os.getpid(), signal.SIGKILL)
