"""Charts drawn by matplotlib: one function per kind of content."""
