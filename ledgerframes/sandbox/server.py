"""The sandbox's server: `start` puts a simulated ledger on a loopback port and returns its handle."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType, TracebackType
from typing import Any, Final, Self

from ledgerframes.sandbox.faults import Faults
from ledgerframes.sandbox.generator.generate import generate
from ledgerframes.sandbox.generator.growth import LedgerGrowth, parse_rate
from ledgerframes.sandbox.generator.made_up_users import OPERATOR
from ledgerframes.sandbox.http.callers import Access
from ledgerframes.sandbox.object_faults import ObjectFaults
from ledgerframes.sandbox.serving import Served, serve
from ledgerframes.sandbox.start_options import (
    REWARD_VERSIONS,
    check_choice,
    check_days,
    check_faults,
    check_rounds_per_day,
    read_pruning,
    real,
    whole,
)
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.package_store import Stored
from ledgerframes.sandbox.world.templates import COIN_RULES, TOKEN_RULES
from ledgerframes.sandbox.world.tokens import DAY, Issuer
from ledgerframes.sandbox.world.views import View
from ledgerframes.sandbox.world.world import World
from ledgerframes.sandbox.world_file import load as load_world
from ledgerframes.sandbox.world_file import save as save_world


def start(
    *,
    seed: int = 7,
    updates: int = 2_000,
    days: int | None = None,
    rounds_per_day: int | None = None,
    reward_version: str = "markers",
    synchronizers: int = 3,
    migrations: int = 3,
    world: World | None = None,
    load: str | os.PathLike[str] | None = None,
    port: int = 0,
    page_maximum: int = 1_000,
    silent_cap: int | None = None,
    lag: int = 0,
    late: float = 0.0,
    latency: float = 0.0,
    faults: Faults | None = None,
    release: str = "contract",
    prune_before: Any = None,
    prune: str | None = None,
    auth: str = "token",
    live: str | None = None,
    holdings_limit: int = 1_000,
    issuer: Issuer | None = None,
) -> Sandbox:
    """Make up a ledger and serve it on 127.0.0.1, until it is stopped or the interpreter ends.

    Args:
        seed: of the simulated ledger; the same seed gives the same bytes.
        updates: the number of updates that the scan shows at the start: what the organization that runs the ledger is a
            stakeholder of, and what lies below its choices. Private workflows come in addition; their parties see them
            through the ledger interface.
        days: instead, a quiet history of this many days, in which people keep office hours and weekends; 48 updates per
            round.
        rounds_per_day: mining rounds per day, each opened, summarized, issued and closed at its times. None: 144 as on
            a network, one every ten minutes; where `days` is more than 3, 24; more than 10, 4.
        reward_version: "markers": apps are rewarded by coupons of the rounds; "traffic": by `RewardCouponV2`, worked
            out after a round; "switch": the members vote for dry runs of it after a fifth of the history, and for the
            switch after two fifths.
        synchronizers: the number of synchronizers.
        migrations: the number of migration ids.
        world: serve this world; what says how to make one up is ignored, from seed to migrations.
        load: serve the world in this file, which `Sandbox.save` wrote; the same arguments are ignored.
        port: 0 takes a free one.
        page_maximum: the largest page of updates; a request for more is refused.
        silent_cap: silently return this number of updates per page at most.
        lag: the number of newest updates that this server does not have yet.
        late: the share of the newest updates of other synchronizers than the main one that appear late, from 0 to 1.
        latency: seconds that every request waits.
        faults: the faults to inject; the handle's `faults` changes them later.
        release: which routes and answers there are. "contract" is everything of 0.9 and the contract's deprecated
            routes; "0.9" (with Canton 3.6), "0.7" (3.5), "0.6" and "0.5" (3.4) have what these releases of Splice have.
            Deprecated routes say in a header that they are.
        prune_before: the scan has thrown away what was recorded before this time (text or datetime), or before this
            pair of migration id and time: updates, events and snapshots. Its bulk objects still have everything.
            `Sandbox.prune` changes it later.
        prune: instead, the scan keeps what was recorded in this time (`30d`, `6h`, `20m`, `90s`) before the ledger's
            newest update; it moves on as the ledger grows.
        auth: `"token"`: ledger and validator ask for a valid token. `"none"`: they answer without one, as `OPERATOR`.
        live: the ledger grows at this rate, such as `50/s`, until the sandbox stops.
        holdings_limit: a holdings summary of more coin contracts than this is refused.
        issuer: issues the tokens that the server accepts; a new one by default.

    Raises:
        ValueError: a value is not valid, or the file does not hold a world.
        OSError: the port is not available.
    """
    from ledgerframes.sandbox.http.releases import check_release

    # Checked before the ledger is made, which can take seconds.
    check_release(release)
    rate = None if live is None else parse_rate(live)
    seed, updates = whole(seed, "seed"), whole(updates, "updates", least=0)
    rounds_per_day = check_rounds_per_day(rounds_per_day)
    reward_version = check_choice(reward_version, "reward_version", REWARD_VERSIONS)
    if days is not None:
        days = whole(days, "days")
        updates = check_days(days, updates=updates, rounds_per_day=rounds_per_day)
    synchronizers = whole(synchronizers, "synchronizers", least=1)
    migrations = whole(migrations, "migrations", least=1)
    port, latency = whole(port, "port", least=0, most=65_535), real(latency, "latency")
    lag, late = whole(lag, "lag", least=0), real(late, "late", most=1)
    page_maximum = whole(page_maximum, "page_maximum", least=1)
    silent_cap = None if silent_cap is None else whole(silent_cap, "silent_cap", least=1)
    holdings_limit = whole(holdings_limit, "holdings_limit", least=1)
    check_faults(faults)
    pruning = read_pruning(prune_before, prune)
    nobody = {"token": "", "none": OPERATOR}.get(auth)
    if nobody is None:
        raise ValueError(f"auth={auth!r} is not valid: give 'token' or 'none'")
    issuer = issuer or Issuer()
    if load is not None:
        world = load_world(load)
    if world is None:
        asked: dict[str, Any] = {"synchronizers": synchronizers, "migrations": migrations, "days": days}
        asked |= {"rounds_per_day": rounds_per_day, "reward_version": reward_version}
        world = generate(seed, updates, **asked)
    spoiled = SpoiledObjects()
    view = View(world, lag=lag, late=late, seed=seed, pruning=pruning)
    app = _app(
        view,
        Access(world.accounts, issuer, nobody),
        holdings_limit=holdings_limit,
        page_maximum=page_maximum,
        silent_cap=silent_cap,
        release=release,
        spoiled=spoiled,
    )
    served = serve(app, port=port, faults=faults, latency=latency)
    growth = None if rate is None else LedgerGrowth(world.advance, rate=rate)
    return Sandbox(view, served, spoiled, issuer=issuer, growth=growth)


# Where the registry of another issuer than the coin's is served.
_ISSUER: Final = "/harbor"


class SpoiledObjects:
    """What is wrong with the objects of a server, shared by its handle and its routes."""

    def __init__(self) -> None:
        self.faults = ObjectFaults()

    def now(self) -> ObjectFaults:
        """The faults as of now."""
        return self.faults


class Sandbox:
    """A running sandbox; a context manager that stops it.

    Attributes:
        world: the ledger that it serves; `world.items()` is its whole history.
    """

    def __init__(
        self,
        view: View,
        served: Served,
        spoiled: SpoiledObjects,
        *,
        issuer: Issuer,
        growth: LedgerGrowth | None = None,
    ) -> None:
        self.world = view.world
        self._view = view
        self._spoiled = spoiled
        self._served = served
        self._issuer = issuer
        self._growth = growth

    @property
    def url(self) -> str:
        """The server's root, an address on a port of this machine."""
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
    def registry_urls(self) -> dict[str, str]:
        """The base of each issuer's registry by the issuer's party: the coin's, and that of an app with a token."""
        with self.world.lock:
            urls = {COIN_RULES.entity: self.url, TOKEN_RULES.entity: f"{self.url}{_ISSUER}"}
            return {self.world.rules[one].signatories[0]: url for one, url in urls.items() if one in self.world.rules}

    @property
    def ledger_url(self) -> str:
        """The base of the participant ledger interface."""
        return f"{self.url}/api/ledger"

    @property
    def requests(self) -> Counter[str]:
        """The number of received requests by "METHOD /path", whatever their outcome."""
        return self._served.arrived

    @property
    def faults(self) -> Faults | None:
        """The faults being injected; set it to another value, or to None for no faults."""
        return self._served.faults

    @faults.setter
    def faults(self, faults: Faults | None) -> None:
        self._served.faults = faults

    @property
    def object_faults(self) -> ObjectFaults:
        """What is wrong with the objects of the history; set it to another value at any time."""
        return self._spoiled.faults

    @object_faults.setter
    def object_faults(self, faults: ObjectFaults) -> None:
        self._spoiled.faults = faults

    def prune(self, *, before: Any = None, window: str | None = None) -> None:
        """Throw away what the scan has shown so far, from the next request on; without arguments it has everything.

        Args:
            before: as `prune_before` of `start`.
            window: as `prune` of `start`.

        Raises:
            ValueError: one of them is not valid, or both are given.
        """
        self._view.pruning = read_pruning(before, window)

    def advance(self, *, updates: int) -> None:
        """Add a number of updates to the ledger, all in its newest migration.

        Raises:
            ValueError: it is not a whole number of 0 or more.
        """
        self.world.advance(whole(updates, "updates", least=0))

    @property
    def packages(self) -> Mapping[str, Stored]:
        """The packages uploaded to the participant, by package id, oldest first."""
        with self.world.lock:
            return MappingProxyType(dict(self.world.package_store.stored))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the whole ledger to a file; `start(load=path)` continues from exactly this state.

        Raises:
            WorldFileError: the file cannot be written.
        """
        save_world(self.world, path)

    def replica(self, **options: Any) -> Sandbox:
        """Start another server over the same world, with the options of `start`."""
        return start(world=self.world, issuer=self._issuer, **options)

    def token(self, user: str, *, lifetime: float = DAY) -> str:
        """Issue a token for the ledger and the validator interface; replicas accept it too.

        Args:
            user: id of the token's user, such as `alice`, `validator_operator` (may do everything) or
                `participant_admin`; an unknown user is denied.
            lifetime: seconds from now until it expires.
        """
        return self._issuer.issue(user, lifetime=lifetime)

    def snapshots(self, migration_id: int) -> list[str]:
        """The record times of a migration's snapshots, at which `exact` finds a holdings summary, oldest first."""
        with self.world.lock:
            return [timestamps.exact(instant) for instant in self._view.instants(migration_id)]

    def stop(self) -> None:
        """Close every connection, free the port and stop the growth; a second call does nothing."""
        if self._growth is not None:
            self._growth.stop()
        self._served.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<Sandbox {self.url}, {len(self.world.updates)} updates>"


