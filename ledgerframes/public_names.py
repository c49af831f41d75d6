"""`by_stub`: the public names of a package or module, as its stub lists them, each imported when it is first used."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def by_stub(package: str, file: str) -> tuple[dict[str, str], list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Read the stub of a package or module and return the parts of its lazy imports.

    Args:
        package: its name.
        file: its `__file__`; the stub is next to it.

    Returns:
        The module of each name, `__all__`, `__getattr__` and `__dir__`.
    """
    modules = {
        name.name: node.module
        for node in ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom) and node.module is not None
        for name in node.names
    }

    def first_used(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = modules[name]
        value = import_module(f"{module}.{name}") if module == package else getattr(import_module(module), name)
        setattr(sys.modules[package], name, value)
        return value

    return modules, sorted(modules), first_used, lambda: sorted(modules)
