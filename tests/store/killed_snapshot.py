"""A sync of the active contracts that dies by SIGKILL beside one of its commits."""

import os
import signal
import sys

import ledgerframes as lf
from ledgerframes.store.delta.table import DeltaStoreTable


def main():
    """The arguments: store, scan URL, which commit, and whether death comes before or after it."""
    folder, url, number, when = sys.argv[1:]
    change, commits = DeltaStoreTable.change, 0

    def counted(self, *arguments):
        nonlocal commits
        die = commits == int(number)
        commits += 1
        if die and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        change(self, *arguments)
        if die:
            os.kill(os.getpid(), signal.SIGKILL)

    DeltaStoreTable.change = counted
    lf.open_store(folder).sync(
        lf.connect(scan_url=url), tables=["active_contracts"], page_size=20, commit_bytes=40_000, progress=False
    )


if __name__ == "__main__":
    main()
