"""A simulated ledger begins as a real one does; `from_beginning` is decided by it."""

from __future__ import annotations

import json

import pytest

from ledgerframes.sandbox.generator.generate import generate
from tests.replay import read_capture


def outline(item):
    """The roots of an update, each with what is below the first levels: type, template, choice, who acts, result."""
    events = item["events_by_id"]

    def told(event_id):
        event = events[event_id]
        entity = event["template_id"].partition(":")[2]
        if event["event_type"] == "created_event":
            return "create", entity, frozenset(event["create_arguments"])
        return "exercise", entity, event["choice"], event["consuming"], event["interface_id"]

    return [(told(root), [told(child) for child in events[root].get("child_event_ids", ())])
            for root in item["root_event_ids"]]  # fmt: skip


@pytest.mark.usefixtures("captures")
def test_the_first_update_alone_bootstraps_the_dso_as_the_networks_own_first_update_does():
    real = outline(read_capture("scan-updates-page").body["transactions"][0])
    texts = [update.rendered for update in generate(7, 400).updates]
    assert [b"DsoBootstrap_Bootstrap" in text for text in texts] == [True] + [False] * 399
    first = json.loads(texts[0])
    made = outline(first)

    created, bootstrapped = made[:2]
    assert [created[0], bootstrapped[0]] == [root for root, _ in real]
    # The real ledger has one super validator then, this one has several; it also keeps prices and node states later.
    later = {"Splice.DSO.AmuletPrice:AmuletPriceVote", "Splice.DSO.SvState:SvStatusReport",
             "Splice.DSO.SvState:SvNodeState"}  # fmt: skip
    assert {child[1] for child in real[1][1]} - later <= {child[1] for child in bootstrapped[1]}
    rounds = "exercise", "Splice.AmuletRules:AmuletRules", "AmuletRules_Bootstrap_Rounds", False, None
    assert rounds in real[1][1]
    assert rounds in bootstrapped[1]
    result = first["events_by_id"][first["root_event_ids"][1]]["exercise_result"]
    assert result == "DsoBootstrap_BootstrapResult", "a plain text, as on the network"
