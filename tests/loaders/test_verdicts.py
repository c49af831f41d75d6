"""`lf.load_verdicts`: every confirmation request, those without an update too, whatever the pages look like."""

import json

import pytest

import ledgerframes as lf
from ledgerframes.interfaces.paged_histories import EVENT_HISTORY
from ledgerframes.sandbox.world.verdicts import events_of
from tests.asking import asking
from tests.replay import beyond
from tests.rigs.servers import simulated
from tests.transport.hostile_server import HostileServer, answer, text

ACCEPTED, REJECTED = "VERDICT_RESULT_ACCEPTED", "VERDICT_RESULT_REJECTED"


def events_in(world):
    """The event history of a sandbox, whole, without any server."""
    return sorted(event for update in world.ledger_updates for event in events_of(update))


def verdict(number, *, time="2026-01-30T08:00:00.000000Z", **changes):
    members = {
        "update_id": f"1220{number:02}", "migration_id": 0, "domain_id": "sync::1220aa", "record_time": time,
        "finalization_time": "2026-01-30T08:00:01.5Z", "submitting_parties": ["alice::1220"],
        "submitting_participant_uid": "p::1220", "verdict_result": REJECTED, "mediator_group": 0,
        "transaction_views": {"views": [view(0)], "root_views": [0]},
    }  # fmt: skip
    return {name: value for name, value in (members | changes).items() if value is not ...}


def view(number, **changes):
    members = {
        "view_id": number, "informees": ["alice::1220"], "sub_views": [], "view_hash": "",
        "confirming_parties": [{"parties": ["alice::1220"], "threshold": 1}],
    }  # fmt: skip
    return {name: value for name, value in (members | changes).items() if value is not ...}


def alone(one, **beside):
    return {"update": None, "verdict": one, **beside}


def reassigned(number, time="2026-01-30T08:00:00.000000Z"):
    event = {
        "submitter": "p", "source_synchronizer": "a", "target_synchronizer": "b", "migration_id": 0,
        "unassign_id": "u", "reassignment_counter": 1, "contract_id": f"c{number}",
    }  # fmt: skip
    update = {"update_id": f"1220{number:02}", "offset": "1", "record_time": time, "event": event}
    return {"update": update, "verdict": None}


def page_of(items, heard, cap=1000):
    """The items strictly after the cursor, as real scans do it."""
    return beyond(items, heard.json.get("after"))[: min(heard.json["page_size"], cap)]


def serving(items, **limits):
    """A scan of these items."""
    return HostileServer(lambda heard: answer({"events": page_of(items, heard, **limits)}))


def lagging(shown):
    """A scan of ten updates, one a second, the last of them a reassignment; of its event history only the first."""
    times = [f"2026-01-30T08:00:0{number}.000000Z" for number in range(10)]
    updates = [reassigned(number, time) for number, time in enumerate(times)]
    events = [alone(verdict(number, time=time)) for number, time in enumerate(times[:9])] + updates[9:]

    def reply(heard):
        if "updates" in heard.path:
            return answer({"transactions": [item["update"] for item in page_of(updates, heard)]})
        return answer({"events": page_of(events[:shown], heard)}) if "events" in heard.path else text("unknown", 404)

    return HostileServer(reply)


def decoded(*items):
    return EVENT_HISTORY.decode_body(json.dumps({"events": items}).encode())


@pytest.mark.parametrize(
    ("page_size", "options"), [(1000, {"page_maximum": 25}), (7, {}), (11, {"hostile": True})], ids=str
)
def test_every_request_is_read_once_whatever_the_pages_and_a_limit_counts_no_reassignments(page_size, options):
    with simulated(seed=5, updates=120, **options) as net:
        wanted = [verdict for event in events_in(net.sandbox.world) if (verdict := json.loads(event.body)["verdict"])]
        loaded = lf.load_verdicts(net, start="begin", page_size=page_size)
        for limit in (1, 13):
            part = lf.load_verdicts(net, start="begin", limit=limit).verdicts.update_id
            assert list(part) == list(loaded.verdicts.update_id[:limit])

    assert {one["verdict_result"] for one in wanted} == {ACCEPTED, REJECTED}
    assert sorted(loaded.verdicts.update_id) == sorted(one["update_id"] for one in wanted)
    assert len(loaded.views) == sum(len(one["transaction_views"]["views"]) for one in wanted)


@pytest.mark.filterwarnings("ignore::ledgerframes.errors.BeginsLateWarning")  # contracts that nothing created
def test_a_page_of_reassignments_alone_does_not_end_a_read():
    items = [reassigned(number, f"2026-01-30T08:00:{number:02}.000000Z") for number in range(30)]
    items.append(alone(verdict(40, time="2026-01-30T09:00:00.000000Z")))
    with serving(items, cap=4) as server, asking(server) as net:
        loaded = lf.load_verdicts(net, page_size=10)

    assert list(loaded.verdicts.update_id) == ["122040"]


