"""Exported stars as tests read them: with DuckDB, by the relations that `model.json` names."""

import json

import duckdb


def exported(store, folder, **options):
    """Its star, with exact amounts."""
    store.export(folder, model="star", profile="exact", **options)
    return Exported(folder)


class Exported:
    """A star on disk."""

    def __init__(self, folder):
        self.folder = folder
        self.model = json.loads((folder / "model.json").read_text(encoding="utf-8"))
        self.names = [table["name"] for table in self.model["tables"]]
        self.database = duckdb.connect()
        for name in self.names:
            self.database.sql(f"create view {name} as from '{folder}/{name}.parquet'")

    def ask(self, query):
        """The rows of a query over the tables."""
        return self.database.sql(query).fetchall()

    def one(self, query):
        [[value]] = self.ask(query)
        return value

    def without_row(self):
        """How many rows name a key that its dimension lacks, by relation; those that lack none are left out."""
        lost = {}
        for relation in self.model["relations"]:
            table, column, to, to_column = (relation[name] for name in ("table", "column", "to", "to_column"))
            lost[f"{table}.{column}"] = self.one(
                f"select count(*) from {table} as many anti join {to} as one on many.{column} = one.{to_column}"
                f" where many.{column} is not null"
            )
        return {name: count for name, count in lost.items() if count}
