"""Lets an interface ask one of its servers only; scan and ledger use it, whose page tokens belong to one server."""

from __future__ import annotations

from copy import copy
from typing import Self

from ledgerframes.interfaces.calls import Runner


class OneServerCalls(Runner):
    """Base of the interfaces whose page tokens belong to the server that gave them."""

    @property
    def servers(self) -> tuple[str, ...]:
        """The interface's base URLs, the one that worked last first."""
        return self._sender.servers(self.interface)

    def on(self, server: str) -> Self:
        """The same interface, asking one of its servers only: its page tokens mean nothing to the others.

        Args:
            server: one of `servers`.

        Returns:
            A copy; this one still asks every server.
        """
        twin = copy(self)
        twin._sender = self._sender.on(server)  # noqa: SLF001 - its own
        return twin
