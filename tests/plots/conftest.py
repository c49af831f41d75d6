"""Pictures are drawn without a screen; each test must leave matplotlib as it found it."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from ledgerframes.plots.drawing.session_hues import SESSION

mpl.use("Agg")


@pytest.fixture(autouse=True)
def drawing(monkeypatch):
    """Figures are closed, settings are as before, no name has a colour or an alias yet, and nothing was shown."""
    before = dict(mpl.rcParams)
    monkeypatch.setattr(SESSION, "_places", {})

    def shown(*_args, **_options):
        raise AssertionError("a picture called pyplot.show")

    monkeypatch.setattr(plt, "show", shown)
    yield
    plt.close("all")
    assert dict(mpl.rcParams) == before
