"""The same pictures for a browser, drawn by plotly from what matplotlib would draw."""
