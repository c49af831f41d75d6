"""The state of a made-up ledger: updates, contracts, coins, users and packages, at any time."""
