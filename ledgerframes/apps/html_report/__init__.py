"""One self-contained HTML page about a ledger: tables, pictures, coverage and where all of it comes from."""
