"""A sync in a process of its own, to be killed: called by `test_kills`, imported once by its fork server."""

import ledgerframes as lf
import ledgerframes.store.store


def sync(folder, scan_url, now, workers, seed):
    net = lf.connect(scan_url=scan_url)
    lf.open_store(folder).sync(
        net, workers=workers, page_size=20 + seed % 60, now=now, commit_bytes=20_000 * (1 + seed % 5), progress=False
    )
