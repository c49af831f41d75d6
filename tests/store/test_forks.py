"""A process forked from one that used a store: a clear error at once, no panic and no waiting."""

import os
import signal
import sys

import pytest

import ledgerframes as lf


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("call", ["the same store", "another store", "sync"])
def test_a_store_in_a_forked_child_says_what_to_do(parted, small, capfd, call):
    folder = parted._lake.url
    assert len(parted.load("updates")) == 240
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            if call == "sync":
                parted.sync(small)
            else:
                (parted if call == "the same store" else lf.open_store(folder)).load("updates")
        except lf.errors.StoreError as error:
            sys.stdout.write(str(error))
            sys.stdout.flush()
            os._exit(7)
        os._exit(1)
    _, status = os.waitpid(child, 0)
    out, err = capfd.readouterr()
    assert os.waitstatus_to_exitcode(status) == 7, err
    assert "forkserver" in out
    assert "panicked" not in err
