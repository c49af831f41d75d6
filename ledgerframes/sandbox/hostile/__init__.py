"""A ledger of the nastiest legal data."""
