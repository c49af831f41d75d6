"""Short ways to a transport and to a hostile server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from hostile_server import Heard, HostileServer, Reply

from ledgerframes.config.settings import Settings
from ledgerframes.transport import Sender, Transport
from tests.clocks import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def serve() -> Iterator[Callable[..., HostileServer]]:
    """Start a server that answers by a script."""
    with ExitStack() as stack:

        def start(*script: Reply, by: Callable[[Heard], Reply] | None = None, **kwargs) -> HostileServer:
            return stack.enter_context(HostileServer(by or script or (Reply(),), **kwargs))

        yield start


@pytest.fixture
def transport(clock: FakeClock) -> Iterator[Callable[..., Sender]]:
    """Make a way to send over a transport; waits are fake, time-outs short."""
    with ExitStack() as stack:

        def make(**settings) -> Sender:
            quick = {"connect_timeout": 2.0, "read_timeout": 2.0, "deadline": 5.0}
            return Sender(stack.enter_context(Transport(Settings(**quick | settings), clock=clock)))

        yield make
