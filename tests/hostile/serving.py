"""Sandboxes with what only tests ask for: hostile data, limits of pages and holdings, servers that lag."""

from __future__ import annotations

from typing import Any

from ledgerframes.config.resolving import resolve
from ledgerframes.embedded import SANDBOX_USER
from ledgerframes.network import Network
from ledgerframes.sandbox.server import Sandbox, start
from tests.hostile.generate import generate_hostile


def started(*, hostile: bool = False, **options: Any) -> Sandbox:
    """A server with the options of `start`, over the usual ledger or the nastiest legal one."""
    if hostile:
        options["world"] = generate_hostile(options.pop("seed", 7), options.pop("updates", 2_000))
    return start(**options)


def simulated(**options: Any) -> Network:
    """The same as a network, as `lf.sandbox` returns one."""
    handle = started(**options)
    urls = {f"{name}_url": getattr(handle, f"{name}_url") for name in ("scan", "validator", "registry", "ledger")}
    return Network(resolve(environ={}, token=handle.token(SANDBOX_USER), **urls), sandbox=handle)
