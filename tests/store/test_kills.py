"""Syncs killed at random instants: at the end every row is there exactly once, and no reader ever saw a part."""

import pytest

from tests.store.kills import kill_syncs


@pytest.mark.parametrize(
    ("kills", "updates"), [(12, 500), pytest.param(200, 6_000, marks=pytest.mark.soak)], ids=["short", "long"]
)
def test_killed_syncs_leave_every_row_once(tmp_path, kills, updates):
    assert kill_syncs(tmp_path, kills=kills, updates=updates, seed=5).kills == kills
