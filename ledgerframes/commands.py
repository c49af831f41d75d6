"""The building blocks of commands to the ledger interface, in one place: `lf.commands`.

Commands create contracts, exercise choices and move contracts between synchronizers; formats choose which events an
answer shows; rights are a user's permissions. `net.ledger` takes them: `submit_and_wait_for_transaction_tree`,
`submit_reassignment`, `create_user` (contract: Endpoints, Ledger interface).

Example:
    >>> import ledgerframes as lf
    >>> lf.commands.CanActAs("alice::1220").party
    'alice::1220'
"""

from ledgerframes.public_names import by_stub

_, __all__, __getattr__, __dir__ = by_stub(__name__, __file__)
