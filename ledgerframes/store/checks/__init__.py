"""Checking and repairing a store: `check`, `verify`, `repair`, `compact`."""
