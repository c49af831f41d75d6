"""The state of a simulated ledger: updates, contracts, coins, users and packages, at any time."""
