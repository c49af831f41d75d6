"""All 20 endpoints of the contract with the call that sends each; `doctor`, the reference and tests use it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ledgerframes.interfaces.calls import calls_of
from ledgerframes.interfaces.ledger import Ledger
from ledgerframes.interfaces.registry import Registry
from ledgerframes.interfaces.scan import Scan
from ledgerframes.interfaces.validator import Validator
from ledgerframes.transport import Endpoint


@dataclass(frozen=True)
class Served:
    """An endpoint and the call that sends it."""

    endpoint: Endpoint
    call: str

    @property
    def name(self) -> str:
        """Method and path, as tables name their endpoints."""
        return f"{self.endpoint.method} {self.endpoint.path}"


def _served(*, neighbours: bool) -> tuple[Served, ...]:
    calls = ((kind, getattr(kind, name)) for kind in (Ledger, Scan, Validator, Registry) for name in calls_of(kind))
    return tuple(
        Served(call.endpoint, f"{kind.interface}.{call.__name__}")
        for kind, call in calls
        if call.endpoint is not None and call.neighbour == neighbours
    )


CALLS: Final = _served(neighbours=False)
#: Further endpoints of the same servers, in addition to the contract's.
NEIGHBOURS: Final = _served(neighbours=True)
