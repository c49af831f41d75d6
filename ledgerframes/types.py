"""The classes of functions' results, for annotations and `isinstance`: `lf.types.History` and others."""

from ledgerframes.public_names import by_stub

_, __all__, __getattr__, __dir__ = by_stub(__name__, __file__)
