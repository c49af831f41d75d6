"""All 20 endpoints of the contract with the call that sends each; the reference's table and tests are made from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ledgerframes.errors import InputError
from ledgerframes.interfaces.calls import calls_of
from ledgerframes.interfaces.ledger import Ledger
from ledgerframes.interfaces.registry import Registry
from ledgerframes.interfaces.scan import Scan
from ledgerframes.interfaces.validator import Validator
from ledgerframes.tables.catalogue import CATALOGUE
from ledgerframes.transport import Endpoint

_MARKS: Final = ("<!-- endpoints -->", "<!-- /endpoints -->")


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


def endpoints_text() -> str:
    """The reference's table of endpoints as Markdown: the contract's first."""
    lines = ["| endpoint | call | table |", "|---|---|---|"]
    for served in (*CALLS, *NEIGHBOURS):
        filled = [f"`{table.name}`" for table in CATALOGUE.values() if served.name in table.endpoints]
        lines.append(f"| `{served.name}` | `net.{served.call}` | {', '.join(filled)} |")
    return "\n".join(lines)


def with_endpoints(text: str) -> str:
    """A document with its table of endpoints, between the marks, made again.

    Raises:
        InputError: the marks are not there.
    """
    before, opening, rest = text.partition(_MARKS[0])
    _, closing, after = rest.partition(_MARKS[1])
    if not closing:
        raise InputError(f"the document has no marks {_MARKS[0]} and {_MARKS[1]} to put the table between")
    return f"{before}{opening}\n{endpoints_text()}\n{closing}{after}"
