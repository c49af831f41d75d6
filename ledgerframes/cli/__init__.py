"""The command line: `ledgerframes`, the same words as the Python functions."""

from ledgerframes.cli import catalogue, doctor, lake, load, profile, report, trust  # noqa: F401 - they add their commands
from ledgerframes.cli.app import app, main

__all__ = ["app", "main"]
