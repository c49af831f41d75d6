"""`unknown_movers`: stored events that may move coin or resemble a reward, but that no model knows; syncs call it."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import pyarrow as pa

from ledgerframes.models.engine import Engine
from ledgerframes.models.inputs import inputs_of
from ledgerframes.models.ledger_frames import filled
from ledgerframes.tables.history import EVENTS

_MODELS: Final = ("unknown_reward_templates", "unknown_rules_choices", "unknown_coin_choices")


@lru_cache
def unknown_movers(seen: frozenset[tuple[str | None, str | None]]) -> tuple[str, ...]:
    """The templates, or templates with a choice, that no model knows.

    One sync sees much the same as the next, and three models take longer than a short sync.

    Args:
        seen: templates as `Module:Entity`, each with a choice, or None for creates.
    """
    pairs = sorted(seen, key=str)
    kinds = ["created_event" if choice is None else "exercised_event" for _, choice in pairs]
    columns = [[template for template, _ in pairs], [choice for _, choice in pairs], kinds]
    named = pa.table([pa.array(cells, pa.string()) for cells in columns], ["template_name", "choice", "event_type"])
    with Engine(inputs_of(filled(named, EVENTS)).gives) as engine:
        return tuple(sorted({name for model in _MODELS for name in engine.unread(model)}))
