"""`Interruptible`: sends what the main thread asks for from another thread, so that Ctrl-C leaves no lock held."""

from __future__ import annotations

import threading
from functools import partial
from typing import Final

from ledgerframes.transport.outcome import Broken, Credential, Received, Sink
from ledgerframes.transport.recording import Way
from ledgerframes.transport.request import Prepared
from ledgerframes.transport.stopping import Stop
from ledgerframes.waiting import Coming, in_background

#: Seconds that Ctrl-C waits for the request under way to end.
_LEAVING: Final = 1.0


class Interruptible:
    """Another way, for a main thread that a signal may interrupt.

    An exception from a signal between two instructions of a request would leave its connection open and nobody's; in
    httpcore, which speaks to proxies of SOCKS, it would leave a lock held, and the next request would wait for ever.

    Args:
        way: what sends.
    """

    def __init__(self, way: Way) -> None:
        self._way = way

    def send(
        self,
        prepared: Prepared,
        credential: Credential | None,
        *,
        seconds: float,
        stop: Stop,
        sink: Sink | None = None,
    ) -> Received | Broken:
        """One attempt; see `Way`."""
        if threading.current_thread() is not threading.main_thread():
            return self._way.send(prepared, credential, seconds=seconds, stop=stop, sink=sink)
        ending = Stop(stop)
        send = partial(self._way.send, prepared, credential, seconds=seconds, stop=ending, sink=sink)
        coming: Coming[Received | Broken] | None = None
        try:
            coming = in_background(send, "ledgerframes-request")
            return coming.result()
        except BaseException:
            ending.set()
            if coming is not None:
                coming.wait(_LEAVING)
            raise

    def close(self) -> None:
        """Close every connection."""
        self._way.close()
