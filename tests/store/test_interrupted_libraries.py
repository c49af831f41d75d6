"""Ctrl-C while a library's own code runs, DuckDB's or deltalake's, is neither lost nor another error."""

import subprocess
import sys
import time
from unittest.mock import Mock

import duckdb
import pytest

import ledgerframes as lf
from ledgerframes.models.engine import Engine
from ledgerframes.models.inputs import Inputs
from ledgerframes.store.delta.stored_files import Files
from ledgerframes.store.read import sql
from tests.signalled import LONGEST, STARTS, environment

#: Sends Ctrl-C when deltalake calls Python for a number of times. A shell's background job begins with it ignored.
IN_A_CALL_BACK = """
import os, signal, sys
import pyarrow.compute, pyarrow.dataset
import ledgerframes as lf
signal.signal(signal.SIGINT, signal.default_int_handler)
called = []

def signalled(function):
    def call(*arguments, **options):
        called.append(1)
        if len(called) == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGINT)
            sum(range(1000))
        return function(*arguments, **options)
    return call

pyarrow.dataset.field = signalled(pyarrow.dataset.field)
pyarrow.compute.cast = signalled(pyarrow.compute.cast)
store = lf.open_store(sys.argv[1])
try:
    if sys.argv[3] == "load":
        store.load("updates")
    else:
        with lf.connect(scan_url=sys.argv[4]) as net:
            store.sync(net, progress=False)
except KeyboardInterrupt:
    print("interrupted", len(called) >= int(sys.argv[2]))
else:
    print("returned", len(called))
"""
#: Runs a query of hours, and sends Ctrl-C once it has computed for a while.
IN_A_QUERY = """
import os, signal, sys, threading, time
import ledgerframes as lf
signal.signal(signal.SIGINT, signal.default_int_handler)

def send():
    begin = time.process_time()
    while time.process_time() < begin + 0.6:
        time.sleep(0.01)
    print("sent", flush=True)
    os.kill(os.getpid(), signal.SIGINT)

store = lf.open_store(sys.argv[1])
store.sql("select 1")
threading.Thread(target=send, daemon=True).start()
try:
    if sys.argv[2] != "tables":
        store.sql(sys.argv[2])
    while True:
        lf.mint_burn(store)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
QUERIES = {
    "computed tables": "tables",
    "numbers": "select sum(a.range * b.range) from range(100000000) a, range(100000000) b",
    "a join": "select count(*) from events a, events b, events c, events d where a.payload || b.payload < d.choice",
    "a grouping": "select max(hash(a.payload || b.payload || c.payload)) from events a, events b, events c, events d",
}


@pytest.mark.long(quick=2)
@pytest.mark.parametrize(
    ("operation", "number"), [("load", 8), ("sync", 2), ("load", 2), ("load", 10), ("sync", 8), ("sync", 10)]
)
def test_a_signal_in_a_call_back_counts(copied, small, operation, number, tmp_path):
    given = [str(copied._lake.folder), str(number), operation, small.sandbox.scan_url]
    command = [sys.executable, "-c", IN_A_CALL_BACK, *given]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment(tmp_path), timeout=60)
    assert (done.returncode, done.stdout) == (0, "interrupted True\n"), done


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_a_signal_ends_a_query(parted, query, tmp_path):
    command = [sys.executable, "-c", IN_A_QUERY, str(parted._lake.folder), query]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment(tmp_path)) as program:
        try:
            assert program.stdout.readline() == "sent\n"
            began = time.monotonic()
            assert program.stdout.readline() == "interrupted\n"
            assert time.monotonic() - began < LONGEST
            assert program.wait(STARTS) == 0
        finally:
            program.kill()


def test_no_file_is_read_again_after_an_interrupt(filled, monkeypatch):
    interrupted, again = Mock(side_effect=duckdb.InterruptException("Interrupted!")), Mock()
    for of, name in ((Engine, "rows"), (sql, "_check_statement"), (Inputs, "read_again"), (Files, "damages")):
        monkeypatch.setattr(of, name, again if of in (Inputs, Files) else interrupted)
    for read in (lf.mint_burn, lambda store: store.sql("from events")):
        with pytest.raises(duckdb.InterruptException):
            read(filled)
    assert not again.called
