"""`lf.sandbox`: starts a simulated ledger in this process and connects to it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final, Literal

from ledgerframes.arguments import suggesting
from ledgerframes.config.profiles import resolve
from ledgerframes.errors import InputError
from ledgerframes.network import Network

if TYPE_CHECKING:
    from ledgerframes.sandbox.faults import Faults

#: The sandbox user of an analyst: an administrator who reads as any party and has a wallet.
SANDBOX_USER: Final = "validator_operator"


@suggesting
def sandbox(
    *,
    seed: int = 7,
    updates: int = 2_000,
    days: int | None = None,
    rounds_per_day: int | None = None,
    reward_version: Literal["markers", "traffic", "switch"] = "markers",
    migrations: int = 3,
    load: str | os.PathLike[str] | None = None,
    port: int = 0,
    latency: float = 0.0,
    faults: str | Faults | None = None,
    release: Literal["contract", "0.9", "0.7", "0.5"] = "contract",
    prune_before: Any = None,
    prune: str | None = None,
    auth: Literal["token", "none"] = "token",
    live: str | None = None,
) -> Network:
    """Start an embedded, simulated ledger on a loopback port and connect to it; no network is needed.

    Args:
        seed: the same seed makes the same ledger.
        updates: how many updates its scan shows. As on a real network, that includes everything of which the DSO is a
            stakeholder and all events below its choices; private workflows come in addition, visible to their parties
            through the ledger interface. Tokens of other issuers are in `net.sandbox.registry_urls`.
        days: instead, a quiet history of this many days with busy and quiet hours and weekdays, 48 updates per mining
            round: `days=3` has 20,736, `days=30` has 5,760.
        rounds_per_day: mining rounds per day, each opened, summarized, issued and closed at its times. The default is a
            real network's 144, one every ten minutes, also for any `updates`; coarser where `days` asks for a long
            history: 24 for 4 to 10 days, 4 beyond.
        reward_version: `"markers"`: apps are rewarded by coupons of the rounds. `"traffic"`: by `RewardCouponV2`, as
            after CIP-0104. `"switch"`: the super validators vote for dry runs of it after a fifth of the history and
            for the switch after two fifths, so that one range has both.
        migrations: the number of migration ids, 30 at most.
        load: serve the ledger that `net.sandbox.save` wrote to this file; it has its own seed and length.
        port: the port on 127.0.0.1; 0 takes a free one.
        latency: seconds that every request waits.
        faults: the faults and their frequency: `"429:0.1,reset:0.05,latency:80ms"`, or a `Faults`.
        release: `"contract"` serves everything of Splice 0.9 and the contract's deprecated routes, so that every call
            answers. `"0.9"` (with a ledger of Canton 3.6), `"0.7"` (3.5) and `"0.5"` (3.4) serve what these
            releases do.
        prune_before: the scan has nothing recorded before this time (text or datetime), or before this pair of
            migration id and time; its bulk objects do. `net.sandbox.prune` changes it later, and
            `net.sandbox.replica(prune_before=...)` is another scan of the same ledger.
        prune: instead, the scan keeps this duration before the newest update, such as `"30d"`, moving with `live`.
        auth: `"token"`: ledger and validator require a token, as on a network. `"none"`: they answer without one, as
            developers' participants often do; the returned network then has no token.
        live: the ledger grows by itself at this rate, such as `"50/s"`.

    Returns:
        A connected network, with a token of the user `validator_operator` if one is needed; a context manager, or
        alive until the interpreter ends. Its handle is `net.sandbox`; `net.sandbox.token(user)` returns another user's
        token.

    Raises:
        InputError: an argument breaks a rule, or the file to load does not contain a world.

    Example:
        >>> with sandbox(seed=7, updates=100) as net:
        ...     net.sandbox.url.startswith("http://127.0.0.1:")
        True
    """
    try:
        return _connected(
            seed=seed, updates=updates, days=days, rounds_per_day=rounds_per_day, reward_version=reward_version,
            migrations=migrations, load=load, port=port, latency=latency, faults=faults, release=release,
            prune_before=prune_before, prune=prune, auth=auth, live=live,
        )  # fmt: skip
    except ValueError as error:
        raise InputError(str(error)) from error


def _connected(*, faults: str | Faults | None, seed: int, auth: str, **options: Any) -> Network:
    """A network over the simulated ledger with its four interfaces."""
    from ledgerframes.sandbox.faults import Faults
    from ledgerframes.sandbox.server import start

    try:
        parsed = Faults.parse(faults, seed=seed) if isinstance(faults, str) else faults
    except ValueError as error:
        raise InputError(f"faults={faults!r} is not valid: {error}") from error
    handle = start(seed=seed, faults=parsed, auth=auth, **options)
    settings = resolve(
        environ={},
        scan_url=handle.scan_url,
        validator_url=handle.validator_url,
        registry_url=handle.registry_url,
        ledger_url=handle.ledger_url,
        token=None if auth == "none" else handle.token(SANDBOX_USER),
    )
    return Network(settings, sandbox=handle)
