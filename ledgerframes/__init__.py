"""A distributed ledger's four HTTP interfaces as pandas DataFrames, a Parquet lake and charts.

Start with `net = lf.sandbox()` or `net = lf.connect(scan_url=...)`, then `lf.load_history(net, limit=1000)`.
"""

import ast
from importlib import import_module
from pathlib import Path
from typing import Any

from ledgerframes.version import __version__ as __version__

_STUB = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
_MODULES = {
    name.name: node.module
    for node in _STUB.body
    if isinstance(node, ast.ImportFrom) and node.module is not None
    for name in node.names
}
#: Modules that every session needs are imported at once, the rest on first access.
_AT_ONCE = ("ledgerframes.errors", "ledgerframes.network", "ledgerframes.embedded")

__all__ = sorted(_MODULES)  # noqa: PLE0605 - written once, in the stub


def __getattr__(name: str) -> Any:
    """Import a public name on first access."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = _MODULES[name]
    value = import_module(f"{module}.{name}") if module == __name__ else getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names alone."""
    return list(__all__)


# Importing a module sets its name here, once; these names are functions.
for _name in ("export", "models", "sandbox", "tables"):
    import_module(f"ledgerframes.{_name}")
    globals().pop(_name, None)  # a reload imports none of them again

for _name, _module in _MODULES.items():
    if _module in _AT_ONCE:
        globals()[_name] = getattr(import_module(_module), _name)
