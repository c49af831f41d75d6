"""The four interfaces over a simulated ledger, as Starlette routes."""
