"""What the network is now, as frames: rounds, names, traffic, faucets, apps, super validators, scans."""

import json
import string
from decimal import Decimal
from urllib.parse import parse_qs, unquote

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.sandbox.world.templates import DSO_RULES, LICENSE, NAME_ENTRY
from tests.asking import asking
from tests.transport.hostile_server import HostileServer, answer


def test_names_of_the_sandbox_are_those_that_have_not_expired(net):
    world = net.sandbox.world
    names = lf.load_names(net)

    lasting = {
        one.payload["name"]: one.payload["user"]
        for one in world.contracts.of(NAME_ENTRY)
        if pd.Timestamp(one.payload["expiresAt"]).value // 1_000 > world.now
    }
    own = names[names.contract_id.isna()]
    others = names[names.contract_id.notna()].set_index("name").party.to_dict()
    assert others == lasting
    assert own.expires_at.isna().all()
    assert "dso.cns" in set(own.name)
    assert list(lf.load_names(net, prefix="a").name) == [one for one in names.name if one.startswith("a")]
    assert len(lf.load_names(net, prefix="nothing-begins-so")) == 0


def names_server(names, *, size=2, prefixed=True):
    """A scan with these names and a maximum of its own, which may ignore every prefix."""

    def reply(heard):
        if "/by-name/" in heard.path:
            name = unquote(heard.path.rpartition("/")[2])
            return answer({"entry": entry(name)}) if name in names else answer({"error": "No ans entry"}, 404)
        asked = int(heard.query["page_size"])
        if asked > size:
            return answer({"error": f"Exceeded limit maximum ({asked} > {size})."}, 400)
        prefix = heard.query.get("name_prefix", "") if prefixed else ""
        return answer({"entries": [entry(one) for one in names if one.startswith(prefix)][:asked]})

    return HostileServer(reply)


def entry(name):
    return {"user": "p::1220", "name": name, "url": "", "description": ""}


def test_a_name_that_begins_others_is_not_lost():
    names = ["é", *(f"abc{one}" for one in string.digits), "abcd", "abc", "ab", "a", "b", "éa", "éb"]
    with names_server(names) as server, asking(server) as net:
        assert sorted(lf.load_names(net).name) == sorted(names)


def test_names_that_cannot_be_told_apart_are_a_partial_result():
    names = ["x" * 300 + str(one) for one in range(3)]
    with names_server(names) as server, asking(server) as net:
        with pytest.raises(lf.errors.PartialResultError, match="allow_partial=True"):
            lf.load_names(net, prefix="x" * 255)
        part = lf.load_names(net, prefix="x" * 255, allow_partial=True)
    assert len(part) == 2
    assert not part.attrs["complete"]


def test_a_server_that_ignores_the_prefix_is_a_paging_error():
    names = ["alice", "bob", "carol"]
    wrong = pytest.raises(lf.errors.PagingError, match="begin with")
    with names_server(names, prefixed=False) as server, asking(server) as net, wrong:
        lf.load_names(net)


def test_traffic_of_the_sandbox_names_who_is_not_there(net):
    ids = list(lf.load_super_validators(net).participant_id)
    frame = lf.load_traffic(net, [ids[0], "MED::nobody::1220", *ids[1:]])

    assert list(frame.found) == [True, False, *[True] * len(ids[1:])]
    assert pd.isna(frame.total_limit[1])
    assert (frame.total_purchased[frame.found] >= frame.total_limit[frame.found]).all()
    assert set(frame.synchronizer_id) == {net.sandbox.world.synchronizers[0]}
    elsewhere = lf.load_traffic(net, ids[:1], synchronizer="nowhere::1220")
    assert list(elsewhere.found) == [False]


def test_a_long_list_of_validators_is_split_by_the_length_of_the_url():
    wanted = [f"validator-{one}::{'12' * 32}" for one in range(60)]
    with HostileServer([answer({"validatorsReceivedFaucets": []})]) as server, asking(server) as net:
        frame = lf.load_validator_faucets(net, wanted)

    asked = [parse_qs(heard.target.partition("?")[2])["validator_ids"] for heard in server.heard]
    assert [one for part in asked for one in part] == wanted
    assert 1 < len(asked) < 10
    assert max(len(heard.target) for heard in server.heard) < 2_000
    assert list(frame.validator) == wanted


def test_super_validators_apps_and_scans_of_the_sandbox(net):
    rules = net.sandbox.world.rules[DSO_RULES.entity].payload["svs"]
    frame = lf.load_super_validators(net)
    apps = lf.load_featured_apps(net)
    scans = lf.load_scans(net)

    assert list(frame.party) == [party for party, _ in rules]
    assert list(frame.name) == list(scans.sv_name)
    assert list(frame.scan_url) == list(scans.url)
    validators = {one.payload["validator"] for one in net.sandbox.world.contracts.of(LICENSE)}
    assert set(apps.provider) <= validators
    assert set(apps.template_name) == {"Splice.Amulet:FeaturedAppRight"}
    assert "created_event_blob" not in apps
    assert lf.load_featured_apps(net, blobs=True).created_event_blob.notna().all()


def test_a_featured_app_s_weight_is_as_its_right_states_it():
    def right(number, **stated):
        return {
            "contract_id": f"00{number}", "template_id": "ab:Splice.Amulet:FeaturedAppRight", "created_event_blob": "",
            "created_at": "2026-11-01T00:00:00Z", "payload": {"dso": "d", "provider": f"p{number}", **stated},
        }  # fmt: skip

    rights = [right(1, activityWeight="2.5"), right(2, activityWeight=None), right(3)]
    with HostileServer([answer({"featured_apps": rights})]) as server, asking(server) as net:
        apps = lf.load_featured_apps(net, decimals="exact")

    assert list(apps.activity_weight) == [Decimal("2.5"), None, None]
    assert "counts as 1" in lf.describe("featured_apps").set_index("column").meaning["activity_weight"]


def test_a_super_validator_without_a_node_has_no_addresses():
    rules = {"contract": {"payload": {"svs": [["p::12", {"name": "p", "svRewardWeight": "5", "new": 1}]]}}}
    with HostileServer([answer({"dso_rules": rules, "sv_node_states": []})]) as server, asking(server) as net:
        (one,) = lf.load_super_validators(net).to_dict("records")

    assert (one["reward_weight"], json.loads(one["extra"])) == (5, {"/info/new": 1})
    assert pd.isna(one["scan_url"])
    assert pd.isna(one["node"])
