"""Decodes the bytes of an answer to Arrow tables, by the declarations in `ledgerframes.tables`, without loss."""
