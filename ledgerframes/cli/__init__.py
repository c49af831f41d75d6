"""The command line: `ledgerframes`, the same words as the Python functions."""

from ledgerframes.cli.app import main

__all__ = ["main"]
