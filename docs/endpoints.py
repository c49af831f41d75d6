"""Writes the table of endpoints in the reference, between its marks: `python -m docs.endpoints`."""

from pathlib import Path

from ledgerframes.interfaces.catalogue import CALLS, NEIGHBOURS
from ledgerframes.tables.catalogue import CATALOGUE

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "endpoints.md"
MARKS = ("<!-- endpoints -->", "<!-- /endpoints -->")


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
