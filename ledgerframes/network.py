"""A connected network: the four interfaces behind one name; what `lf.connect` and `lf.sandbox` return."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from ledgerframes.errors import ConfigurationError, InputError
from ledgerframes.interfaces.ledger import Ledger
from ledgerframes.interfaces.registry import Registry
from ledgerframes.interfaces.scan import Scan
from ledgerframes.interfaces.validator import Validator
from ledgerframes.profiles.resolving import resolve
from ledgerframes.settings import Settings, Token
from ledgerframes.transport import Clock, Stats, Transport
from ledgerframes.transport.masking import Mask
from ledgerframes.transport.recording import Way

if TYPE_CHECKING:
    from ledgerframes.sandbox.bulk import Bulk
    from ledgerframes.sandbox.server import Sandbox

#: Who an analyst is on the sandbox: administers, reads as any party, has a wallet.
SANDBOX_USER: Final = "validator_operator"

Urls = str | Sequence[str]


class Network:
    """One network's interfaces, with their addresses, tokens and rate limit.

    A context manager; without `with`, it lives until the interpreter ends. Threads may share one, and a forked process
    opens connections of its own.

    Args:
        settings: addresses, tokens, limits.
        sandbox: the embedded ledger behind it, stopped with it.
        clock: what waits go by; a test hands in one that does not sleep.
        way: another way to the servers; see `Transport`.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        sandbox: Sandbox | Bulk | None = None,
        clock: Clock | None = None,
        way: Callable[[Way, Mask], Way] | None = None,
    ) -> None:
        self.settings = settings
        self._way = way
        self._sandbox = sandbox
        self._clock = clock
        self._pid = os.getpid()

    @cached_property
    def transport(self) -> Transport:
        """What sends the requests; made when the first one is."""
        return Transport(self.settings, clock=self._clock, way=self._way)

    @cached_property
    def scan(self) -> Scan:
        """The scan interface's six calls."""
        return Scan(self.transport)

    @cached_property
    def ledger(self) -> Ledger:
        """The ledger interface's eight calls."""
        return Ledger(self.transport, has_token=self.settings.token("ledger") is not None)

    @cached_property
    def validator(self) -> Validator:
        """The validator interface's four calls."""
        return Validator(self.transport)

    @cached_property
    def registry(self) -> Registry:
        """The token registry's two calls."""
        return Registry(self.transport)

    @property
    def sandbox(self) -> Any:
        """The embedded ledger's handle: `.url`, `.token(user)`, `.advance(updates=)`, `.stop()`.

        Raises:
            ConfigurationError: this network is no sandbox.
        """
        if self._sandbox is None:
            raise ConfigurationError("this network is no sandbox; start one with ledgerframes.sandbox()")
        return self._sandbox

    @property
    def stats(self) -> Stats:
        """Counts of requests, bytes, retries and waits so far."""
        return self.transport.stats

    def close(self) -> None:
        """Close the connections, and stop the sandbox if there is one; a forked child leaves its parent's alone."""
        if "transport" in self.__dict__:
            self.transport.close()
        if self._sandbox is not None and self._pid == os.getpid():
            self._sandbox.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Network({self.settings!r})"


def connect(
    *,
    profile: str | None = None,
    scan_url: Urls | None = None,
    validator_url: Urls | None = None,
    registry_url: Urls | None = None,
    ledger_url: Urls | None = None,
    token: Token | None = None,
    **options: Any,
) -> Network:
    """Connect to a network; any subset of its interfaces. Nothing is sent yet.

    What is not given here comes from `LEDGERFRAMES_*` variables, then from the profile, then from defaults.

    Args:
        profile: name of a profile in the user's `config.toml`.
        scan_url: base URL of the scan, with its prefix (`https://HOST/api/scan`); a list is tried in turn.
        validator_url: base URL of the validator (`https://HOST/api/validator`).
        registry_url: base URL of the token registry, at the host's root.
        ledger_url: base URL of the participant's ledger interface.
        token: bearer token for ledger and validator, as text or as a function that gives it anew for each request.
        options: further settings: `scan_token`, `registry_token`, `rate` (requests a second and host),
            `read_timeout` (seconds), `attempts`, …; see `Settings`.

    Raises:
        ConfigurationError: an address, token or profile cannot be used.

    Example:
        >>> net = connect(scan_url="https://scan.example.com/api/scan")
    """
    given = {
        "scan_url": scan_url, "validator_url": validator_url, "registry_url": registry_url,
        "ledger_url": ledger_url, "token": token, **options,
    }  # fmt: skip
    settings = resolve(profile=profile, **{name: value for name, value in given.items() if value is not None})
    return Network(settings)


def sandbox(*, seed: int = 7, updates: int = 2000, bulk: int | None = None, **options: Any) -> Network:
    """Start an embedded, made-up ledger on a loopback port and connect to it; no network is needed.

    Args:
        seed: the same seed makes the same ledger.
        updates: length of its history.
        bulk: instead, a read-only history of so many updates in its own process, for benchmarks.
        options: see `ledgerframes.sandbox.server.start`: `hostile=True` for the nastiest legal data,
            `release="3.6"` for a newer ledger, `live="50/s"` for one that grows by itself, `load="world.db"` for one
            that `net.sandbox.save` kept, `faults="429:0.1"`, `port`, `page_maximum`, `latency`, ….

    Returns:
        A connected network with a token of the user `validator_operator`; a context manager, or alive until the
        interpreter ends. Its handle is `net.sandbox`; `net.sandbox.token(user)` gives another user's token.

    Raises:
        InputError: an option has no such value, or the file to load holds no world.
    """
    handle: Sandbox | Bulk
    if bulk is not None:
        from ledgerframes.sandbox.bulk import start_bulk

        handle = start_bulk(bulk, seed=seed, **options)
        return Network(resolve(environ={}, scan_url=handle.scan_url), sandbox=handle)
    from ledgerframes.sandbox.server import start

    try:
        if isinstance(options.get("faults"), str):
            from ledgerframes.sandbox.faults import Faults

            options["faults"] = Faults.parse(options["faults"], seed=seed)
        handle = start(seed=seed, updates=updates, **options)
    except ValueError as error:
        raise InputError(str(error)) from error
    settings = resolve(
        environ={},
        scan_url=handle.scan_url,
        validator_url=handle.validator_url,
        registry_url=handle.registry_url,
        ledger_url=handle.ledger_url,
        token=handle.token(SANDBOX_USER),
    )
    return Network(settings, sandbox=handle)
