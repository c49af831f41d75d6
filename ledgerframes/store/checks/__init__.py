"""Checking and mending a store: `check`, `verify`, `repair`, `compact`."""
