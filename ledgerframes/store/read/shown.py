"""`store_html`: the representation of a store in notebooks."""

from __future__ import annotations

import pandas as pd

from ledgerframes.results import html_table


def store_html(place: str, tables: pd.DataFrame, covered: pd.DataFrame) -> str:
    """The stored tables and the covered ranges as HTML tables."""
    columns = (tables["table"], tables["rows"], tables["bytes"])
    sizes = [(name, f"{rows:,}", f"{size / 1e6:,.1f}") for name, rows, size in zip(*columns, strict=True)]
    ranges = [
        (str(migration_id), _to_the_minute(after, "its beginning"), _to_the_minute(up_to, "its end"))
        for migration_id, after, up_to in zip(covered["migration_id"], covered["after"], covered["up_to"], strict=True)
    ]
    return html_table(f"Store {place}", ("table", "rows", "MB"), sizes) + html_table(
        "covered, in record time (UTC)", ("migration", "after", "up to"), ranges
    )


def _to_the_minute(moment: pd.Timestamp, absent: str) -> str:
    return absent if pd.isna(moment) else f"{moment:%Y-%m-%d %H:%M}"
