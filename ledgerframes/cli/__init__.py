"""The command line: `ledgerframes`, the same words as the Python functions."""

from ledgerframes.cli import (  # noqa: F401 - each adds its commands
    catalogue,
    doctor,
    lake,
    load,
    plots,
    profile,
    questions,
    report,
    verification,
)
from ledgerframes.cli.app import app, main
from ledgerframes.cli.help import arrange

arrange(app)

__all__ = ["app", "main"]
