"""The sandbox's server: `start` puts a made-up ledger on a loopback port and hands back the handle to it."""

from __future__ import annotations

from collections import Counter
from types import TracebackType
from typing import Any, Self

from ledgerframes.sandbox import moments
from ledgerframes.sandbox.callers import Gate
from ledgerframes.sandbox.faults import Faults
from ledgerframes.sandbox.generate import generate
from ledgerframes.sandbox.hostile import generate_hostile
from ledgerframes.sandbox.serving import Served, serve
from ledgerframes.sandbox.snapshots import instants
from ledgerframes.sandbox.tokens import DAY, Issuer
from ledgerframes.sandbox.views import View
from ledgerframes.sandbox.world import World


def start(
    *,
    seed: int = 7,
    updates: int = 2_000,
    synchronizers: int = 3,
    migrations: int = 3,
    hostile: bool = False,
    world: World | None = None,
    port: int = 0,
    page_maximum: int = 1_000,
    silent_cap: int | None = None,
    lag: int = 0,
    late: float = 0.0,
    latency: float = 0.0,
    faults: Faults | None = None,
    newer: bool = False,
    older: bool = False,
    holdings_limit: int = 1_000,
    issuer: Issuer | None = None,
) -> Sandbox:
    """Make up a ledger and serve it on 127.0.0.1, until it is stopped or the interpreter ends.

    Args:
        seed: what the ledger is made up from; the same seed gives the same bytes.
        updates: how many updates its history has at first.
        synchronizers: how many synchronizers there are.
        migrations: how many migration ids there are.
        hostile: serve the nastiest legal data in place of a plausible ledger.
        world: serve this one; seed, updates, synchronizers, migrations and hostile then mean nothing.
        port: 0 takes a free one.
        page_maximum: the largest page of updates; a request for more is refused.
        silent_cap: give at most so many updates a page, without a word.
        lag: how many of the last updates this server has not seen yet.
        late: which share of the slowest synchronizer's newest updates shows up late, from 0 to 1.
        latency: seconds that every request waits.
        faults: what goes wrong; the handle's `faults` changes it later.
        newer: a release that looks updates up under /v2 in place of /v1, and on the ledger interface by update-by-id.
        older: a release with the earliest round under its former path, and without the newer holdings summary.
        holdings_limit: a holdings summary of more coin contracts than this is refused.
        issuer: whose tokens count; one of its own without it.
    """
    issuer = issuer or Issuer()
    if world is None:
        usual = {"synchronizers": synchronizers, "migrations": migrations}
        world = generate_hostile(seed, updates) if hostile else generate(seed, updates, **usual)
    app = _app(
        View(world, lag=lag, late=late, seed=seed),
        Gate(world.accounts, issuer),
        holdings_limit=holdings_limit,
        page_maximum=page_maximum,
        silent_cap=silent_cap,
        newer=newer,
        older=older,
    )
    return Sandbox(world, serve(app, port=port, faults=faults, latency=latency), issuer=issuer)


class Sandbox:
    """A running sandbox; a context manager that stops it.

    Attributes:
        world: the ledger it serves; `world.items()` is the truth.
    """

    def __init__(self, world: World, served: Served, *, issuer: Issuer) -> None:
        self.world = world
        self._served = served
        self._issuer = issuer

    @property
    def url(self) -> str:
        """The server's root, such as `http://127.0.0.1:41234`."""
        return self._served.url

    @property
    def scan_url(self) -> str:
        """The base of the Scan interface."""
        return f"{self.url}/api/scan"

    @property
    def validator_url(self) -> str:
        """The base of the Validator interface."""
        return f"{self.url}/api/validator"

    @property
    def registry_url(self) -> str:
        """The base of the token-registry interface."""
        return self.url

    @property
    def ledger_url(self) -> str:
        """The base of the participant ledger interface."""
        return f"{self.url}/api/ledger"

    @property
    def requests(self) -> Counter[str]:
        """Requests that came in so far, by "METHOD /path", whatever became of them."""
        return self._served.arrived

    @property
    def faults(self) -> Faults | None:
        """What goes wrong at present; set it to another value, or to None for nothing."""
        return self._served.faults

    @faults.setter
    def faults(self, faults: Faults | None) -> None:
        self._served.faults = faults

    def advance(self, *, updates: int) -> None:
        """Let the ledger live on for so many more updates, all in its newest migration."""
        self.world.advance(updates)

    def replica(self, **options: Any) -> Sandbox:
        """Start another server over the same world, with the options of `start`."""
        return start(world=self.world, issuer=self._issuer, **options)

    def token(self, user: str, *, lifetime: float = DAY) -> str:
        """Issue a token for the ledger and the validator interface; replicas accept it too.

        Args:
            user: id of the token's user, such as `alice`, `validator_operator` (may do everything) or
                `participant_admin`; a user nobody has created is denied.
            lifetime: seconds from now until it expires.
        """
        return self._issuer.issue(user, lifetime=lifetime)

    def snapshots(self, migration_id: int) -> list[str]:
        """The instants of a migration at which `exact` finds a holdings summary, oldest first."""
        with self.world.lock:
            return [moments.exact(instant) for instant in instants(self.world, migration_id)]

    def stop(self) -> None:
        """Close every connection and free the port; a second call does nothing."""
        self._served.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<Sandbox {self.url}, {len(self.world.updates)} updates>"


def _app(view: View, gate: Gate, *, holdings_limit: int, newer: bool, older: bool, **options: Any) -> Any:
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.routing import Mount, Router

    from ledgerframes.sandbox.answering import RefusalError, no_route, refuse
    from ledgerframes.sandbox.ledger import Ledger
    from ledgerframes.sandbox.ledger_errors import LedgerError, UnreadableError, refuse_json, refuse_text
    from ledgerframes.sandbox.ledger_routes import LedgerRoutes
    from ledgerframes.sandbox.registry import Registry
    from ledgerframes.sandbox.scan import Scan, ScanOptions
    from ledgerframes.sandbox.validator import Validator

    world = view.world
    mounted: dict[str, Scan | Validator | LedgerRoutes] = {
        "/api/scan": Scan(view, ScanOptions(newer=newer, older=older, **options)),
        "/api/validator": Validator(world, gate, holdings_maximum=holdings_limit, older=older),
        "/api/ledger": LedgerRoutes(Ledger(world), gate, newer=newer),
    }
    handlers = {
        RefusalError: refuse,
        LedgerError: refuse_json,
        UnreadableError: refuse_text,
        HTTPException: no_route,
    }
    routes = [Mount(at, app=Router(one.routes(), redirect_slashes=False)) for at, one in mounted.items()]
    app = Starlette(routes=[*routes, *Registry(world).routes()], exception_handlers=handlers)
    app.router.redirect_slashes = False
    return app
