"""The four interfaces over a made-up ledger, as Starlette routes."""
