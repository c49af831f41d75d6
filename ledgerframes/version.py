"""The release's number, below every layer, so that whatever writes a file can say it."""

__version__ = "0.2.0"
