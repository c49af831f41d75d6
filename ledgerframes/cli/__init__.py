"""The command line: `ledgerframes`, the same words as the Python functions."""

from ledgerframes.cli import care, charts, lake, load, profile, tables  # noqa: F401 - each adds commands
from ledgerframes.cli.app import app, main
from ledgerframes.cli.help import arrange

arrange(app)

__all__ = ["app", "main"]
