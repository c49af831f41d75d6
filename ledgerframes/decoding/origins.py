"""What a frame says of where it came from, in any of its forms; loaders and exports ask it."""

from __future__ import annotations

import json
from typing import Any


def origin_of(frame: Any) -> dict[str, Any]:
    """The provenance that a loader or a store gave a frame; nothing where it cannot say, as in polars.

    Args:
        frame: of pandas, or an Arrow table, batch, reader or dataset.
    """
    attrs = getattr(frame, "attrs", None)
    if isinstance(attrs, dict):
        return attrs
    metadata = getattr(getattr(frame, "schema", None), "metadata", None)
    try:
        found = json.loads((metadata or {}).get(b"ledgerframes", b"{}"))
    except (AttributeError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
