"""Puts ids that the sandbox knows into half of the good cases, so that they get beyond "not found"."""

from __future__ import annotations

import io
import json
import os
import random
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ledgerframes.sandbox.server import Sandbox

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


def values_of(sandbox: Sandbox) -> dict[str, list[Any]]:
    """Ids of every sort that a sandbox knows, and whole contracts to create."""
    world = sandbox.world
    contracts = list(world.contracts.active.values())[-60:]
    items = list(world.items())
    events = [event for item in items for event in item.get("events_by_id", {}).values()]
    operator = world.accounts.get("validator_operator")
    own = [operator.primary_party] * 3 if operator and operator.primary_party else []
    return {
        "updates": [update.update_id for update in world.updates[-50:]],
        "hashes": [update.external_hash for update in world.updates if update.external_hash],
        "parties": [*own, *(user.primary_party for user in world.accounts.page("", 400) if user.primary_party)]
        or ["x"],
        "synchronizers": list(world.synchronizers),
        "templates": sorted({f"#{one.template.package_name}:{one.template.entity}" for one in contracts}),
        "contracts": [one.contract_id for one in contracts],
        "unassign_ids": [one["event"]["unassign_id"] for one in items if "event" in one] or ["x"],
        "choices": sorted({event["choice"] for event in events if isinstance(event.get("choice"), str)}) or ["Archive"],
        "times": [instant for number in (0, 1, 2) for instant in sandbox.snapshots(number)] or ["2025-03-03T09:00:00Z"],
        "instruments": [one.id for one in world.instruments],
        "creations": [
            {
                "templateId": f"#{one.template.package_name}:{one.template.entity}",
                "createArguments": _in_name_of(one.payload, own),
            }
            for one in contracts
        ],
    }


def _in_name_of(payload: Mapping[str, Any], own: list[str]) -> dict[str, Any]:
    """A payload whose issuer or owner is the caller's party."""
    return {**payload, **{name: own[0] for name in ("issuer", "sender") if own and name in payload}}


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
        if "createArguments" in value and values["creations"] and rng.random() < 0.7:
            value = {**value, **rng.choice(values["creations"])}
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


if VALUES in os.environ:
    import schemathesis

    schemathesis.hook(before_call)
