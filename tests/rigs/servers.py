"""Servers with what only tests ask for: hostile data, other limits, lag, damaged objects."""

from __future__ import annotations

from typing import Any

from ledgerframes.config.profiles import resolve
from ledgerframes.embedded import SANDBOX_USER
from ledgerframes.network import Network
from ledgerframes.sandbox.faults import App
from ledgerframes.sandbox.generator.generate import generate
from ledgerframes.sandbox.http.app import app_of
from ledgerframes.sandbox.http.ledger_access import Access, Issuer
from ledgerframes.sandbox.server import Sandbox
from ledgerframes.sandbox.start_options import read_options
from ledgerframes.sandbox.world.world import World
from tests.hostile.generate import generate_hostile
from tests.rigs.object_faults import ObjectFaults, SpoiledObjects
from tests.rigs.views import RiggedView


class Rigged(Sandbox):
    """A running sandbox whose objects can be damaged."""

    objects: SpoiledObjects

    @property
    def object_faults(self) -> ObjectFaults:
        """What is wrong with the objects of the history; set it to another value at any time."""
        return self.objects.faults

    @object_faults.setter
    def object_faults(self, faults: ObjectFaults) -> None:
        self.objects.faults = faults


def started(
    *,
    world: World | None = None,
    hostile: bool = False,
    synchronizers: int = 3,
    lag: int = 0,
    page_maximum: int = 1_000,
    holdings_limit: int = 1_000,
    silent_cap: int = 1_000,
    issuer: Issuer | None = None,
    **options: Any,
) -> Rigged:
    """A server over the usual ledger, the nastiest legal one or a given one.

    Args:
        world: serve this world.
        hostile: serve the nastiest legal ledger.
        synchronizers: how many the usual ledger has.
        lag: the number of newest updates that this server does not have yet.
        page_maximum: the largest page; a request for more is refused.
        holdings_limit: a holdings summary of more coin contracts than this is refused.
        silent_cap: silently return this number of updates per page at most.
        issuer: issues the tokens that the server accepts; a new one by default.
        options: those of the sandbox's `start` but for `load`.
    """
    (how, history), issuer = read_options(**options), issuer or Issuer()
    if hostile:
        world = generate_hostile(history["seed"], history["updates"])
    if world is None:
        world = generate(**history, synchronizers=synchronizers)
    view = RiggedView(world, lag=lag, most=silent_cap, pruning=how.pruning)
    objects = SpoiledObjects(view, as_sent=hostile)
    app: App = app_of(
        view,
        Access(world.accounts, issuer, how.nobody),
        release=how.release,
        page_maximum=page_maximum,
        holdings_maximum=holdings_limit,
        objects=objects,
    )
    rigged = Rigged(view, app, how, issuer=issuer)
    rigged.objects = objects
    return rigged


def replica(sandbox: Sandbox, **options: Any) -> Rigged:
    """Another server over the same world that takes the same tokens, with the options of `started`."""
    return started(world=sandbox.world, issuer=sandbox._issuer, **options)


def simulated(**options: Any) -> Network:
    """A server with the options of `started` as a network, as `lf.sandbox` returns one."""
    return connected(started(**options))


def connected(sandbox: Sandbox) -> Network:
    """A server as a network with a token; leaving it stops the server."""
    urls = {f"{name}_url": getattr(sandbox, f"{name}_url") for name in ("scan", "validator", "registry", "ledger")}
    return Network(resolve(environ={}, token=sandbox.token(SANDBOX_USER), **urls), sandbox=sandbox)
