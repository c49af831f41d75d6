"""The Scan interface on a real loopback port: answers, limits and refusals of each call."""

import itertools
import json
from collections import Counter
from decimal import Decimal
from urllib.parse import quote

import pytest

from ledgerframes.sandbox.world import timestamps
from tests.rigs.servers import started
from tests.sandbox import asking
from tests.sandbox.economy_books import active_of


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


def test_a_page_is_up_to_the_maximum_of_what_comes_strictly_after_a_higher_migration_whatever_its_time(sandbox, truth):
    pairs = itertools.pairwise(truth)
    place = next(n for n, (a, b) in enumerate(pairs) if after(a) != after(b) and n > 100)
    second = next(n for n, item in enumerate(truth) if after(item)["after_migration_id"] == 1)
    cursor = {"after_migration_id": 0, "after_record_time": "9999-12-31T23:59:59Z"}
    before_all = {"after_migration_id": -(2**63), "after_record_time": "0001-01-01T00:00:00Z"}

    assert updates(sandbox, page_size=3, after=after(truth[place])) == truth[place + 1 : place + 4]
    assert updates(sandbox, page_size=2, after=cursor) == truth[second : second + 2]
    assert updates(sandbox, page_size=2, after=before_all) == truth[:2]
    assert updates(sandbox, page_size=2, after={**cursor, "after_migration_id": 2**63 - 1}) == []
    assert updates(sandbox, page_size=1, after=None) == truth[:1]
    assert refusal(sandbox, "/v2/updates", {"page_size": 1_001}) == (400, "Exceeded limit maximum (1001 > 1000).")


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
def test_the_cursor_time_may_be_spelled_with_any_number_of_digits(sandbox, truth, spell, inclusive):
    place = next(n for n, item in enumerate(truth) if n > 500 and item["record_time"][-4:-1] != "000")

    page = updates(sandbox, page_size=200, after=after(truth[place], spell(truth[place]["record_time"])))

    assert (truth[place] in page) is inclusive


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


def test_type_carrying_values_say_their_type_and_lose_nothing(sandbox, truth):
    with started(hostile=True, updates=60) as hostile:
        nasty = list(hostile.world.items())
        for server, every in ((sandbox, truth[:150]), (hostile, nasty)):
            carrying = updates(server, page_size=150, daml_value_encoding="protobuf_json")
            assert compacted(carrying) == every != carrying
            assert updates(server, page_size=150, contract_value_encoding="protobuf_json") == every
        for item in nasty[:15]:
            path = f"/v1/updates/{quote(item['update_id'], safe='')}"
            offset = {} if "event" in item else {"offset": "000000000000000001"}
            assert ask(hostile, path) == {**item, **offset}
    text = json.dumps(updates(sandbox, page_size=150, daml_value_encoding="protobuf_json"))
    assert all(f'"{kind}":' in text for kind in ("record", "list", "party", "contractId", "numeric", "optional"))


def test_the_v1_look_up_gives_a_transaction_its_offset_and_its_events_in_no_order_and_v2_finds_a_hash(sandbox, truth):
    item, leg = (next(one for one in truth[5:] if kind in one) for kind in ("events_by_id", "event"))
    path = f"/v1/updates/{item['update_id']}"

    found, carrying = ask(sandbox, path), ask(sandbox, f"{path}?daml_value_encoding=protobuf_json")

    assert found == {**item, "offset": "000000000000000001"}
    assert list(found["events_by_id"]) != list(item["events_by_id"])
    assert ask(sandbox, f"/v1/updates/{leg['update_id']}") == leg
    assert compacted(carrying) == ask(sandbox, f"{path}?contract_value_encoding=protobuf_json") != carrying
    status, message = refusal(sandbox, "/v1/updates/1220ab")
    assert (status, "1220ab" in message) == (404, True)
    signed = next(one for one in truth if "external_transaction_hash" in one)
    assert ask(sandbox, f"/v2/updates/hash/{signed['external_transaction_hash']}") == signed
    assert refusal(sandbox, f"/v2/updates/hash/{signed['update_id']}")[0] == 404


def test_name_rules_leave_the_contract_out_where_both_cached_ids_match(sandbox):
    whole = ask(sandbox, "/v0/ans-rules", {})["ans_rules_update"]
    contract_id, domain_id = whole["contract"]["contract_id"], whole["domain_id"]
    hints = {"cached_ans_rules_contract_id": contract_id, "cached_ans_rules_domain_id": domain_id}

    assert whole["contract"]["template_id"].endswith(":Splice.Ans:AnsRules")
    assert ask(sandbox, "/v0/ans-rules", hints) == {"ans_rules_update": {"domain_id": domain_id}}
    for changed in ({"cached_ans_rules_domain_id": "other"}, {"cached_ans_rules_contract_id": "00"}):
        assert ask(sandbox, "/v0/ans-rules", {**hints, **changed})["ans_rules_update"] == whole


def test_rounds_apps_and_bought_traffic_are_those_of_the_history(sandbox, net_books):
    body = {"cached_open_mining_round_contract_ids": [], "cached_issuing_round_contract_ids": []}
    now = ask(sandbox, "/v0/open-and-issuing-mining-rounds", body)
    closed = {one["contract_id"]: one["payload"] for one in ask(sandbox, "/v0/closed-rounds")["rounds"]}
    apps = {one["contract_id"]: one["payload"] for one in ask(sandbox, "/v0/featured-apps")["featured_apps"]}
    bought = Counter()
    for payload in active_of(net_books, "Splice.DecentralizedSynchronizer:MemberTraffic").values():
        bought[payload["memberId"]] += int(payload["totalPurchased"])

    for name, phase in (("open_mining_rounds", "Open"), ("issuing_mining_rounds", "Issuing")):
        told = {cid: one["contract"]["payload"] for cid, one in now[name].items()}
        assert told == active_of(net_books, f"Splice.Round:{phase}MiningRound") != {}
    assert closed == active_of(net_books, "Splice.Round:ClosedMiningRound")
    assert [*closed.values()] == sorted(closed.values(), key=lambda one: int(one["round"]["number"])) != []
    assert apps == active_of(net_books, "Splice.Amulet:FeaturedAppRight")
    assert bought
    for member, total in bought.items():
        path = f"/v0/domains/{sandbox.world.synchronizers[0]}/members/{member}/traffic-status"
        status = ask(sandbox, path)["traffic_status"]
        assert status["target"]["total_purchased"] == status["actual"]["total_limit"] == total
        assert 0 <= status["actual"]["total_consumed"] <= total


@pytest.mark.parametrize("limit", [5, 24])
def test_licenses_are_read_by_following_tokens_each_once(sandbox, limit):
    pages, path = [], f"/v0/admin/validator/licenses?limit={limit}"
    while not pages or pages[-1]["next_page_token"] is not None:
        pages.append(ask(sandbox, f"{path}&after={pages[-1]['next_page_token']}" if pages else path))
    found = [one for page in pages for one in page["validator_licenses"]]
    active = [one for one in sandbox.world.contracts.active.values() if one.template.entity.endswith("License")]
    newest_first = sorted(active, key=lambda one: -one.row)

    assert [one["contract_id"] for one in found] == [one.contract_id for one in newest_first]
    assert len({one["payload"]["validator"] for one in found}) == len(found) == 24
    assert [one["created_at"] for one in found] != sorted((one["created_at"] for one in found), reverse=True)
    if limit < 24:
        assert any(len(page["validator_licenses"]) < limit and page["next_page_token"] for page in pages)
