"""Carries out commands on a made-up ledger, under the ledger's rules."""
