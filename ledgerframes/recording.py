"""`record` and `replay`: a network that keeps every answer, and one that gives them back without a network."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

from ledgerframes.arguments import path, suggesting
from ledgerframes.config.settings import INTERFACES, Settings, Token, is_loopback
from ledgerframes.errors import InputError
from ledgerframes.frames import Decimals
from ledgerframes.network import Network, Urls, connect
from ledgerframes.transport.recording import Recorder, Replayer, begin, recorded_urls

_ENDLESS: Final = 1e9


@suggesting
def record(
    folder: str | os.PathLike[str],
    *,
    net: Network | None = None,
    profile: str | None = None,
    scan_url: Urls | None = None,
    validator_url: Urls | None = None,
    registry_url: Urls | None = None,
    ledger_url: Urls | None = None,
    token: Token | None = None,
    token_oauth: Mapping[str, str] | None = None,
    scan_token: Token | None = None,
    validator_token: Token | None = None,
    registry_token: Token | None = None,
    ledger_token: Token | None = None,
    rate: float | None = None,
    burst: int | None = None,
    parallel: int | None = None,
    attempts: int | None = None,
    budget: float | None = None,
    connect_timeout: float | None = None,
    read_timeout: float | None = None,
    deadline: float | None = None,
    max_answer_bytes: int | None = None,
    ledger_carrier: Literal["bearer", "websocket"] | None = None,
    ca_file: str | os.PathLike[str] | None = None,
    insecure_http: bool | None = None,
    personal: bool | None = None,
    failover: Literal["given", "network"] | None = None,
    decimals: Decimals | None = None,
) -> Network:
    """Connect, and keep every answer with its request in a folder, so that `replay` can give them back.

    Tokens are never written. Temporary refusals (429, 5xx) are not kept.

    Args:
        folder: a new folder, or an earlier recording of the same servers to continue.
        net: a network whose settings to take; otherwise the other arguments say where to connect.
        profile: as `connect` takes it.
        scan_url: as `connect` takes it.
        validator_url: as `connect` takes it.
        registry_url: as `connect` takes it.
        ledger_url: as `connect` takes it.
        token: as `connect` takes it.
        token_oauth: as `connect` takes it.
        scan_token: as `connect` takes it.
        validator_token: as `connect` takes it.
        registry_token: as `connect` takes it.
        ledger_token: as `connect` takes it.
        rate: as `connect` takes it.
        burst: as `connect` takes it.
        parallel: as `connect` takes it.
        attempts: as `connect` takes it.
        budget: as `connect` takes it.
        connect_timeout: as `connect` takes it.
        read_timeout: as `connect` takes it.
        deadline: as `connect` takes it.
        max_answer_bytes: as `connect` takes it.
        ledger_carrier: as `connect` takes it.
        ca_file: as `connect` takes it.
        insecure_http: as `connect` takes it.
        personal: as `connect` takes it.
        failover: as `connect` takes it; the answers of listed scans are not replayed.
        decimals: as `connect` takes it.

    Returns:
        A connected network; close it, or use it in a `with` block.

    Raises:
        InputError: the folder holds something else or cannot be written, or both `net` and options are given.
        ConfigurationError: an address, token or profile cannot be used.

    Example:
        >>> import tempfile, ledgerframes as lf
        >>> with tempfile.TemporaryDirectory() as folder, lf.sandbox(updates=100) as net:
        ...     with lf.record(folder + "/march", net=net) as kept:
        ...         loaded = lf.load_updates(kept)
        ...     with lf.replay(folder + "/march") as again:
        ...         lf.load_updates(again).equals(loaded)
        True
    """
    place = Path(path(folder, "folder"))
    given: dict[str, Any] = {
        "profile": profile, "scan_url": scan_url, "validator_url": validator_url, "registry_url": registry_url,
        "ledger_url": ledger_url, "token": token, "token_oauth": token_oauth,
        "scan_token": scan_token, "validator_token": validator_token,
        "registry_token": registry_token, "ledger_token": ledger_token, "rate": rate, "burst": burst,
        "parallel": parallel, "attempts": attempts, "budget": budget, "connect_timeout": connect_timeout,
        "read_timeout": read_timeout, "deadline": deadline, "max_answer_bytes": max_answer_bytes,
        "ledger_carrier": ledger_carrier, "ca_file": ca_file, "insecure_http": insecure_http, "personal": personal,
        "failover": failover, "decimals": decimals,
    }  # fmt: skip
    told = sorted(name for name, value in given.items() if value is not None)
    if net is not None and told:
        raise InputError(f"net= and {told[0]}= both say where to connect; give one of them")
    settings = net.settings if net is not None else connect(**given).settings
    begin(place, {f"{interface}_url": list(getattr(settings, f"{interface}_url")) for interface in INTERFACES})
    return Network(settings, way=lambda wire, mask: Recorder(place, wire, mask))


def replay(folder: str | os.PathLike[str]) -> Network:
    """Serve a recording: the same requests get the same answers, and nothing is sent.

    Args:
        folder: what `record` filled.

    Returns:
        A network; a request that was not recorded raises a NoAnswerError.

    Raises:
        InputError: there is no recording in the folder.

    Example:
        >>> import tempfile, ledgerframes as lf
        >>> with tempfile.TemporaryDirectory() as folder, lf.sandbox(updates=50) as net:
        ...     with lf.record(folder + "/march", net=net) as recorded:
        ...         updates = lf.load_updates(recorded)
        ...     with lf.replay(folder + "/march") as replayed:
        ...         lf.load_updates(replayed).equals(updates)
        True
    """
    place = Path(path(folder, "folder"))
    urls = recorded_urls(place)
    if set(urls) != {f"{interface}_url" for interface in INTERFACES}:
        raise InputError(f"{str(place)!r} is not a recording: it does not name the four interfaces; record anew")
    # A token is asked for before anything is sent; none is sent here.
    given: dict[str, Any] = {name: tuple(own) for name, own in urls.items()}
    for interface in ("ledger", "validator"):
        if all(url.startswith("https") or is_loopback(url) for url in urls[f"{interface}_url"]):
            given[f"{interface}_token"] = "replayed"
    settings = Settings(**given, rate=_ENDLESS)
    return Network(settings, way=lambda wire, mask: Replayer(place))  # noqa: ARG005
