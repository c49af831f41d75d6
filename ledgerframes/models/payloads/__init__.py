"""Payloads of templates as typed columns: `expand`, and how it reads JSON."""
