"""One self-contained HTML page about a ledger: tables, charts, coverage and the origin of the data."""