def _app(
    view: View,
    gate: Access,
    *,
    holdings_limit: int,
    release: str,
    spoiled: SpoiledObjects,
    **options: Any,
) -> Any:
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.routing import Mount, Router

    from ledgerframes.sandbox.commands.errors import LedgerError, UnreadableError
    from ledgerframes.sandbox.http.ledger import Ledger
    from ledgerframes.sandbox.http.ledger_errors import refuse_json, refuse_text
    from ledgerframes.sandbox.http.ledger_routes import LedgerRoutes
    from ledgerframes.sandbox.http.merged_routes import joined
    from ledgerframes.sandbox.http.package_routes import PackageRoutes
    from ledgerframes.sandbox.http.registry import Registry
    from ledgerframes.sandbox.http.releases import has_newest_members, served_routes
    from ledgerframes.sandbox.http.responses import LIST_MAXIMUM, RefusalError, no_route, refuse
    from ledgerframes.sandbox.http.scan import Scan, ScanOptions
    from ledgerframes.sandbox.http.scan_neighbours import neighbours
    from ledgerframes.sandbox.http.validator import Validator

    world, newest = view.world, has_newest_members(release)
    longest = LIST_MAXIMUM if newest else None
    limits: dict[str, Any] = {"holdings_maximum": holdings_limit, "list_maximum": longest}
    every = {
        "scan": [
            *Scan(view, ScanOptions(**options)).routes(),
            *neighbours(view, gate, object_faults=spoiled.now, **limits, **options),
        ],
        "validator": Validator(view, gate, holdings_maximum=holdings_limit, list_maximum=longest).routes(),
        "ledger": [*LedgerRoutes(Ledger(world, newest), gate).routes(), *PackageRoutes(world, gate).routes()],
        "registry": Registry(world).routes(),
    }
    prefixes = {interface: "" if interface == "registry" else f"/api/{interface}" for interface in every}
    served = {
        interface: served_routes(joined(routes), interface=interface, prefix=prefixes[interface], release=release)
        for interface, routes in every.items()
    }

    handlers = {
        RefusalError: refuse,
        LedgerError: refuse_json,
        UnreadableError: refuse_text,
        HTTPException: no_route,
    }
    mounts = [
        Mount(prefix, app=Router(served[interface], redirect_slashes=False))
        for interface, prefix in prefixes.items()
        if prefix
    ]
    mounts.append(Mount(_ISSUER, app=Router(Registry(world, TOKEN_RULES.entity).metadata(), redirect_slashes=False)))
    app = Starlette(routes=[*mounts, *served["registry"]], exception_handlers=handlers)
    # A redirect would hide a client's wrong path, and the client follows none.
    app.router.redirect_slashes = False
    return app
