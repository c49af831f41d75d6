"""A process that kills itself beside one of its commits to tables: the killed syncs and outputs import it."""

import os
import signal

from ledgerframes.store.delta.table import DeltaStoreTable


def die_at(instant, step, owner=DeltaStoreTable):
    """Let this process die beside one of the calls of a step of `DeltaStoreTable`, such as `append`, or of another.

    An even number stands for before a call, an odd one for after it: 0 is before the first, 1 after it.
    """
    plain, passed = getattr(owner, step), 0

    def counted(self, *arguments):
        nonlocal passed
        _die_if(passed == instant)
        result = plain(self, *arguments)
        _die_if(passed + 1 == instant)
        passed += 2
        return result

    setattr(owner, step, counted)


def _die_if(now):
    if now:
        os.kill(os.getpid(), signal.SIGKILL)
