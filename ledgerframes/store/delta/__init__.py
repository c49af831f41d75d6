"""One Delta table of a store: its files, checksums and commits."""
