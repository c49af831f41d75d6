"""Many threads at a sandbox at once, reading and commanding: no failure, one consistent state, and quick."""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from functools import partial

import pytest

from ledgerframes.sandbox.commands.batches import RequestedChange, carry_out, write_batch
from ledgerframes.sandbox.commands.bodies import CommandVariants, CreateCommand, SubmitCommands
from ledgerframes.sandbox.generator.generate import generate
from ledgerframes.sandbox.server import start
from ledgerframes.sandbox.world.world import ChangeId
from tests.economics.books import Books
from tests.sandbox.asking import ask
from tests.sandbox.commanding import IOU, Desk, assign, create, created, exercise, unassign

THREADS, REQUESTS = 20, 10


def test_twenty_threads_with_two_hundred_requests_leave_one_consistent_state():
    with start(seed=3, updates=300) as sandbox:
        desk = Desk(sandbox)
        shared = desk.iou()
        with ThreadPoolExecutor(THREADS) as pool:
            found = list(pool.map(lambda number: worker(desk, number, shared), range(THREADS)))
        statuses = sum(found, Counter())
        book, world = Books(world_items(sandbox)), sandbox.world

    assert statuses.total() >= THREADS * REQUESTS
    assert not {status for _, status in statuses if status >= 500}
    assert statuses["shared", 200] == 1
    assert statuses["same id", 200] == 1
    assert statuses["same id", 409] == THREADS - 1
    assert {contract: (life.place, life.counter) for contract, life in book.active().items()} == {
        one.contract_id: (one.synchronizer_id, one.counter) for one in world.contracts.active.values()
    }
    assert book.supply == Decimal(world.coins.units) / 10**10
    assert len({update.update_id for update in world.updates}) == len(world.updates)


def worker(desk, number, shared):
    """Ten requests of one thread: commands of its own, two that everybody sends, and reads of every interface."""
    sandbox, here, there = desk.sandbox, *desk.sandbox.world.synchronizers[:2]
    alice = desk.party("alice")
    payload = {"issuer": alice, "owner": alice, "currency": "USD", "amount": "4"}
    token = sandbox.token("alice")
    statuses = Counter()

    def note(kind, answer):
        statuses[kind, answer.status] += 1
        return answer

    (mine,) = created(note("create", desk.submit(create(IOU, payload))))
    seen = {"filtersByParty": {alice: {}}}
    left = note("unassign", desk.reassign(unassign(mine, here, there), events=seen))
    (event,) = left.json["reassignment"]["events"]
    note("assign", desk.reassign(assign(event["JsUnassignedEvent"]["value"]["reassignmentId"], here, there)))
    note("split", desk.submit(exercise(IOU, mine, "Iou_Split", {"splitAmount": "1"})))
    note("same id", desk.submit(create(IOU, payload), commandId="everybody"))
    note("shared", desk.submit(exercise(IOU, shared, "Iou_Settle")))
    note("user", desk.post("/v2/users", {"user": {"id": f"t-{number}"}}, user="participant_admin"))
    note("page", ask(f"{sandbox.scan_url}/v2/updates", {"page_size": 1000}))
    note("offers", ask(f"{sandbox.validator_url}/v0/wallet/transfer-offers", token=token))
    note("instruments", ask(f"{sandbox.registry_url}/registry/metadata/v1/instruments"))
    if number % 5 == 0:
        sandbox.advance(updates=20)
    return statuses


def world_items(sandbox):
    with sandbox.world.lock:
        return list(sandbox.world.items(private=True))


@pytest.mark.long
def test_a_command_takes_no_longer_on_a_long_history():
    spans = [per_command(generate(1, updates)) for updates in (500, 20_000)]

    assert spans[1] < 10 * spans[0] + 0.001, spans


def per_command(world):
    """Processor seconds of the quickest of a few runs of fifty commands, for one command."""
    alice = world.accounts.get("alice").primary_party
    payload = {"issuer": alice, "owner": alice, "currency": "USD", "amount": "1"}
    best = float("inf")
    for run in range(5):
        begin = time.thread_time()
        for number in range(50):
            order = RequestedChange(ChangeId("alice", frozenset({alice}), f"{run}-{number}"), "", "")
            command = CreateCommand(IOU, payload)
            body = SubmitCommands([CommandVariants(create_command=command)], f"{run}-{number}", act_as=[alice])
            carry_out(world, order, partial(write_batch, [command], body))
        best = min(best, (time.thread_time() - begin) / 50)
    return best
