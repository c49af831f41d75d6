"""From the bytes of an answer to Arrow tables, by the schemas declared in `ledgerframes.tables`, losing nothing."""
