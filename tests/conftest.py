"""Networks that many tests read, and how Hypothesis and the collector of cycles run."""

import gc
import json
import logging
import sys
from collections import Counter

import pytest
from hypothesis import settings

import ledgerframes as lf
from ledgerframes.sandbox.generator.generate import generate
from ledgerframes.sandbox.world.calendar import updates_of_days
from tests.cli.conftest import command as command  # noqa: PLC0414 - a fixture
from tests.cli.conftest import surroundings as surroundings  # noqa: PLC0414 - a fixture
from tests.replay import captures as captures  # noqa: PLC0414 - a fixture

# The worlds of a session live long, and the collector of cycles would look at them again and again: with Python's
# threshold of 700 that is a seventh of the processor time.
gc.set_threshold(10_000, 10, 10)

# An example takes as long as a busy machine lets it; its default deadline is 0.2 s of wall time.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")


@pytest.hookimpl(tryfirst=True)  # before pytest looks at the marks
def pytest_collection_modifyitems(items):
    """`long(quick=N)` leaves the first N parameters of a test in `make test`."""
    counted = Counter()
    for item in items:
        mark = item.get_closest_marker("long")
        if mark is None or not mark.kwargs:
            continue
        place = item.nodeid.split("[")[0]
        counted[place] += 1
        if counted[place] <= mark.kwargs["quick"]:
            item.own_markers = [other for other in item.own_markers if other is not mark]


def _served(seed=7, **options):
    """A fixture: a network that many tests read, and none changes."""

    @pytest.fixture(scope="session")
    def network():
        with lf.sandbox(seed=seed, **options) as served:
            yield served

    return network


def _whole(name):
    """A fixture: the whole history of such a network, with exact amounts."""

    @pytest.fixture(scope="session")
    def history(request):
        served = request.getfixturevalue(name)
        return lf.load_history(served, start="begin", as_="arrow", progress=False, decimals="exact")

    return history


net, exact_history = _served(updates=2_000), _whole("net")
#: Three migrations, each of which goes on while the next ones have begun.
hour = _served(updates=600)
#: The same in fewer updates.
small = _served(seed=5, updates=240)
#: Everything that the economy knows, a vote for the second version of rewards too.
switched, switched_history = _served(days=12, reward_version="switch"), _whole("switched")
#: Apps are rewarded by coupons of rounds, as networks had it at first.
twelve_days, twelve_days_history = _served(days=12), _whole("twelve_days")


@pytest.fixture(scope="session")
def hour_history(hour):
    """The whole history of `hour` as frames."""
    return lf.load_history(hour, start="begin", progress=False)


@pytest.fixture(scope="session")
def filled(hour, tmp_path_factory):
    """A store of it, and a snapshot with amounts; read only."""
    store = lf.open_store(tmp_path_factory.mktemp("filled") / "lake")
    store.sync(hour, workers=2, page_size=200, progress=False)
    store.sync(hour, tables=["instruments"], progress=False)
    return store


@pytest.fixture(scope="session")
def world(hour, hour_history, filled):
    """A network, its history, and a lake of it."""
    return hour, hour_history, filled


@pytest.fixture
def store(tmp_path):
    return lf.open_store(tmp_path / "lake")


@pytest.fixture(scope="session")
def truth(net):
    """The items of `net`, in the server's order."""
    return list(net.sandbox.world.items())


@pytest.fixture(scope="session")
def economy():
    """A day with everything that the economy knows and votes of every outcome; read only.

    In its middle apps change to the second version of rewards.
    """
    return generate(5, updates_of_days(1), days=1, reward_version="switch")


@pytest.fixture(scope="session")
def voted(economy):
    """Its transactions that a scan shows."""
    return [item for item in map(json.loads, (one.rendered for one in economy.updates)) if "events_by_id" in item]


@pytest.fixture(autouse=True)
def logger_as_before():
    """The command line sets the level of the package's logger."""
    logger = logging.getLogger("ledgerframes")
    level = logger.level
    yield
    logger.setLevel(level)


@pytest.fixture(autouse=True)
def closed_figures():
    """What a test drew does not stay open, as matplotlib warns of more than twenty figures."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
