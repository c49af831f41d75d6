"""A call whose argument breaks a rule of the contract names it, and nothing is sent."""

from __future__ import annotations

import inspect
import json
from decimal import Decimal
from operator import attrgetter

import numpy as np
import pandas as pd
import pytest

import ledgerframes as lf
from docs.endpoints import CALLS, NEIGHBOURS
from ledgerframes import commands as sent
from ledgerframes.errors import InputError
from tests.asking import asking_one
from tests.interfaces.served_answers import NOWHERE
from tests.official.typed_calls import needed

CREATE = sent.CreateCommand(template_id="#iou:Iou:Iou", create_arguments={"amount": Decimal("1.50")})
ASSIGN = sent.AssignCommand(reassignment_id="r-1", source="da1::12", target="da2::12")
UNASSIGN = sent.UnassignCommand(contract_id="00ab", source="da1::12", target="da2::12")
TREE, MOVE = "ledger.submit_and_wait_for_transaction_tree", "ledger.submit_and_wait_for_reassignment"
ASYNC = "ledger.submit_reassignment"
BY_ID, USER, FACTORY = "ledger.transaction_by_id", "ledger.create_user", "registry.allocation_factory"
SUMMARY = "validator.holdings_summary"
CHOICE = {"allocation": {}, "extraArgs": {"context": {}, "meta": {}}}
SNAPSHOT = {"record_time": "2026-01-30", "migration_id": 0}
#: Arguments that keep every rule; a row changes some of them.
KEPT = {
    TREE: {"commands": [CREATE], "command_id": "c-1", "act_as": ["alice::12"]},
    MOVE: {"commands": [ASSIGN], "command_id": "c-1", "submitter": "alice::12"},
    ASYNC: {"commands": [ASSIGN], "command_id": "c-1", "submitter": "alice::12"},
    BY_ID: {"update_id": "u"},
    FACTORY: {"choice_arguments": CHOICE},
    SUMMARY: {**SNAPSHOT, "owner_party_ids": ["a::1"]},
    "ledger.upload_package": {"dar": b"PK"},
    "scan.coins": SNAPSHOT,
    "scan.active_contracts": SNAPSHOT,
    "scan.holdings_summary": SNAPSHOT,
}
ENDLESS: list = []
ENDLESS.append(ENDLESS)
MANY = ["party::1220"] * 1_001


def nested(levels):
    """A value of so many levels."""
    value = ""
    for _ in range(levels):
        value = [value]
    return value


def created(arguments, template="t"):
    return {"commands": [sent.CreateCommand(template_id=template, create_arguments=arguments)]}


def disclosed(**members):
    whole = {"template_id": "t", "contract_id": "c", "created_event_blob": "b", "synchronizer_id": "s"} | members
    return {"disclosed_contracts": [sent.DisclosedContract(**whole)]}


def formatted(event_format, **members):
    return {"transaction_format": sent.TransactionFormat(event_format=event_format, **members)}


def filtered(*filters):
    return formatted(sent.EventFormat(filters_by_party={"alice::12": sent.Filters(filters)}))


def user(name="u", **members):
    return {"user": sent.User(id=name, **members)}


def annotated(annotations):
    return user(metadata=sent.ObjectMeta(annotations=annotations))


def extra(arguments):
    return {"choice_arguments": CHOICE | {"extraArgs": arguments}}


def rights(right):
    return {**user(), "rights": [right]}


