"""Charts drawn by plotly, for a browser: one function per kind of content."""
