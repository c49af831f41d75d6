"""Invents a made-up ledger's history from a seed."""
