"""A distributed ledger's four HTTP interfaces as pandas DataFrames, a Parquet lake and charts.

Start with `net = lf.sandbox()` or `net = lf.connect(scan_url=...)`, then `lf.load_history(net, limit=1000)`.
"""

from importlib import import_module

from ledgerframes.public_names import by_stub
from ledgerframes.version import __version__ as __version__

_MODULES, __all__, __getattr__, __dir__ = by_stub(__name__, __file__)
#: Modules that every session needs are imported at once, the rest on first access.
_AT_ONCE = ("ledgerframes.errors", "ledgerframes.network", "ledgerframes.embedded")

# Importing a module sets its name here, once; these names are functions.
for _name in ("export", "models", "sandbox", "tables"):
    import_module(f"ledgerframes.{_name}")
    globals().pop(_name, None)  # a reload imports none of them again

for _name, _module in _MODULES.items():
    if _module in _AT_ONCE:
        globals()[_name] = getattr(import_module(_module), _name)
