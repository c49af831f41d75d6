"""The `load_*` functions: from a network to frames in memory, one file a subject."""
