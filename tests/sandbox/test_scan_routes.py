"""The Scan interface on a real loopback port: answers, limits and refusals of each call."""

from __future__ import annotations

import itertools
import json
from decimal import Decimal
from urllib.parse import quote

import pytest

from ledgerframes.sandbox.server import start
from ledgerframes.sandbox.world import timestamps
from tests.rigs.servers import replica, started
from tests.sandbox import asking

INTERNAL = "/v0/internal/reward-accounting-process/rounds/earliest-available"


@pytest.fixture
def items(truth):
    return truth


def ask(sandbox, path, body=None):
    answer = asking.ask(sandbox.scan_url + path, body)
    assert answer.status == 200
    return answer.json


def refusal(sandbox, path, body=None):
    answer = asking.ask(sandbox.scan_url + path, body)
    assert answer.json.keys() == {"error"}
    return answer.status, answer.json["error"]


def updates(sandbox, **body):
    return ask(sandbox, "/v2/updates", body)["transactions"]


def after(item, text=None):
    inner = item.get("event", item)
    return {"after_migration_id": inner["migration_id"], "after_record_time": text or item["record_time"]}


def first(items, test):
    return next(item for item in items if test(item))


def test_a_page_holds_only_what_comes_strictly_after_the_cursor_a_higher_migration_whatever_its_time(sandbox, items):
    pairs = itertools.pairwise(items)
    place = next(n for n, (a, b) in enumerate(pairs) if after(a) != after(b) and n > 100)
    second = next(n for n, item in enumerate(items) if after(item)["after_migration_id"] == 1)
    cursor = {"after_migration_id": 0, "after_record_time": "9999-12-31T23:59:59Z"}
    before_all = {"after_migration_id": -(2**63), "after_record_time": "0001-01-01T00:00:00Z"}

    assert updates(sandbox, page_size=3, after=after(items[place])) == items[place + 1 : place + 4]
    assert updates(sandbox, page_size=2, after=cursor) == items[second : second + 2]
    assert updates(sandbox, page_size=2, after=before_all) == items[:2]
    assert updates(sandbox, page_size=2, after={**cursor, "after_migration_id": 2**63 - 1}) == []
    assert updates(sandbox, page_size=1, after=None) == items[:1]


@pytest.mark.parametrize(
    ("spell", "inclusive"),
    [
        (lambda text: text.replace("Z", "000Z"), False),
        (lambda text: text.replace("Z", "999999Z"), False),
        (lambda text: timestamps.exact(timestamps.parse(text) - 1).replace("Z", "999Z"), True),
        (lambda text: text[:16] + "Z", True),
    ],
    ids=["nanoseconds", "finer than the item", "finer, before it", "whole minute"],
)
def test_the_cursor_time_may_be_spelled_with_any_number_of_digits(sandbox, items, spell, inclusive):
    place = next(n for n, item in enumerate(items) if n > 500 and item["record_time"][-4:-1] != "000")
    expected = {json.dumps(item, default=str) for item in items[place : place + 1]}

    page = updates(sandbox, page_size=200, after=after(items[place], spell(items[place]["record_time"])))

    assert (expected <= {json.dumps(item, default=str) for item in page}) is inclusive


def test_a_page_above_the_maximum_is_refused_with_the_maximum_in_the_message(sandbox):
    with replica(sandbox, page_maximum=50) as smaller:
        assert refusal(sandbox, "/v2/updates", {"page_size": 2_000}) == (400, "Exceeded limit maximum (2000 > 1000).")
        assert refusal(smaller, "/v2/updates", {"page_size": 51}) == (400, "Exceeded limit maximum (51 > 50).")
        assert len(updates(smaller, page_size=50)) == 50
        assert len(updates(sandbox, page_size=1_000)) == 1_000


def untyped(value):
    """Back from a type-carrying value to the compact one."""
    ((kind, inner),) = value.items()
    if kind == "record":
        return {field["label"]: untyped(field["value"]) for field in inner["fields"]}
    if kind == "list":
        return [untyped(element) for element in inner["elements"]]
    if kind in {"int64", "number"}:
        return json.loads(inner, parse_float=Decimal)
    return None if kind == "optional" else inner


def compacted(node):
    if isinstance(node, list):
        return [compacted(one) for one in node]
    if not isinstance(node, dict):
        return node
    values = {"create_arguments", "choice_argument", "exercise_result"}
    known = node.get("event_type") in {"created_event", "exercised_event"}
    return {name: untyped(one) if known and name in values else compacted(one) for name, one in node.items()}


def test_type_carrying_values_say_their_type_and_lose_nothing(sandbox, items):
    carrying = updates(sandbox, page_size=400, daml_value_encoding="protobuf_json")
    text = json.dumps(carrying)

    assert compacted(carrying) == items[:400] != carrying
    assert updates(sandbox, page_size=20, contract_value_encoding="protobuf_json") == items[:20]
    assert all(f'"{kind}":' in text for kind in ("record", "list", "party", "contractId", "numeric", "optional"))


def test_the_hostile_world_is_served_as_it_is_in_both_encodings():
    with started(hostile=True, updates=60) as hostile:
        items = list(hostile.world.items())
        assert updates(hostile, page_size=1_000) == items
        carrying = updates(hostile, page_size=1_000, daml_value_encoding="protobuf_json")
        assert compacted(carrying) == items
        for item in items[:15]:
            path = f"/v1/updates/{quote(item['update_id'], safe='')}"
            offset = {} if "event" in item else {"offset": "000000000000000001"}
            assert ask(hostile, path) == {**item, **offset}


