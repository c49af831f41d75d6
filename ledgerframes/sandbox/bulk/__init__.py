"""A scan with millions of updates, served by a process of its own."""
