"""What a store's callers see: frames, SQL, Dask and exports, never more than all tables cover."""
