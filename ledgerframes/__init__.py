"""A distributed ledger's four HTTP interfaces as pandas DataFrames, a Parquet lake and pictures.

Start with `net = lf.sandbox()` or `net = lf.connect(scan_url=...)`, then `lf.load_history(net, limit=1000)`.
"""

import ast
from importlib import import_module
from pathlib import Path
from typing import Any

# Modules that share their name with a public name are imported first, so that the functions stay on top.
import ledgerframes.commands
import ledgerframes.sandbox
import ledgerframes.tables  # noqa: F401
from ledgerframes.version import __version__ as __version__

_STUB = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
_MODULES = {
    name.name: node.module
    for node in _STUB.body
    if isinstance(node, ast.ImportFrom) and node.module is not None
    for name in node.names
}
#: What a session may never need is imported when it is first asked for.
_LATER = tuple(f"ledgerframes.{folder}." for folder in ("apps", "economics", "export", "plots", "store"))

__all__ = sorted(_MODULES)  # noqa: PLE0605 - written once, in the stub


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return value


def __dir__() -> list[str]:
    """The public names alone."""
    return list(__all__)


for _name, _module in _MODULES.items():
    if not _module.startswith(_LATER):
        globals()[_name] = getattr(import_module(_module), _name)
