"""Invents a simulated ledger's history from a seed."""
