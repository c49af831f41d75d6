"""The folder of official files, and one conversation with a sandbox of each release."""

import pytest

from ledgerframes.sandbox.server import start
from tests.official.conversations import conversation, short_conversation
from tests.official.interface_files import official as official  # noqa: PLC0414 - a fixture


@pytest.fixture(scope="session")
def turns(official):
    """What goes over the wire with the releases that the sandbox has."""
    assert official
    with start(seed=7, updates=200) as sandbox:
        found = conversation(sandbox)
        for options in ({"release": "3.6"}, {"older": True}):
            with sandbox.replica(**options) as release:
                found += short_conversation(release)
    return found
