"""Prints constraints for the oldest versions that pyproject allows; `make test-oldest` installs them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

TOOLS = {"coverage", "dev", "docs", "fuzz", "interop", "release"}  # what only tests use stays as constrained


def oldest(project: dict) -> list[str]:
    """A line `name==version` for every dependency and every dependency of an extra."""
    extras = project["optional-dependencies"]
    asked = [*project["dependencies"], *(one for name, of in extras.items() if name not in TOOLS for one in of)]
    form = re.compile(r"([\w-]+)(?:\[[\w,]+\])?>=([\d.]+)(?:,<[\d.]+)?")
    bounds = [form.fullmatch(one) for one in asked if "ledgerframes" not in one]
    return sorted(f"{bound[1]}=={bound[2]}" for bound in bounds)


if __name__ == "__main__":
    print("\n".join(oldest(tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"])))
