"""A sync of the active contracts that dies by SIGKILL beside one of its commits."""

import sys

import ledgerframes as lf
from ledgerframes.store.root import Root
from tests.store.killing import die_at


def main():
    """The arguments: store, scan URL, which commit, and whether death comes before or after it."""
    folder, url, number, when = sys.argv[1:]
    die_at(2 * int(number) + (when != "before"), "commit", Root)
    lf.open_store(folder).sync(
        lf.connect(scan_url=url), tables=["active_contracts"], page_size=20, commit_bytes=40_000, progress=False
    )


if __name__ == "__main__":
    main()
