"""The session's names for parties and synchronizers as columns of an export that asked for them; `shape` adds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pyarrow as pa

from ledgerframes.export.texts import is_text, plain_text

ENDING: Final = "_alias"
#: The columns of our tables that contain ids of parties or synchronizers; a test compares them with real tables.
_IDS: Final = frozenset(
    {
        "beneficiary", "dso", "dso_party_id", "instrument_admin", "owner", "party", "party_id", "primary_party",
        "provider", "receiver", "sender", "source_synchronizer", "sponsor", "submitter", "submitting_party", "sv",
        "synchronizer_id", "target_synchronizer", "validator",
    }
)  # fmt: skip


def has_alias(field: pa.Field) -> bool:
    """Whether a column contains ids for which the session may have names."""
    return field.name in _IDS and is_text(field.type)


def alias_texts(column: pa.Array, names: Mapping[str, str]) -> pa.Array:
    """The name of each id; null if there is none."""
    coded = plain_text(column).dictionary_encode()
    known = pa.array([names.get(identifier) for identifier in coded.dictionary.to_pylist()], pa.string())
    return known.take(coded.indices)