WITHOUT_SOURCE = sent.UnassignCommand(contract_id="a", source=7, target="b")
ANYBODY, NOBODY = sent.EventFormat(), sent.EventFormat(filters_by_party={"a#": sent.Filters()})
ROWS = [
    (TREE, {"commands": []}, r"commands=\[\]; give at least 1"),
    (TREE, {"commands": [{"CreateCommand": {}}]}, r"commands\[0\]=.*give a CreateCommand"),
    (TREE, created({}, template=""), r"commands\[0\]\.template_id=''; give text"),
    (TREE, created({"a": [1.0, float("nan")]}), r"create_arguments\['a'\]\[1\]=nan; JSON has no such number"),
    (TREE, created(ENDLESS), "nested too deeply"),
    (TREE, {"command_id": ""}, "command_id=''; give 1 to 255"),
    (TREE, {"act_as": []}, r"act_as=\[\]; give at least 1"),
    (TREE, {"act_as": ["a", "b#"]}, r"act_as\[1\]='b#'; give a party id"),
    (TREE, {"min_ledger_time_abs": "soon"}, "min_ledger_time_abs='soon' is not a time"),
    (TREE, {"min_ledger_time_rel": sent.Duration(0, 10**9)}, r"min_ledger_time_rel\.nanos=1000000000; give"),
    (TREE, disclosed(created_event_blob=""), r"disclosed_contracts\[0\]\.created_event_blob=''"),
    (TREE, {"taps_max_passes": -1}, "taps_max_passes=-1; give a whole number from 0"),
    (TREE, {"package_id_selection_preference": [""]}, r"package_id_selection_preference\[0\]=''"),
    *(
        (call, changed, said)
        for call in (MOVE, ASYNC)
        for changed, said in [
            ({"commands": []}, r"commands=\[\]; give at least 1"),
            ({"commands": [{"AssignCommand": {}}]}, r"commands\[0\]=\{'AssignCommand'.*give an AssignCommand"),
            ({"commands": [WITHOUT_SOURCE]}, r"\[0\]\.source=7; give text"),
            ({"command_id": "c\n"}, r"command_id='c\\n'"),
            ({"submitter": "a#b"}, "submitter='a#b'; give a party id"),
            ({"user_id": "a b"}, "user_id='a b'; give a user id"),
            ({"workflow_id": "é"}, "workflow_id='é'"),
            ({"submission_id": "a" * 256}, "submission_id='aaa.*give 1 to 255"),
        ]
    ),
    (BY_ID, {"update_id": ""}, "update_id=''; give 1 to 255"),
    ("scan.events", {"after": "2026-01-30"}, "give a pair"),
    (USER, user("u" * 129), r"user\.id='uuu"),
    (USER, user(""), r"user\.id=''"),
    *((USER, annotated({key: "v"}), "annotations key") for key in ("", "n" * 64, f"{'a.' * 126}aa/n", "-a/n", "a//n")),
    (BY_ID, {"requesting_parties": ["a,b"]}, r"requesting_parties\[0\]='a,b'"),
    (BY_ID, {"requesting_parties": ["a"], **filtered()}, r"requesting_parties=\['a'\] excludes transaction_format"),
    (BY_ID, formatted(ANYBODY, transaction_shape="TREE"), "'TREE'; give one of TRANSACTION_SHAPE_UNSPECIFIED"),
    (BY_ID, formatted(NOBODY), "filters_by_party key='a#'; give a party id"),
    (BY_ID, formatted(None), r"event_format=None; give an EventFormat"),
    (BY_ID, filtered(sent.TemplateFilter("a"), sent.TemplateFilter("a")), "names the template 'a' 2 times"),
    (BY_ID, filtered(sent.WildcardFilter(), sent.WildcardFilter()), "names the wildcard 2 times"),
    (USER, user("a b"), r"user\.id='a b'"),
    (USER, user(metadata={"annotations": {"a/": "v"}}), "annotations key 'a/'"),
    (USER, user(metadata=sent.ObjectMeta(resource_version="0")), r"user\.metadata\.resource_version='0'; leave it out"),
    (USER, annotated({"k": ""}), r"annotations\['k'\]=''; .* removes a key, which is for upd"),
    (USER, annotated({"n_": "v"}), "key 'n_': give a name.*begins and ends"),
    (USER, annotated({"a_b/n": "v"}), "key 'a_b/n': before the /"),
    (USER, annotated({"k": "\ud800"}), r"annotations\['k'\] is not Unicode text"),
    (USER, annotated({"k": "ü" * (64 * 1024), "lm": "v" * (128 * 1024 - 2)}), f"take {256 * 1024 + 1} bytes"),
    (USER, rights(sent.CanActAs("a#")), r"rights\[0\]\.party='a#'; give a party id"),
    (USER, rights({"kind": {}}), r"rights\[0\]=\{'kind': \{\}\}; give a right"),
    (USER, rights(sent.OtherRight("X", {"a": float("inf")})), r"rights\[0\]\.body\['a'\]=inf"),
    *(("ledger.list_users", {"page_size": size}, f"page_size={size!r}; give a whole") for size in (0, 2**31, True)),
    ("ledger.upload_package", {"synchronizer_id": ""}, "synchronizer_id=''; give text"),
    ("ledger.update_by_hash", {"hash": ""}, "hash=''; give text that is not empty"),
    (FACTORY, {"choice_arguments": CHOICE | {"a": float("nan")}}, r"choice_arguments\['a'\]=nan"),
    (FACTORY, extra(None), r"\['extraArgs'\]\['context'\]=None; give an empty dict"),
    (FACTORY, extra({"context": {"values": {}}, "meta": {}}), r"\['context'\]=\{'values'"),
    ("registry.instrument", {"instrument_id": ""}, "instrument_id="),
    (SUMMARY, {"owner_party_ids": []}, r"owner_party_ids=\[\]; give at least 1"),
    (SUMMARY, {"owner_party_ids": ["a", "b/c"]}, r"owner_party_ids\[1\]='b/c'; give a party id"),
    (SUMMARY, {"record_time_match": "near"}, "record_time_match='near'; give 'exact' or 'at_or_before'"),
    (SUMMARY, {"migration_id": 2**63}, "migration_id=9223372036854775808"),
    *(("validator.transfer_preapproval", {"party": one}, "party=.*give a party id") for one in ("", "bob/..")),
    ("scan.updates", {"after": "2026-01-30"}, "give a pair"),
    ("scan.updates", {"value_encoding": "xml"}, "value_encoding='xml'"),
    ("scan.update_by_id", {"update_id": ""}, "update_id"),
    ("scan.coins", {"owners": ["o"], "route": "v3"}, r"route='v3' is not valid: give 'v2', 'v1' or 'v0'"),
    ("scan.coins", {"owners": MANY}, r"1,001 items; a request takes 1,000 .*lf\.load_coins splits"),
    ("scan.active_contracts", {"parties": MANY}, r"1,000 .*lf\.load_active_contracts splits"),
    ("scan.active_contracts", {"templates": ["p:M:E"] * 1_001}, r"1,000 .*lf\.load_active_contracts splits"),
    ("scan.holdings_summary", {"owner_party_ids": MANY}, r"1,000 .*lf\.load_holdings_summary splits"),
    ("scan.vote_requests_by_id", {"requests": MANY}, r"1,000 .*lf\.load_votes splits"),
]


