"""A kept world is the same world: what it serves, how it goes on, and what a strange file can do."""

import json

import pytest

import ledgerframes as lf
from ledgerframes.sandbox.generator.generate import generate
from ledgerframes.sandbox.server import start
from ledgerframes.sandbox.world.templates import LOCKED_COIN
from ledgerframes.sandbox.world_file import WorldFileError, load, save
from tests.hostile.generate import generate_hostile
from tests.sandbox.asking import ask, call
from tests.sandbox.commanding import IOU, USERS, Desk, assign, create, created, iou, refusal, unassign
from tests.sandbox.dars import dar


def state(world):
    """All that a world shows, and what it goes on with."""
    users = [world.accounts[user_id] for user_id in sorted(world.accounts)]
    chance = None if world.simulation is None else world.simulation.rng.getstate()
    locked = sorted(one.contract_id for one in world.contracts.of(LOCKED_COIN))
    return world.updates, world.ledger_updates, sorted(world.contracts.active), locked, users, world.packages, chance


@pytest.mark.parametrize(
    "options",
    [{}, {"updates": 0}, {"updates": 1}, {"migrations": 2}, {"reward_version": "switch"}, {"rounds_per_day": 24}],
    ids=str,
)
def test_a_kept_world_and_another_of_its_seed_are_the_same_and_go_on_alike(tmp_path, options):
    world, again = (generate(**{"seed": 5, "updates": 200, **options}) for _ in range(2))
    for one in (world, again):
        one.advance(60)
    save(world, tmp_path / "world.json")
    kept = load(tmp_path / "world.json")

    for one in (world, again, kept):
        one.advance(60)

    assert state(kept) == state(again) == state(world)
    assert len(world.updates) == options.get("updates", 200) + 120


def test_what_was_asked_of_a_ledger_is_kept_without_a_key_or_a_token_and_it_goes_on_alike(tmp_path):
    file = tmp_path / "world.json"
    with start(updates=100) as first:
        desk = Desk(first)
        (moved,) = created(desk.submit(create(IOU, iou(desk)), commandId="one", submissionId="one"))
        way = first.world.synchronizers[:2]
        assert desk.reassign(unassign(moved, *way), commandId="two", submissionId="two").status == 200
        unassigned = json.loads(first.world.ledger_updates[-1].rendered)["event"]["unassign_id"]
        nora = {"user": {"id": "nora"}, "rights": [{"kind": {"ParticipantAdmin": {"value": {}}}}]}
        assert desk.post(USERS, nora, user="participant_admin").status == 200
        binary = {"Content-Type": "application/octet-stream"}
        assert call(first, "ledger", "/v2/packages", dar(), user="nora", headers=binary).status == 200
        first.advance(updates=20)
        first.save(file)
        key, token = first._issuer.key, first.token("alice").rpartition(".")[2].encode()
        assert not any(one in file.read_bytes() for one in (key, key.hex().encode(), token))
        with lf.sandbox(load=file) as net:
            second, other = net.sandbox, Desk(net.sandbox)
            assert state(second.world) == state(first.world)
            assert second.packages
            assert refusal(other.submit(create(IOU, iou(other)), commandId="one")) == (409, "DUPLICATE_COMMAND")
            assert other.post(USERS, None, user="nora").status == 200
            for one in (desk, other):
                arrived = one.reassign(assign(unassigned, *way), commandId="three", submissionId="three")
                made = one.submit(create(IOU, iou(one)), commandId="four", submissionId="four")
                assert (arrived.status, made.status) == (200, 200)
                one.sandbox.advance(updates=50)
            assert state(second.world) == state(first.world)
            pages = [ask(f"{one.scan_url}/v2/updates", {"page_size": 1_000}).body for one in (first, second)]
            assert pages[0] == pages[1]


def test_what_no_seed_made_or_cannot_be_written_is_not_saved_and_the_former_file_stays(tmp_path):
    file = tmp_path / "world.json"
    save(generate(1, 10), file)
    before = file.read_bytes()

    with pytest.raises(WorldFileError, match="not made from a seed"):
        save(generate_hostile(1, 10), file)

    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]
    for place in ("gone/world.json", "world.json/world.json"):
        with pytest.raises(WorldFileError, match=r"world\.json.*another file"):
            save(generate(1, 5), tmp_path / place)


def change(file, **members):
    file.write_text(json.dumps(json.loads(file.read_bytes()) | members))


def save_as_another(file):
    """Save a ledger that this release makes otherwise."""
    world = generate(1, 5)
    world.made |= {"seed": 2}
    save(world, file)


WRONG = {
    "missing": (lambda file: file.unlink(), "no file"),
    "cut off": (lambda file: file.write_bytes(file.read_bytes()[:500]), "not a world file"),
    "another program's": (lambda file: file.write_text("[1]"), "not a world file"),
    "newer": (lambda file: change(file, format=99), "format 99"),
    "changed": (lambda file: change(file, asked=[7]), "was changed"),
    "of another type": (lambda file: change(file, asked=["x"]), "damaged"),
    "of another release": (save_as_another, "another release"),
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
