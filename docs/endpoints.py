"""Lists each endpoint with its call, for tests too, and writes the reference of them: `python -m docs.endpoints`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ledgerframes.interfaces.calls import calls_of
from ledgerframes.interfaces.ledger import Ledger
from ledgerframes.interfaces.registry import Registry
from ledgerframes.interfaces.scan import Scan
from ledgerframes.interfaces.validator import Validator
from ledgerframes.tables.catalogue import CATALOGUE
from ledgerframes.transport import Endpoint

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "endpoints.md"
MARKS = ("<!-- endpoints -->", "<!-- /endpoints -->")


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


#: The 20 endpoints of the contract.
CALLS: Final = _served(neighbours=False)
#: Further endpoints of the same servers, in addition to the contract's.
NEIGHBOURS: Final = _served(neighbours=True)


def page() -> str:
    """The page with its table made again: the contract's endpoints first."""
    before, rest = PAGE.read_text(encoding="utf-8").split(MARKS[0])
    _, after = rest.split(MARKS[1])
    lines = ["| endpoint | call | table |", "|---|---|---|"]
    for served in (*CALLS, *NEIGHBOURS):
        filled = [f"`{table.name}`" for table in CATALOGUE.values() if served.name in table.endpoints]
        lines.append(f"| `{served.name}` | `net.{served.call}` | {', '.join(filled)} |")
    return "\n".join([f"{before}{MARKS[0]}", *lines, f"{MARKS[1]}{after}"])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
