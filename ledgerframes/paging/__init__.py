"""From an answer, what to ask next; knows no HTTP, so that every case can be tried without a server."""
