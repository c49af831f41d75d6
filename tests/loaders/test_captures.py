"""What real servers answered, through the whole client."""

import json
from decimal import Decimal

import pytest

import ledgerframes as lf
from tests.replay import read_capture, replay

pytestmark = pytest.mark.usefixtures("captures")


def connected(server):
    return lf.connect(scan_url=server.scan_url)


def test_a_real_page_is_25_updates_with_all_their_events_in_preorder():
    body = read_capture("scan-updates-page").body
    want = json.loads(json.dumps(body), parse_float=Decimal)["transactions"]
    with replay("scan-updates-page") as server, connected(server) as net:
        history = lf.load_history(net, limit=1000, progress=False)
    assert len(history.updates) == 25
    assert len(history.events) == 86
    assert list(lf.rebuild_items(history)) == want
    numbers = history.events.event_id.str.rpartition(":")[2].astype(int)
    assert (numbers == history.events.node_index).all()
    assert history.events.payload.notna().all()
    first = history.events[history.events.update_id == history.updates.update_id[0]]
    assert list(first.depth[:4]) == [0, 0, 1, 1]
    assert history.events.extra.isna().all()


def test_a_real_assignment_is_a_reassignment_row():
    with replay("scan-updates-assignment") as server, connected(server) as net:
        history = lf.load_history(net, limit=10, progress=False)
    (row,) = history.reassignments.to_dict("records")
    assert row["kind"] == "assignment"
    assert row["migration_id"] == 4
    assert row["source_synchronizer"] == "sync-a::1220aa"
    assert row["reassignment_counter"] == 1
    assert row["template_name"] == "Splice.Ans:AnsRules"
    assert row["created_at"].isoformat() == "2024-06-24T21:08:35.469232+00:00"
    assert history.updates.synchronizer_id[0] == row["target_synchronizer"]
    assert len(history.events) == 0
