"""The typed calls, one file an interface: one request out, one typed answer in."""
