"""Every template as commands meet it, by `Module:Entity`; batches look them up here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ledgerframes.sandbox.commands.coin_model import COIN_MODEL, COIN_RULES_MODEL
from ledgerframes.sandbox.commands.command_context import Model
from ledgerframes.sandbox.commands.iou_model import IOU_MODEL
from ledgerframes.sandbox.world.templates import TEMPLATES

_WITH_CHOICES: Final = (COIN_MODEL, COIN_RULES_MODEL, IOU_MODEL)

# Commands create nothing else; such a contract ends by its choice Archive alone, with its signatories' consent.
MODELS: Final[Mapping[str, Model]] = MappingProxyType(
    {template.entity: Model(template, signatories=lambda payload: (payload["dso"],)) for template in TEMPLATES}
    | {model.template.entity: model for model in _WITH_CHOICES}
)
