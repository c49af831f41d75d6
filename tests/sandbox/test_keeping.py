"""A kept world is the same world: what it serves, how it goes on, and what a strange file can do."""

from __future__ import annotations

import json

import pytest

import ledgerframes as lf
from ledgerframes.sandbox.generator.generate import generate
from ledgerframes.sandbox.server import start
from ledgerframes.sandbox.world.parties import Right, User
from ledgerframes.sandbox.world.templates import LOCKED_COIN
from ledgerframes.sandbox.world_file import WorldFileError, load, save
from tests.hostile.generate import generate_hostile
from tests.sandbox.asking import ask, party_of
from tests.sandbox.dars import dar


def state(world):
    """All that a world shows, and what it goes on with."""
    users = [world.accounts[user_id] for user_id in sorted(world.accounts)]
    chance = None if world.simulation is None else world.simulation.rng.getstate()
    return world.ledger_updates, sorted(world.contracts.active), users, world.packages, chance


@pytest.mark.parametrize(
    "options",
    [{}, {"updates": 0}, {"updates": 1}, {"migrations": 2}, {"reward_version": "switch"}, {"rounds_per_day": 24}],
    ids=str,
)
def test_a_kept_world_and_another_of_its_seed_are_the_same_and_go_on_alike(tmp_path, options):
    world, again = (generate(**{"seed": 5, "updates": 400, **options}) for _ in range(2))
    for one in (world, again):
        one.advance(60)
    save(world, tmp_path / "world.json")
    kept = load(tmp_path / "world.json")

    for one in (world, again, kept):
        one.advance(150)

    assert kept.updates == again.updates == world.updates
    assert state(kept) == state(again) == state(world)


def test_what_was_locked_is_still_locked(tmp_path):
    world = generate(7, 600)
    save(world, tmp_path / "world.json")

    kept = load(tmp_path / "world.json")

    locked = kept.contracts.of(LOCKED_COIN)
    assert [one.contract_id for one in locked] == [one.contract_id for one in world.contracts.of(LOCKED_COIN)]
    assert all(one.template is LOCKED_COIN for one in locked)


def test_a_loaded_sandbox_answers_byte_for_byte(tmp_path):
    file = tmp_path / "world.json"
    with start(updates=300) as first:
        first.advance(updates=20)
        first.world.accounts["nora"] = User("nora", rights=frozenset({Right("ParticipantAdmin")}))
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
    file = tmp_path / "world.json"
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
        net.sandbox.save(tmp_path / "world.json")
        net.sandbox.advance(updates=10)
        with lf.sandbox(load=tmp_path / "world.json") as other:
            other.sandbox.advance(updates=10)
            ours, theirs = (lf.load_updates(one, progress=False).update_id.tolist() for one in (net, other))
    assert ours == theirs
    assert len(ours) == 90


def test_no_key_and_no_token_is_in_the_file(tmp_path):
    with start(updates=20) as sandbox:
        token, key = sandbox.token("alice"), sandbox._issuer.key
        sandbox.save(tmp_path / "world.json")

    content = (tmp_path / "world.json").read_bytes()
    assert token.rpartition(".")[2].encode() not in content
    assert key not in content
    assert key.hex().encode() not in content


def test_a_ledger_that_no_seed_made_is_not_saved_and_the_former_file_stays(tmp_path):
    file = tmp_path / "world.json"
    save(generate(1, 10), file)
    before = file.read_bytes()

    with pytest.raises(WorldFileError, match="not made from a seed"):
        save(generate_hostile(1, 10), file)

    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("place", ["gone/world.json", "taken/world.json"])
def test_a_file_that_cannot_be_written_is_named(tmp_path, place):
    (tmp_path / "taken").write_text("a file where a folder should be")

    with pytest.raises(WorldFileError, match=r"world\.json.*another file"):
        save(generate(1, 5), tmp_path / place)


def change(file, **members):
    file.write_text(json.dumps(json.loads(file.read_bytes()) | members))


WRONG = {
    "missing": (lambda file: file.unlink(), "no file"),
    "empty": (lambda file: file.write_bytes(b""), "not a world file"),
    "no JSON": (lambda file: file.write_bytes(b"PK" * 5_000), "not a world file"),
    "cut off": (lambda file: file.write_bytes(file.read_bytes()[:500]), "not a world file"),
    "another program's": (lambda file: file.write_text("[1]"), "not a world file"),
    "newer": (lambda file: change(file, format=99), "format 99"),
    "changed": (lambda file: change(file, asked=[7]), "was changed"),
    "of another type": (lambda file: change(file, asked=["x"]), "damaged"),
    "with something else": (lambda file: change(file, more=1), "damaged"),
}


@pytest.mark.parametrize(("spoil", "why"), WRONG.values(), ids=WRONG)
def test_a_file_that_is_no_whole_world_is_refused_with_the_reason(tmp_path, spoil, why):
    file = tmp_path / "world.json"
    save(generate(1, 5), file)
    spoil(file)

    with pytest.raises(lf.errors.InputError, match=why) as caught:
        lf.sandbox(load=file)

    assert str(file) in str(caught.value)


def test_a_ledger_that_this_release_makes_otherwise_is_refused(tmp_path):
    world = generate(1, 5)
    world.made |= {"seed": 2}
    save(world, tmp_path / "world.json")

    with pytest.raises(WorldFileError, match="another release"):
        load(tmp_path / "world.json")