@pytest.mark.parametrize("kind", ["events_by_id", "event"])
def test_the_v1_look_up_gives_a_transaction_its_offset_and_its_events_in_no_order(sandbox, items, kind):
    item = first(items[5:], lambda one: kind in one and len(one[kind]) > 2)

    found = ask(sandbox, f"/v1/updates/{item['update_id']}")

    assert found == {**item, "offset": "000000000000000001"}
    if kind == "events_by_id":
        assert list(found[kind]) != list(item[kind])


def test_the_v1_look_up_takes_the_value_encoding_from_the_query_and_does_not_find_another_id(sandbox, items):
    path = f"/v1/updates/{items[3]['update_id']}"

    carrying = ask(sandbox, f"{path}?daml_value_encoding=protobuf_json")

    assert compacted(carrying) == ask(sandbox, f"{path}?contract_value_encoding=protobuf_json") != carrying
    status, message = refusal(sandbox, "/v1/updates/1220ab")
    assert (status, "1220ab" in message) == (404, True)


def test_a_signed_update_is_found_by_its_hash_with_the_hash_in_it(sandbox, items):
    item = first(items, lambda one: "external_transaction_hash" in one)

    assert ask(sandbox, f"/v2/updates/hash/{item['external_transaction_hash']}") == item
    assert refusal(sandbox, "/v2/updates/hash/00")[0] == 404
    assert refusal(sandbox, f"/v2/updates/hash/{item['update_id']}")[0] == 404


def test_the_earliest_round_is_there_once_a_round_was_opened_after_the_first(sandbox):
    assert ask(sandbox, INTERNAL) == {"earliest_round": 3}
    with start(updates=3) as young:
        assert refusal(young, INTERNAL)[0] == 404


def test_name_rules_leave_the_contract_out_where_both_cached_ids_match(sandbox):
    whole = ask(sandbox, "/v0/ans-rules", {})["ans_rules_update"]
    contract_id, domain_id = whole["contract"]["contract_id"], whole["domain_id"]
    hints = {"cached_ans_rules_contract_id": contract_id, "cached_ans_rules_domain_id": domain_id}

    assert whole["contract"].keys() == {"template_id", "contract_id", "payload", "created_event_blob", "created_at"}
    assert whole["contract"]["template_id"].endswith(":Splice.Ans:AnsRules")
    assert ask(sandbox, "/v0/ans-rules", hints) == {"ans_rules_update": {"domain_id": domain_id}}
    for changed in ({}, {"cached_ans_rules_domain_id": "other"}, {"cached_ans_rules_contract_id": "00"}):
        body = {**hints, **changed} if changed else {"cached_ans_rules_contract_id": contract_id}
        assert ask(sandbox, "/v0/ans-rules", body)["ans_rules_update"] == whole


def license_pages(sandbox, limit):
    token, pages = None, []
    while True:
        query = f"?limit={limit}" + (f"&after={token}" if token is not None else "")
        pages.append(ask(sandbox, f"/v0/admin/validator/licenses{query}"))
        token = pages[-1]["next_page_token"]
        if token is None:
            return pages


@pytest.mark.parametrize("limit", [5, 24])
def test_licenses_are_read_by_following_tokens_each_once(sandbox, limit):
    pages = license_pages(sandbox, limit)
    found = [one for page in pages for one in page["validator_licenses"]]
    active = [one for one in sandbox.world.contracts.active.values() if one.template.entity.endswith("License")]
    newest_first = sorted(active, key=lambda one: -one.row)

    assert [one["contract_id"] for one in found] == [one.contract_id for one in newest_first]
    assert len({one["payload"]["validator"] for one in found}) == len(found) == 24
    assert all(one["created_event_blob"] for one in found)
    created = [timestamps.parse(one["created_at"]) for one in found]
    assert created != sorted(created, reverse=True)
    if limit < 24:
        assert any(len(page["validator_licenses"]) < limit and page["next_page_token"] for page in pages)


def test_an_unknown_route_and_a_wrong_method_are_answered_in_plain_text(sandbox):
    for path in ("/v0/nothing", "/", "/v2/updated/"):
        answer = asking.ask(sandbox.scan_url + path, {"page_size": 1})
        assert (answer.status, answer.content_type) == (404, "text/plain; charset=utf-8")
        assert answer.body == b"The requested resource could not be found."
    for path, method in (("/v2/updates", "GET"), ("/v1/updates/1220", "POST")):
        answer = asking.ask(sandbox.scan_url + path, method=method)
        assert (answer.status, answer.content_type) == (405, "text/plain; charset=utf-8")
        assert b"supported methods" in answer.body


def test_the_newest_pages_of_a_snapshot_have_tokens_of_their_own(sandbox):
    migration_id = sandbox.world.updates[-1].migration_id
    body = {"migration_id": migration_id, "record_time": sandbox.snapshots(migration_id)[-1], "page_size": 20}

    def contracts(server, version):
        found, after = [], {}
        while True:
            answer = ask(server, f"/{version}/state/acs", {**body, **after})
            found += answer["created_events"]
            if "next_page_token" not in answer:
                return found
            after = {"after": answer["next_page_token"]}
            assert isinstance(after["after"], str) == (version == "v2")

    with sandbox.replica(release="0.7") as older:
        assert contracts(sandbox, "v2") == contracts(older, "v1")
        for server, version, after in ((sandbox, "v2", 7), (sandbox, "v2", "7"), (older, "v1", "YWZ0ZXI6Nw==")):
            assert refusal(server, f"/{version}/state/acs", {**body, "after": after})[0] == 400
