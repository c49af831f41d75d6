"""Chooses the decoder of pages of updates: the compiled one, or the Python path if that is not available or wanted."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Final

from ledgerframes.decoding.compiled.sources import digest, sources
from ledgerframes.errors import ConfigurationError

VARIABLE: Final = "LEDGERFRAMES_DECODER"
COMPILED: Final = "compiled"
PYTHON: Final = "python"


@dataclass(frozen=True)
class Choice:
    """The decoder in use.

    Attributes:
        name: "compiled" or "python".
        why: why it is not the compiled one.
        advice: the remedy for that, if there is one.
        module: the compiled decoder's module; None if the Python path has to run.
    """

    name: str
    why: str = ""
    advice: str = ""
    module: ModuleType | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return f"{self.name} ({self.why})" if self.why else self.name


def choice() -> Choice:
    """Choose the decoder, by `LEDGERFRAMES_DECODER` and by what was built.

    Raises:
        ConfigurationError: the variable is neither "compiled" nor "python", or names a decoder that is not available.
    """
    wanted = os.environ.get(VARIABLE, "")
    if wanted not in {"", COMPILED, PYTHON}:
        raise ConfigurationError(f"{VARIABLE}={wanted!r} is not valid: give 'compiled' or 'python', or unset it")
    if wanted == PYTHON:
        return Choice(PYTHON, f"{VARIABLE} asks for it")
    built = _built()
    if built.module is None and wanted == COMPILED:
        raise ConfigurationError(f"{VARIABLE}={wanted!r} is not possible: {built.why}; {built.advice}")
    return built


@cache
def _built() -> Choice:
    """The extension, or the reason why it is not usable."""
    try:
        module = import_module("ledgerframes.decoding.compiled._decoder")
    except ImportError as error:
        why = "the compiled decoder was not built" if isinstance(error, ModuleNotFoundError) else str(error)
        return Choice(PYTHON, why, "reinstall it with a C++ compiler available, for several times the speed")
    folder = Path(__file__).parent
    # In a checkout the sources are next to the module, and may have changed since.
    if not sources(folder) or digest(folder) == module.SOURCES:
        return Choice(COMPILED, module=module)
    stale = Choice(PYTHON, "the compiled decoder was built from other sources", "run `make setup`")
    warnings.warn(f"{stale.why}, so it is not used: {stale.advice}", RuntimeWarning, stacklevel=2)
    return stale
