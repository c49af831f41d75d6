"""Computed tables: one SQL file per table, run by DuckDB over frames, Parquet or a lake."""
