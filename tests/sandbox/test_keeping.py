"""A kept world is the same world: what it serves, how it goes on, and what a strange file can do."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter, OrderedDict, deque
from contextlib import closing
from decimal import Decimal

import pytest
from asking import ask, party_of
from dars import dar

import ledgerframes as lf
from ledgerframes.sandbox.generator.generate import generate
from ledgerframes.sandbox.server import start
from ledgerframes.sandbox.world import world_file
from ledgerframes.sandbox.world.accounts import Right, User
from ledgerframes.sandbox.world.serialization import KeepingError, rebuild, records_of
from ledgerframes.sandbox.world.templates import LOCKED_COIN
from ledgerframes.sandbox.world.world_file import WorldFileError, load, save
from tests.hostile.generate import generate_hostile


def state(world):
    """Everything a world consists of, as a value."""
    return list(records_of(world))


def again(value):
    """A value, kept and made again."""
    records, contents = zip(*records_of(value), strict=True)
    return rebuild(json.loads(json.dumps(records)), contents)


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("make", [generate, generate_hostile], ids=["usual", "hostile"])
@pytest.mark.parametrize("updates", [0, 1, 400])
def test_a_kept_world_is_the_same_and_goes_on_alike(tmp_path, make, updates):
    world = make(5, updates)
    world.advance(60)

    save(world, tmp_path / "world.db")
    kept = load(tmp_path / "world.db")

    assert state(kept) == state(world)
    for one in (world, kept):
        one.advance(150)
    assert kept.page(None, 1_000) == world.page(None, 1_000)
    assert state(kept) == state(world)


def test_what_was_locked_is_still_locked(tmp_path):
    world = generate(7, 600)
    save(world, tmp_path / "world.db")

    kept = load(tmp_path / "world.db")

    locked = kept.contracts.of(LOCKED_COIN)
    assert [one.contract_id for one in locked] == [one.contract_id for one in world.contracts.of(LOCKED_COIN)]
    assert all(one.template is LOCKED_COIN for one in locked)


def test_a_loaded_sandbox_answers_byte_for_byte(tmp_path):
    file = tmp_path / "world.db"
    with start(updates=300) as first:
        first.advance(updates=20)
        first.world.accounts.put(User("nora", rights=frozenset({Right("ParticipantAdmin")})))
        ask(
            f"{first.ledger_url}/v2/packages",
            dar(),
            token=first.token("nora"),
            headers={"Content-Type": "application/octet-stream"},
        )
        first.save(file)
        expected = answers(first)
        with start(load=file) as second:
            assert answers(second) == expected
            assert second.packages == first.packages
            assert second.packages


def answers(sandbox):
    """What every reading route says, to a user whom a test may have made."""
    token, party = sandbox.token("nora"), party_of(sandbox, "alice")
    at = {"migration_id": 2, "record_time": "2030-01-01T00:00:00Z", "record_time_match": "at_or_before"}
    update = next(sandbox.world.items())["update_id"]
    anyone = {"filtersForAnyParty": {}}
    either = {"updateFormat": {"includeTransactions": {"eventFormat": anyone}, "includeReassignments": anyone}}
    alice, operator = sandbox.token("alice"), sandbox.token("validator_operator")
    asked = [
        ask(f"{sandbox.scan_url}/v2/updates", {"page_size": 1_000}),
        ask(f"{sandbox.scan_url}/v0/admin/validator/licenses"),
        ask(f"{sandbox.scan_url}/v0/ans-rules", {}),
        ask(f"{sandbox.registry_url}/registry/metadata/v1/instruments"),
        ask(f"{sandbox.ledger_url}/v2/users?pageSize=1000", token=token),
        ask(f"{sandbox.ledger_url}/v2/updates/update-by-id", {"updateId": update, **either}, token=operator),
        ask(f"{sandbox.validator_url}/v0/scan-proxy/holdings/summary", {**at, "owner_party_ids": [party]}, token=token),
        ask(f"{sandbox.validator_url}/v0/wallet/transfer-offers", token=alice),
        ask(f"{sandbox.validator_url}/v0/entry/all", token=alice),
    ]
    assert {one.status for one in asked} == {200}
    return [one.body for one in asked]


def submit(sandbox, path, body):
    return ask(f"{sandbox.ledger_url}/v2/{path}", body, token=sandbox.token("alice"))


def issue(sandbox, command_id):
    """Let alice issue an IOU."""
    alice = party_of(sandbox, "alice")
    terms = {"issuer": alice, "owner": alice, "currency": "USD", "amount": "7.5", "observers": [], "reference": None}
    create = {"CreateCommand": {"templateId": "#iou-app:Iou:Iou", "createArguments": terms}}
    body = {"commands": [create], "commandId": command_id, "actAs": [alice], "submissionId": command_id}
    return submit(sandbox, "commands/submit-and-wait-for-transaction-tree", body)


def move(sandbox, command_id, variant, value):
    commands = [{"command": {variant: {"value": value}}}]
    who = {"submitter": party_of(sandbox, "alice"), "commandId": command_id, "submissionId": command_id}
    body = {"reassignmentCommands": {"commands": commands, **who}}
    return submit(sandbox, "commands/submit-and-wait-for-reassignment", body)


def test_what_commands_did_is_kept_and_commands_go_on_alike(tmp_path):
    file = tmp_path / "world.db"
    with start(updates=100) as first:
        tree = issue(first, "one").json["transactionTree"]
        (created,) = (one["CreatedTreeEvent"]["value"] for one in tree["eventsById"].values())
        source = tree["synchronizerId"]
        target = next(one for one in first.world.synchronizers if one != source)
        way = {"source": source, "target": target}
        assert move(first, "two", "UnassignCommand", {"contractId": created["contractId"], **way}).status == 200
        unassigned = json.loads(first.world.ledger_updates[-1].rendered)["event"]["unassign_id"]
        user = {"user": {"id": "nora"}, "rights": [{"kind": {"ParticipantAdmin": {"value": {}}}}]}
        admin = first.token("participant_admin")
        assert ask(f"{first.ledger_url}/v2/users", user, token=admin).status == 200
        first.save(file)
        with start(load=file) as second:
            assert issue(second, "one").json["code"] == "DUPLICATE_COMMAND"
            assert ask(f"{second.ledger_url}/v2/users", token=second.token("nora")).status == 200
            for one in (first, second):
                assert move(one, "three", "AssignCommand", {"reassignmentId": unassigned, **way}).status == 200
                assert issue(one, "four").status == 200
                one.advance(updates=50)
            assert state(second.world) == state(first.world)


def test_a_network_is_kept_and_loaded_by_path(tmp_path):
    with lf.sandbox(updates=80, seed=3) as net:
        net.sandbox.save(tmp_path / "world.db")
        net.sandbox.advance(updates=10)
        with lf.sandbox(load=tmp_path / "world.db") as other:
            other.sandbox.advance(updates=10)
            ours, theirs = (lf.load_updates(one, progress=False).update_id.tolist() for one in (net, other))
    assert ours == theirs
    assert len(ours) == 90


def test_no_key_and_no_token_is_in_the_file(tmp_path):
    with start(updates=20) as sandbox:
        token, key = sandbox.token("alice"), sandbox._issuer.key
        sandbox.save(tmp_path / "world.db")

    content = (tmp_path / "world.db").read_bytes()
    assert token.rpartition(".")[2].encode() not in content
    assert key not in content
    assert key.hex().encode() not in content


def test_a_failed_save_leaves_the_former_file_and_no_other(tmp_path):
    file, world = tmp_path / "world.db", generate(1, 10)
    save(world, file)
    before = file.read_bytes()
    world.stranger = object()

    with pytest.raises(WorldFileError, match=r"builtins\.object cannot be kept"):
        save(world, file)

    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("place", ["gone/world.db", "taken/world.db"])
def test_a_file_that_cannot_be_written_is_named(tmp_path, place):
    (tmp_path / "taken").write_text("a file where a folder should be")

    with pytest.raises(WorldFileError, match=r"world\.db.*another file"):
        save(generate(1, 5), tmp_path / place)


def change(file, *statements):
    with closing(sqlite3.connect(file)) as database, database:
        for statement in statements:
            database.execute(statement)


WRONG = {
    "missing": (lambda file: file.unlink(), "no file"),
    "empty": (lambda file: file.write_bytes(b""), "no world file"),
    "no database": (lambda file: file.write_bytes(b"PK" * 5_000), "no world file"),
    "cut off": (lambda file: file.write_bytes(file.read_bytes()[:20_000]), "no world file"),
    "another program's": (lambda file: change(file, "PRAGMA application_id = 7"), "no world file"),
    "newer": (lambda file: change(file, "PRAGMA user_version = 99"), "newer release"),
    "older": (lambda file: change(file, "PRAGMA user_version = 0"), "anew"),
    "a row less": (lambda file: change(file, "DELETE FROM objects WHERE number = 9"), "damaged"),
    "a row changed": (lambda file: change(file, "UPDATE objects SET content = x'00' WHERE number = 9"), "damaged"),
    "a row of another type": (
        lambda file: change(file, "UPDATE objects SET content = 'x' WHERE number = 9"),
        "damaged",
    ),
    "no checksum": (lambda file: change(file, "DELETE FROM about"), "damaged"),
    "no table": (lambda file: change(file, "DROP TABLE objects"), "no world file"),
}


@pytest.mark.parametrize(("spoil", "why"), WRONG.values(), ids=WRONG)
def test_a_file_that_is_no_whole_world_is_refused_with_the_reason(tmp_path, spoil, why):
    file = tmp_path / "world.db"
    save(generate(1, 5), file)
    spoil(file)

    with pytest.raises(lf.errors.InputError, match=why) as caught:
        lf.sandbox(load=file)

    assert str(file) in str(caught.value)


def test_a_file_with_another_root_is_no_world(tmp_path, monkeypatch):
    world = generate(1, 5)
    monkeypatch.setattr(world_file, "records_of", lambda _: records_of(world.accounts))
    save(world, tmp_path / "world.db")

    with pytest.raises(WorldFileError, match="Accounts, no world"):
        load(tmp_path / "world.db")


def test_a_world_of_another_release_is_refused(tmp_path):
    world = generate(1, 5)
    world.added_later = 1
    save(world, tmp_path / "world.db")

    with pytest.raises(WorldFileError, match="another release"):
        load(tmp_path / "world.db")


def test_every_sort_of_value_comes_back_as_it_was():
    shared = [1, "x\ud800", 2.5, True, None, 10**40]
    value = {
        "list": [shared, shared],
        ("tuple", 1): (1, (2, (shared,))),
        "groups": [{3, "a"}, frozenset({(1, 2)}), deque([1, 2], maxlen=5), deque()],
        "mappings": [Counter("aab"), OrderedDict(b=1, a=2)],
        "others": [b"\x00\xff", Decimal("1.50"), Right("CanActAs", "alice"), User("u", rights=frozenset({Right("x")}))],
    }
    value["itself"] = value

    made = again(value)

    assert made.pop("itself") is made
    del value["itself"]
    assert made == value
    assert made["list"][0] is made["list"][1] is made[("tuple", 1)][1][1][0]
    assert made["groups"][2].maxlen == 5
    assert [type(one) for one in made["mappings"]] == [Counter, OrderedDict]


STRANGE = {
    "a class of elsewhere": [["object", "subprocess:Popen", [], []]],
    "a class of the client": [["object", "ledgerframes.network:Network", [], []]],
    "a class brought in": [["object", "tests.benchmarks.bulk.start:subprocess", [], []]],
    "a function as a class": [["object", "tests.benchmarks.bulk.start:start_bulk", [], []]],
    "a class as a function": [["function", "ledgerframes.sandbox.world.world:World"]],
    "a function of elsewhere": [["function", "os:system"]],
    "no such module": [["function", "ledgerframes.sandbox.gone:f"]],
    "a program": [["function", "ledgerframes.sandbox.__main__:f"]],
    "a constant that is none": [["constant", "tests.benchmarks.bulk.start:subprocess"]],
    "a method that is none": [["method", [1], "__class__"], ["list", []]],
    "no such kind": [["pickle", "cos\nsystem\n"]],
    "another object's attributes": [["object", "ledgerframes.sandbox.world.accounts:Right", ["kind"], ["x"]]],
    "too few attributes": [["object", "ledgerframes.sandbox.world.accounts:User", ["id"], ["x"]]],
    "a number too high": [["list", [[7]]]],
    "no number": [["list", [["x"]]]],
    "itself inside itself": [["tuple", [[0]]]],
    "half a pair": [["dict", ["key"]]],
    "a list as a key": [["dict", [[1], 1]], ["list", []]],
    "no record": [[]],
    "nothing": [],
}


@pytest.mark.parametrize("records", STRANGE.values(), ids=STRANGE)
def test_records_that_make_no_sense_make_nothing(records):
    with pytest.raises(KeepingError):
        rebuild(records, [b""] * len(records))


@pytest.mark.parametrize("value", [object(), print, lambda: 0, open, type("Local", (), {"__module__": "x"})()])
def test_what_cannot_be_made_again_is_not_kept(value):
    with pytest.raises(KeepingError, match="cannot be kept"):
        list(records_of([value]))
