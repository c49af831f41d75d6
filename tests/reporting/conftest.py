"""The command line, as its own tests run it."""

from tests.cli.conftest import command, surroundings

__all__ = ["command", "surroundings"]
