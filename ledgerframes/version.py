"""The release's number, below every layer, so that everything that writes a file can state it."""

__version__ = "0.2.0"
