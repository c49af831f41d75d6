"""Exported stars as tests read them: with DuckDB, by the relations that `model.json` names."""

import json
from hashlib import sha256

import duckdb


class Exported:
    """A star on disk."""

    def __init__(self, folder):
        self.folder = folder
        self.model = json.loads((folder / "model.json").read_text(encoding="utf-8"))
        self.database = duckdb.connect()
        for name in self.names:
            self.database.sql(f"create view {name} as from '{folder}/{name}.parquet'")

    @property
    def names(self):
        return [table["name"] for table in self.model["tables"]]

    def ask(self, query):
        """The rows of a query over the tables."""
        return self.database.sql(query).fetchall()

    def one(self, query):
        [[value]] = self.ask(query)
        return value


def key_of(text):
    """The key of a natural key, as the documentation defines it."""
    return int.from_bytes(sha256(text.encode()).digest()[:8]) >> 1


def without_row(star):
    """How many rows name a key that its dimension lacks, by relation; those that lack none are left out."""
    found = {}
    for relation in star.model["relations"]:
        table, column, to, to_column = (relation[name] for name in ("table", "column", "to", "to_column"))
        lost = star.one(
            f"select count(*) from {table} as many anti join {to} as one on many.{column} = one.{to_column}"
            f" where many.{column} is not null"
        )
        if lost:
            found[f"{table}.{column}"] = lost
    return found


def repeated(star):
    """How many rows share their key with another, by table."""
    found = {}
    for table in star.model["tables"]:
        key = ", ".join(table["key"])
        twice = star.one(f"select count(*) from (select {key} from {table['name']} group by all having count(*) > 1)")
        if twice:
            found[table["name"]] = twice
    return found
