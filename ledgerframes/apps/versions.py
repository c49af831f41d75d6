"""`versions`: the installed packages, and the decoder in use; for bug reports."""

from __future__ import annotations

import platform
from contextlib import suppress
from importlib import metadata
from typing import Final

from ledgerframes.decoding.pages import choice
from ledgerframes.version import __version__

#: Required packages, and optional ones that are used if installed.
_LIBRARIES: Final = (
    *("pandas", "pyarrow", "httpx", "urllib3", "msgspec", "deltalake", "matplotlib", "numpy"),
    *("duckdb", "polars", "dask", "isal", "plotly", "xlsxwriter"),
)


def versions() -> dict[str, str]:
    """Versions of the package, Python and the libraries, and which decoder of pages runs.

    Returns:
        Texts by name: `ledgerframes`; `decoder`, "compiled" or "python", with the reason; `python`; `system`; then
        every library that is installed.

    Raises:
        ConfigurationError: `LEDGERFRAMES_DECODER` is not valid.

    Example:
        >>> import ledgerframes as lf
        >>> lf.versions()["decoder"].split()[0] in {"compiled", "python"}
        True
    """
    numbers = {
        "ledgerframes": __version__,
        "decoder": str(choice()),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
    }
    for name in _LIBRARIES:
        with suppress(metadata.PackageNotFoundError):
            numbers[name] = metadata.version(name)
    return numbers
