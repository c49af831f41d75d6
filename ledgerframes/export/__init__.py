"""Tables out to files that other programs read: Parquet, CSV and workbooks; `exporting` is the entrance."""
