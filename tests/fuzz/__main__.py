"""Runs schemathesis against sandboxes of every sort: `python -m tests.fuzz [--cases N] [--seed N]`.

It reads the official files in `tests/official/openapi`. No answer may be a 500, nor break these files in a way that no
capture of a real server shows. It ends with 1 if one did, or if there were fewer cases than `LEAST`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import httpx

from ledgerframes.sandbox.server import Sandbox
from ledgerframes.sandbox.world.parties import Right, User
from tests.fuzz.hooks import VALUES, values_of
from tests.official.interface_files import FILES, document
from tests.rigs.servers import started

ROOT = Path(__file__).resolve().parents[2]
LEAST = 5_000
EVERYBODY = "everybody"
RUNS: dict[str, tuple[dict[str, Any], str]] = {
    "release 0.7, who may do everything": ({"release": "0.7"}, EVERYBODY),
    "release 0.9, who may do everything": ({"release": "0.9"}, EVERYBODY),
    "release 0.7, who has a wallet": ({"release": "0.7"}, "alice"),
    "older scan, who manages": ({"release": "0.5"}, "participant_admin"),
    # Such a ledger answers commands with 501, as documented; schemathesis takes any 5xx for a crash.
    "hostile data, who acts for nobody": ({"hostile": True}, "validator_operator"),
}
# A server's crash, and `official` of the hooks: the files cannot say which tokens, archives and ids are good ones.
CHECKED = "not_a_server_error,official"
# Hostile items are of kinds that no file knows, so such a server must only not crash.
HOSTILE = "not_a_server_error"
# Another route of the sandbox takes their paths: `/v0/featured-apps/{party}` any text, as parties may have any.
HIDDEN = frozenset({"/v0/featured-apps/by-provider/{provider_party_id}"})


def main() -> int:
    """Run everything and say how many cases there were."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=100, help="random cases an operation, besides the systematic ones")
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    total, failed = 0, []
    for name, (options, user) in RUNS.items():
        with started(updates=300, **options) as sandbox:
            admit_everybody(sandbox)
            cases, code = fuzz(sandbox, user, cases=arguments.cases, seed=arguments.seed)
        total += cases
        failed += [name] if code else []
        print(f"{name}: {cases} cases, {'FAILED' if code else 'well'}", flush=True)
    print(f"{total} cases in all, {len(failed)} of {len(RUNS)} runs failed")
    return 1 if failed or total < LEAST else 0


def admit_everybody(sandbox: Sandbox) -> None:
    """Add a user who may manage, and read and act as any party there is."""
    accounts = sandbox.world.accounts
    held = {right.party for user in accounts.values() for right in user.rights if right.party}
    stakeholders = {party for one in sandbox.world.contracts.active.values() for party in one.signatories}
    acting = {Right("CanActAs", party) for party in held | stakeholders}
    rights = frozenset({Right("ParticipantAdmin"), Right("CanReadAsAnyParty"), *acting})
    accounts[EVERYBODY] = User(EVERYBODY, rights=rights)


def fuzz(sandbox: Sandbox, user: str, *, cases: int, seed: int) -> tuple[int, int]:
    """Run schemathesis once per official file; how many cases it sent, and the worst exit code."""
    done = [
        _fuzz_file(sandbox, user, interface, name, cases=cases, seed=seed)
        for interface, names in FILES.items()
        for name in names
    ]
    return sum(sent for sent, _ in done), max(code for _, code in done)


def _fuzz_file(sandbox: Sandbox, user: str, interface: str, name: str, *, cases: int, seed: int) -> tuple[int, int]:
    base = getattr(sandbox, f"{interface}_url")
    described = _served(document(name).content, base)
    if not described["paths"]:
        return 0, 0
    with tempfile.TemporaryDirectory() as folder:
        report, values, file = (Path(folder, f"{one}.json") for one in ("report", "values", "official"))
        values.write_text(json.dumps({**values_of(sandbox), "interface": interface, "base": base}), encoding="utf-8")
        file.write_text(json.dumps(described, default=str), encoding="utf-8")
        checks = CHECKED if sandbox.world.made else HOSTILE
        command = [
            *(str(Path(sys.executable).with_name("st")), "run", str(file), "--url", base),
            *("--header", f"Authorization: Bearer {sandbox.token(user)}"),
            *("--phases", "coverage,fuzzing", "--checks", checks, "--continue-on-failure"),
            *("--max-examples", str(cases), "--seed", str(seed), "--generation-database", "none"),
            *("--suppress-health-check", "all", "--warnings", "off", "--request-timeout", "20"),
            *("--report", "json", "--report-json-path", str(report)),
        ]
        environ = {**os.environ, "SCHEMATHESIS_HOOKS": "tests.fuzz.hooks", "PYTHONPATH": str(ROOT), VALUES: str(values)}
        ended = subprocess.run(command, check=False, capture_output=True, text=True, env=environ, cwd=folder)
        if ended.returncode:
            print(ended.stdout + ended.stderr)
        told = json.loads(report.read_text(encoding="utf-8")) if report.exists() else {}
    return told.get("test_cases", {}).get("generated", 0), ended.returncode


def _served(content: dict[str, Any], base: str) -> dict[str, Any]:
    """A file with the operations that a server has, told by what it allows."""
    paths = {}
    for path, methods in content["paths"].items():
        url = base + re.sub(r"\{[^}]+\}", "x", path)
        allowed = (httpx.patch(url, trust_env=False).headers.get("Allow") or "").lower().replace(" ", "").split(",")
        if path in HIDDEN:
            continue
        paths[path] = {method: one for method, one in methods.items() if method in allowed or method == "parameters"}
    return {**content, "paths": {path: methods for path, methods in paths.items() if methods.keys() - {"parameters"}}}


if __name__ == "__main__":
    sys.exit(main())
