"""How events, payloads and results are read for the tables of the economy."""
