"""Every template as commands meet it, by `Module:Entity`; batches look them up here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ledgerframes.sandbox.commands.coin_model import COIN_MODEL, COIN_RULES_MODEL, LOCKED_COIN_MODEL, PREAPPROVAL_MODEL
from ledgerframes.sandbox.commands.command_context import Model
from ledgerframes.sandbox.commands.iou_model import BATCH_MODEL, IOU_MODEL
from ledgerframes.sandbox.commands.offer_model import (
    ACCEPTED_OFFER_MODEL,
    NAME_ENTRY_MODEL,
    NAME_RULES_MODEL,
    OFFER_MODEL,
)
from ledgerframes.sandbox.world.templates import TEMPLATES

_WITH_CHOICES: Final = (
    COIN_MODEL, LOCKED_COIN_MODEL, PREAPPROVAL_MODEL, COIN_RULES_MODEL, IOU_MODEL, BATCH_MODEL, OFFER_MODEL,
    ACCEPTED_OFFER_MODEL, NAME_RULES_MODEL, NAME_ENTRY_MODEL,
)  # fmt: skip

# The organization that runs the ledger signs everything else; such a contract ends by its choice Archive alone.
MODELS: Final[Mapping[str, Model]] = MappingProxyType(
    {template.entity: Model(template, signatories=lambda payload: (payload["dso"],)) for template in TEMPLATES}
    | {model.template.entity: model for model in _WITH_CHOICES}
)
