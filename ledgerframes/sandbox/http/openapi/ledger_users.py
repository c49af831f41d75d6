"""The ledger interface's users and their rights in the OpenAPI document (contract: Resources, User and Right)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ledgerframes.sandbox.http.openapi.shapes import Schema, boolean, mapping, record, ref, text, value_of, variant

_ID: Final[Schema] = {"minLength": 1, "maxLength": 128, "pattern": r"^[A-Za-z0-9@^$.!`\-#+'~_|:()]+$"}
_ABOUT_PARTY: Final = value_of(record(needs={"party": text()}))
_ALONE: Final = value_of({"type": "object"})
_PARTYLESS: Final = ("CanExecuteAsAnyParty", "CanReadAsAnyParty", "IdentityProviderAdmin", "ParticipantAdmin")
_MAY: Final = {
    "primaryParty": text("Whom the user acts and reads as unless it says otherwise."),
    "isDeactivated": boolean("Denied everywhere."),
    "identityProviderId": text("Empty for the default one."),
    "primaryPartyAuthentication": boolean(),
}

SHAPES: Final[Mapping[str, Schema]] = MappingProxyType(
    {
        "ObjectMeta": record(
            needs={},
            may={"resourceVersion": text("The server sets it."), "annotations": mapping(text(minLength=1))},
        ),
        "User": record(needs={"id": text(**_ID)}, may={**_MAY, "metadata": ref("ObjectMeta")}),
        "Right": record(
            needs={
                "kind": variant(
                    {
                        **dict.fromkeys(("CanActAs", "CanExecuteAs", "CanReadAs"), _ABOUT_PARTY),
                        **dict.fromkeys(
                            ("CanExecuteAsAnyParty", "CanReadAsAnyParty", "IdentityProviderAdmin", "ParticipantAdmin"),
                            _ALONE,
                        ),
                        "Empty": {"type": "object"},
                    }
                )
            }
        ),
    }
)
