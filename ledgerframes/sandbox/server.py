"""The sandbox's server: `start` puts a simulated ledger on a loopback port and returns its handle."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from ledgerframes.sandbox.faults import App
from ledgerframes.sandbox.generator.generate import generate
from ledgerframes.sandbox.http.ledger_access import DAY, Access, Issuer
from ledgerframes.sandbox.serving import Served
from ledgerframes.sandbox.start_options import Serving, read_options, read_pruning, read_serving, whole
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.templates import COIN_RULES, TOKEN_RULES
from ledgerframes.sandbox.world.views import ServerView
from ledgerframes.sandbox.world.world import World
from ledgerframes.sandbox.world_file import load as load_world
from ledgerframes.sandbox.world_file import save as save_world

if TYPE_CHECKING:
    from ledgerframes.sandbox.world.archives import Package

SHORTEST_PAUSE: Final = 0.005
LONGEST_PAUSE: Final = 1.0
# After a pause of the machine, the ledger catches up in steps.
LARGEST_STEP: Final = 50

logger = logging.getLogger("ledgerframes.sandbox")


def keep_growing(advance: Callable[[int], None], rate: float, ended: threading.Event) -> None:
    """Add `rate` updates per second by `advance`, which takes their number, until it is ended or fails."""
    begin, done = time.monotonic(), 0
    pause = min(max(1 / rate, SHORTEST_PAUSE), LONGEST_PAUSE)
    while not ended.wait(pause):
        # As many as the rate requires, in steps that leave readers a turn.
        step = max(0, min(int((time.monotonic() - begin) * rate) - done, LARGEST_STEP))
        try:
            advance(step)
        except Exception:
            logger.exception("the ledger stopped growing after %d updates", done)
            return
        done += step


def start(*, load: str | os.PathLike[str] | None = None, **options: Any) -> Sandbox:
    """Make up a ledger, or load one, and serve it on 127.0.0.1, until it is stopped or the interpreter ends.

    The options are those of `lf.sandbox`. With `load` those of the history, from seed to migrations, say nothing.

    Raises:
        ValueError: a value is not valid, or the file does not hold a world.
        OSError: the port is not available.
    """
    # Checked before the ledger is made, which can take seconds.
    how, history = read_options(**options)
    return _serve(generate(**history) if load is None else load_world(load), how, Issuer())


def _serve(world: World, how: Serving, issuer: Issuer) -> Sandbox:
    from ledgerframes.sandbox.http.app import app_of

    view = ServerView(world, pruning=how.pruning)
    app = app_of(view, Access(world.accounts, issuer, how.nobody), release=how.release)
    return Sandbox(view, app, how, issuer=issuer)


class Sandbox(Served):
    """A running sandbox; a context manager that stops it.

    Attributes:
        world: the ledger that it serves; `world.items()` is its whole history.
        scan_url: the base of the Scan interface.
        validator_url: the base of the Validator interface.
        registry_url: the base of the token-registry interface.
        ledger_url: the base of the participant ledger interface.
    """

    def __init__(self, view: ServerView, app: App, how: Serving, *, issuer: Issuer) -> None:
        super().__init__(app, port=how.port, faults=how.faults, latency=how.latency)
        self.world = view.world
        self.scan_url, self.validator_url, self.ledger_url = (
            f"{self.url}/api/{interface}" for interface in ("scan", "validator", "ledger")
        )
        self.registry_url = self.url
        self._view = view
        self._issuer = issuer
        self.start()
        self._ended, self._growth = threading.Event(), None
        if how.rate is not None:
            growing = (self.world.advance, how.rate, self._ended)
            self._growth = threading.Thread(target=keep_growing, args=growing, name="sandbox growth", daemon=True)
            self._growth.start()

    @property
    def registry_urls(self) -> dict[str, str]:
        """The base of each issuer's registry by the issuer's party: the coin's, and that of an app with a token."""
        from ledgerframes.sandbox.http.app import ISSUER

        with self.world.lock:
            urls = {COIN_RULES.entity: self.url, TOKEN_RULES.entity: f"{self.url}{ISSUER}"}
            return {self.world.rules[one].signatories[0]: url for one, url in urls.items() if one in self.world.rules}

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
    def packages(self) -> Mapping[str, Package]:
        """The packages uploaded to the participant, by package id, oldest first."""
        with self.world.lock:
            return MappingProxyType(dict(self.world.packages))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the whole ledger to a file; `start(load=path)` continues from exactly this state.

        Raises:
            WorldFileError: the file cannot be written.
        """
        save_world(self.world, path)

    def replica(self, **options: Any) -> Sandbox:
        """Start another server over the same world, with the options of `start` from `port` on."""
        return _serve(self.world, read_serving(**options), self._issuer)

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
        self._ended.set()
        if self._growth is not None:
            self._growth.join()
        super().stop()

    def __repr__(self) -> str:
        return f"<Sandbox {self.url}, {len(self.world.updates)} updates>"
