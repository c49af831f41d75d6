"""The readers of a store: frames, SQL, Dask and exports, never more than all tables cover."""
