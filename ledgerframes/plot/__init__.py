"""Charts: `lf.plot.rewards(history)` and others, each from the frame it draws, a History or a Store.

Every chart takes `backend="matplotlib" | "plotly"`, `ax=` and `title=`, and returns the Axes or the figure; nothing is
shown or saved. Ids are drawn by their aliases or hints, in colours that are derived from the id.
"""

from ledgerframes.public_names import by_stub

_, __all__, __getattr__, __dir__ = by_stub(__name__, __file__)
