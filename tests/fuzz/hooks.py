"""Puts ids that the sandbox knows into half of the good cases, so that they get beyond "not found"."""

from __future__ import annotations

import io
import json
import os
import random
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ledgerframes.sandbox.server import Sandbox
from ledgerframes.sandbox.world.contracts import Contract
from tests.official.answer_faults import unlike_real_servers

VALUES = "LEDGERFRAMES_FUZZ_VALUES"

# Which sort of id stands in a member or parameter of that name.
SORTS = {
    **dict.fromkeys(("updateId", "update_id"), "updates"),
    **dict.fromkeys(("party", "submitter", "actAs", "readAs", "owner_party_ids", "requestingParties"), "parties"),
    **dict.fromkeys(("source", "target", "synchronizerId"), "synchronizers"),
    **dict.fromkeys(("templateId", "interfaceId"), "templates"),
    "contractId": "contracts",
    "reassignmentId": "unassign_ids",
    "choice": "choices",
    "hash": "hashes",
    "record_time": "times",
    "id": "instruments",
}

# What would have to fit the world for a command to be carried out.
CONSTRAINTS = frozenset(
    ("userId", "synchronizerId", "minLedgerTimeAbs", "minLedgerTimeRel", "disclosedContracts", "prefetchContractKeys",
     "packageIdSelectionPreference", "readAs", "workflowId", "submissionId", "deduplicationPeriod", "tapsMaxPasses")
)  # fmt: skip


def values_of(sandbox: Sandbox) -> dict[str, list[Any]]:
    """Ids of every sort that a sandbox knows, and commands that it can carry out."""
    world = sandbox.world
    contracts = list(world.contracts.active.values())[-200:]
    items = list(world.items())
    events = [event for item in items for event in item.get("events_by_id", {}).values()]
    parties = sorted({user.primary_party for user in world.accounts.values() if user.primary_party})
    own = [one for one in contracts if {*one.signatories} <= {*parties} and one.signatories]
    return {
        "updates": [update.update_id for update in world.updates[-50:]],
        "hashes": [update.external_hash for update in world.updates if update.external_hash],
        "parties": parties or ["x"],
        "synchronizers": list(world.synchronizers),
        "templates": sorted({_template(one) for one in contracts}),
        "contracts": [one.contract_id for one in contracts],
        "unassign_ids": [one["event"]["unassign_id"] for one in items if "event" in one] or ["x"],
        "choices": sorted({event["choice"] for event in events if isinstance(event.get("choice"), str)}) or ["Archive"],
        "times": [instant for number in (0, 1, 2) for instant in sandbox.snapshots(number)] or ["2025-03-03T09:00:00Z"],
        "instruments": [one.id for one in world.instruments],
        "batches": [batch for one in own for batch in _batches(one)],
        "moves": [_move(one, world.synchronizers) for one in own if one.synchronizer_id],
    }


def _template(contract: Contract) -> str:
    return f"#{contract.template.package_name}:{contract.template.entity}"


def _batches(contract: Contract) -> list[dict[str, Any]]:
    """Its creation once more, its end, and its transfer if it is an IOU."""
    act_as = [*contract.signatories, *contract.observers]
    exercise = {"templateId": _template(contract), "contractId": contract.contract_id}
    ending = {**exercise, "choice": "Archive", "choiceArgument": {}}
    passing = {**exercise, "choice": "Iou_Transfer", "choiceArgument": {"newOwner": contract.signatories[0]}}
    creating = {"templateId": _template(contract), "createArguments": contract.payload}
    commands = [{"CreateCommand": creating}, {"ExerciseCommand": ending}, {"ExerciseCommand": passing}]
    return [{"commands": [one], "actAs": act_as} for one in commands]


def _move(contract: Contract, synchronizers: Sequence[str]) -> dict[str, Any]:
    target = next(one for one in reversed(synchronizers) if one != contract.synchronizer_id)
    value = {"contractId": contract.contract_id, "source": contract.synchronizer_id, "target": target}
    return {"commands": [{"command": {"UnassignCommand": {"value": value}}}], "submitter": contract.signatories[0]}


def archive(rng: random.Random) -> bytes:
    """A DAR, half of the time with a byte changed."""
    packed = io.BytesIO()
    path = f"app-{rng.randrange(3)}.0.dalf"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("META-INF/MANIFEST.MF", f"Main-Dalf: {path}\nDalfs: {path}\n")
        file.writestr(path, rng.randbytes(1 + rng.randrange(3)))
    content = bytearray(packed.getvalue())
    if rng.random() < 0.5:
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    return bytes(content)


def known(value: Any, values: Mapping[str, list[Any]], rng: random.Random, name: str = "") -> Any:
    """A generated value with known ids in the places where ids stand."""
    if isinstance(value, dict):
        for mark, ready in (("actAs", "batches"), ("submitter", "moves")):
            if mark in value and values[ready] and rng.random() < 0.6:
                kept = {name: one for name, one in value.items() if name not in CONSTRAINTS}
                return {**kept, **rng.choice(values[ready]), "commandId": f"fuzz-{rng.getrandbits(64):x}"}
        return {member: known(one, values, rng, member) for member, one in value.items()}
    if isinstance(value, list):
        return [known(one, values, rng, name) for one in value]
    pool = values.get(SORTS.get(name, ""))
    return rng.choice(pool) if isinstance(value, str) and pool and rng.random() < 0.8 else value


def before_call(_context: Any, case: Any, **_options: Any) -> None:
    """Change a case that is meant to be good, every other time; called by schemathesis."""
    rng = random.Random(repr((case.path_parameters, case.query, case.body)))
    if case.meta is None or case.meta.generation.mode.name != "POSITIVE" or rng.random() < 0.5:
        return
    values = json.loads(Path(os.environ[VALUES]).read_text(encoding="utf-8"))
    if case.media_type == "application/octet-stream":
        case.body = archive(rng)
    elif isinstance(case.body, dict):
        case.body = known(case.body, values, rng)
    if isinstance(case.path_parameters, dict):
        case.path_parameters = known(case.path_parameters, values, rng)
    if isinstance(case.query, dict):
        case.query = known(case.query, values, rng)


def official(_context: Any, response: Any, case: Any) -> None:
    """Fail where an answer breaks its official file in a way that no real one does; called by schemathesis."""
    values = json.loads(Path(os.environ[VALUES]).read_text(encoding="utf-8"))
    path = urlsplit(response.request.url).path.removeprefix(urlsplit(values["base"]).path)
    kind = response.headers.get("content-type", [""])[0].partition(";")[0]
    if response.status_code == 405 and kind == "text/plain":
        return  # a method that no file has
    broken = unlike_real_servers(
        values["interface"], case.method.upper(), path, response.status_code, kind, response.content
    )
    assert not broken, f"{case.method} {path} -> {response.status_code}: {sorted(broken)}"


if VALUES in os.environ:
    import schemathesis

    schemathesis.hook(before_call)
    schemathesis.check(official)
