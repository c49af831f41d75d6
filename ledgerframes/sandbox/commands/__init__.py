"""Carries out commands on a simulated ledger, under the ledger's rules."""
