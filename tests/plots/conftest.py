"""Charts are drawn without a screen; each test must leave matplotlib as it found it."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

mpl.use("Agg")


@pytest.fixture(autouse=True)
def drawing(monkeypatch):
    """Figures are closed, settings are as before, and nothing was shown."""
    before = dict(mpl.rcParams)

    def shown(*_args, **_options):
        raise AssertionError("a chart called pyplot.show")

    monkeypatch.setattr(plt, "show", shown)
    yield
    plt.close("all")
    assert dict(mpl.rcParams) == before
