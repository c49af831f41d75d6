"""One self-contained HTML page about a ledger: tables, charts, coverage and where all of it comes from."""
