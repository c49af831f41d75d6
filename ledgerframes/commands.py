"""The building blocks of commands to the ledger interface, in one place: `lf.commands`.

Commands create contracts, exercise choices and move contracts between synchronizers; formats choose which events an
answer shows; rights are a user's permissions. `net.ledger` takes them: `submit_and_wait_for_transaction_tree`,
`submit_reassignment`, `create_user` (contract: Endpoints, Ledger interface).

Example:
    >>> import ledgerframes as lf
    >>> lf.commands.CanActAs("alice::1220").party
    'alice::1220'
"""

from ledgerframes.interfaces.commands import (
    AssignCommand,
    CreateAndExerciseCommand,
    CreateCommand,
    DeduplicationDuration,
    DeduplicationOffset,
    DisclosedContract,
    Duration,
    EmptyCommand,
    EmptyDeduplication,
    ExerciseByKeyCommand,
    ExerciseCommand,
    PrefetchContractKey,
    UnassignCommand,
)
from ledgerframes.interfaces.event_formats import (
    EmptyFilter,
    EventFormat,
    Filters,
    InterfaceFilter,
    TemplateFilter,
    TransactionFormat,
    WildcardFilter,
)
from ledgerframes.interfaces.users import (
    CanActAs,
    CanActAsAnyParty,
    CanExecuteAs,
    CanExecuteAsAnyParty,
    CanReadAs,
    CanReadAsAnyParty,
    EmptyRight,
    IdentityProviderAdmin,
    ObjectMeta,
    OtherRight,
    ParticipantAdmin,
    User,
)

__all__ = [
    "AssignCommand",
    "CanActAs",
    "CanActAsAnyParty",
    "CanExecuteAs",
    "CanExecuteAsAnyParty",
    "CanReadAs",
    "CanReadAsAnyParty",
    "CreateAndExerciseCommand",
    "CreateCommand",
    "DeduplicationDuration",
    "DeduplicationOffset",
    "DisclosedContract",
    "Duration",
    "EmptyCommand",
    "EmptyDeduplication",
    "EmptyFilter",
    "EmptyRight",
    "EventFormat",
    "ExerciseByKeyCommand",
    "ExerciseCommand",
    "Filters",
    "IdentityProviderAdmin",
    "InterfaceFilter",
    "ObjectMeta",
    "OtherRight",
    "ParticipantAdmin",
    "PrefetchContractKey",
    "TemplateFilter",
    "TransactionFormat",
    "UnassignCommand",
    "User",
    "WildcardFilter",
]