def test_traffic_activity_and_what_no_column_holds():
    traffic = {
        "total_traffic_cost": 1000,
        "envelope_traffic_summaries": [
            {"traffic_cost": 300, "view_ids": [0]},
            {"traffic_cost": 200, "view_ids": [1, 2]},
        ],
    }
    activity = {"round_number": 7, "records": [{"party": "app::1220", "weight": 55, "kind": "x"}], "new": 1}
    views = {"views": [view(0), view(1), view(2, view_hash="1220ff")], "root_views": [0, 1]}
    one = verdict(1, transaction_views=views, reason="timeout")
    batches = decoded(alone(one, traffic_summary=traffic, app_activity_records=activity))

    (row,) = batches["verdicts"].to_pylist()
    assert row["total_traffic_cost"] == 1000
    assert json.loads(row["root_views"]) == [0, 1]
    assert json.loads(row["extra"]) == {
        "/verdict/reason": "timeout",
        "/traffic_summary/envelope_traffic_summaries": traffic["envelope_traffic_summaries"],
        "/app_activity_records": {"new": 1},
    }
    assert batches["views"]["traffic_cost"].to_pylist() == [300, 200, 200]
    assert batches["views"]["view_hash"].to_pylist() == [None, None, "1220ff"]
    (record,) = batches["app_activity"].to_pylist()
    assert (record["update_id"], record["round_number"], record["party"], record["weight"]) == (
        "122001", 7, "app::1220", 55,
    )  # fmt: skip
    assert json.loads(record["extra"]) == {"/kind": "x"}
    one_each = {"total_traffic_cost": 10, "envelope_traffic_summaries": [{"traffic_cost": 4, "view_ids": [0]}]}
    batches = decoded(alone(verdict(1), traffic_summary=one_each))
    assert batches["views"]["traffic_cost"].to_pylist() == [4]
    assert batches["verdicts"]["extra"].to_pylist() == [None]


BROKEN = {
    "no verdict and no update": ({"update": None, "verdict": None}, "neither update nor verdict"),
    "an odd record time": (alone(verdict(1, record_time="yesterday")), "record_time"),
    "an empty id": (alone(verdict(1, update_id="")), "text is empty"),
    "no synchronizer": (alone(verdict(1, domain_id=...)), "synchronizer_id"),
    "views of no form": (alone(verdict(1, transaction_views=[1])), "transaction_views"),
    "a view twice": (
        alone(verdict(1, transaction_views={"views": [view(0), view(0)], "root_views": []})), "view 0 occurs twice",
    ),
    "a view without informees": (
        alone(verdict(1, transaction_views={"views": [view(0, informees=...)], "root_views": []})), "informees",
    ),
    "a provider twice": (
        alone(verdict(1), app_activity_records={"round_number": 1, "records": [{"party": "a", "weight": 1}] * 2}),
        "a occurs twice",
    ),
    "activity without a verdict": (reassigned(1) | {"app_activity_records": {"round_number": 1}}, "without a verdict"),
    "a number that fits no column": (
        alone(verdict(1), traffic_summary={"envelope_traffic_summaries": [{"traffic_cost": 10**30, "view_ids": [0]}]}),
        "a value does not fit its column of views",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("item", "words"), BROKEN.values(), ids=BROKEN)
def test_an_item_that_breaks_the_interface_file_is_an_error_that_names_it(item, words):
    with (
        HostileServer([answer({"events": [item]})]) as server,
        asking(server) as net,
        pytest.raises(lf.errors.DecodeError, match=words) as caught,
    ):
        lf.load_verdicts(net)
    assert caught.value.endpoint == "POST /v0/events"


def test_verdicts_that_lag_behind_the_updates_end_a_load_that_says_so():
    with lagging(5) as server, asking(server) as net:
        for wanted in ({"last": "3s"}, {"start": "2026-01-30T08:00:06"}):
            with pytest.raises(lf.errors.PartialResultError, match=r"ends at .*08:00:04.*newest that POST /v0/events"):
                lf.load_verdicts(net, **wanted)
            part = lf.load_verdicts(net, **wanted, allow_partial=True).verdicts
            assert (len(part), part.attrs["complete"]) == (0, False)
        part = lf.load_verdicts(net, last="7s").verdicts
        assert (len(part), part.attrs["complete"]) == (3, False)
        assert part.attrs["known_to"] == [0, "2026-01-30T08:00:04.000000Z"]
        whole = lf.load_verdicts(net, start="2026-01-30T08:00:02").verdicts
        assert (len(whole), whole.attrs["complete"]) == (3, True)
        assert whole.attrs["range"].endswith("08:00:04.000000Z (the newest that POST /v0/events shows)")
    with lagging(10) as server, asking(server) as net:
        whole = lf.load_verdicts(net, last="7s").verdicts
        assert (len(whole), whole.attrs["complete"]) == (7, True)
    nothing = pytest.raises(lf.errors.PartialResultError, match="shows no update")
    with lagging(0) as server, asking(server) as net, nothing:
        lf.load_verdicts(net, last="7s")


def test_the_items_of_a_page_are_as_they_were_sent(net):
    page = net.scan.events(page_size=60)
    rejected = next(item for item in page.items if (item["verdict"] or {}).get("verdict_result") == REJECTED)

    assert len(page) == 60
    assert not rejected.get("update")
    assert rejected["verdict"]["transaction_views"]["views"][0]["confirming_parties"][0]["threshold"] == 1
    assert net.scan.call("GET", f"/v0/events/{rejected['verdict']['update_id']}") == rejected