@pytest.mark.parametrize(("call", "changed", "said"), ROWS, ids=[f"{call} {said}" for call, _, said in ROWS])
def test_a_broken_rule_is_named_and_nothing_sent(call, changed, said):
    with asking_one(NOWHERE) as net:
        with pytest.raises(InputError, match=said):
            attrgetter(call)(net)(**KEPT.get(call, {}) | changed)
        assert net.stats.requests == 0


@pytest.mark.parametrize("served", [*CALLS, *NEIGHBOURS], ids=lambda served: served.call)
def test_an_argument_of_another_type_is_named_and_nothing_sent(served):
    with asking_one(NOWHERE) as net:
        call, given = attrgetter(served.call)(net), needed(served)
        for name in inspect.signature(call).parameters:
            with pytest.raises(InputError, match=name):
                call(**given | {name: object()})
        assert net.stats.requests == 0


@pytest.mark.parametrize("call", [TREE, MOVE, ASYNC])
def test_a_command_without_a_token_to_take_the_user_from_names_its_user(call):
    with pytest.raises(InputError, match=r"user_id=None.*ledger_token"):
        attrgetter(call)(lf.connect(ledger_url=NOWHERE))(**KEPT[call])


KB_256 = 256 * 1024
MOVED = {"commands": [UNASSIGN], "submitter": "a:-_ b"}
#: What reaches a limit and keeps the rule: how it is written in the request.
LIMITS = [
    (SUMMARY, {"owner_party_ids": pd.Series(MANY[1:]), "migration_id": np.int64(4)}, "owner_party_ids", MANY[1:]),
    *((ASYNC, MOVED | {"command_id": one}, "reassignmentCommands.commandId", one) for one in ("A9#:-_/ z", "x" * 255)),
    *(
        (USER, annotated(one), "user.metadata.annotations", one)
        for one in (
            {"k": "v" * (KB_256 // 2 - 1), "lm": "é" * (KB_256 // 4 - 1)},
            {"n" * 63: "v"},
            {f"{'a.' * 126}a/n": "v"},
            {"tool.example.com/a.b-c_d": "v", "K": "é"},
        )
    ),
    (USER, user("aZ9@^$.!-#+'~_|:()`"), "user.id", "aZ9@^$.!-#+'~_|:()`"),
    (USER, user("u" * 128), "user.id", "u" * 128),
    (USER, rights(sent.OtherRight("CanDream", {"a": ["x"]})), "rights", [{"kind": {"CanDream": {"a": ["x"]}}}]),
]


@pytest.mark.parametrize(("call", "changed", "member", "written"), LIMITS, ids=[str(n) for n in range(len(LIMITS))])
def test_what_reaches_a_limit_goes_out(call, changed, member, written):
    interface, _, name = call.partition(".")
    with asking_one(NOWHERE) as net:
        body = json.loads(getattr(getattr(net, interface).preview, name)(**KEPT.get(call, {}) | changed).body)
    for step in member.split("."):
        body = body[step]
    assert body == written


def test_a_value_of_400_levels_goes_out():
    with asking_one(NOWHERE) as net:
        assert getattr(net.ledger.preview, TREE.partition(".")[2])(**KEPT[TREE] | created(nested(400))).body
