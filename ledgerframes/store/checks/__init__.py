"""What can be proved of a store, and mended: `check`, `verify`, `repair`, `compact`."""
