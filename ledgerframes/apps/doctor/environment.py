"""The local side of a connection: versions, settings, tokens' lifetimes, proxies."""

from __future__ import annotations

import os
import platform
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib import metadata
from typing import Final

from ledgerframes.apps.doctor.diagnosis import Finding, bare
from ledgerframes.config.profiles import FILE, config_folder
from ledgerframes.config.settings import INTERFACES, Secret, is_loopback
from ledgerframes.config.token_sources import claims, expiry
from ledgerframes.decoding.pages import VARIABLE, choice
from ledgerframes.errors import ConfigurationError, LedgerframesError
from ledgerframes.network import Network
from ledgerframes.number_format import duration_text
from ledgerframes.transport.proxies import proxy_for
from ledgerframes.version import __version__

HERE: Final = "this machine"
SOON: Final = 600
#: Required packages, and optional ones that are used if installed.
_LIBRARIES: Final = (
    *("pandas", "pyarrow", "httpx", "urllib3", "msgspec", "deltalake", "matplotlib", "numpy"),
    *("duckdb", "polars", "dask", "isal", "plotly", "xlsxwriter"),
)


def versions() -> dict[str, str]:
    """Versions of the package, Python and the libraries, and which decoder of pages runs.

    Returns:
        Texts by name: `ledgerframes`; `decoder`, "compiled" or "python", with the reason; `python`; `system`; then
        every library that is installed.

    Raises:
        ConfigurationError: `LEDGERFRAMES_DECODER` is not valid.

    Example:
        >>> import ledgerframes as lf
        >>> lf.versions()["decoder"].split()[0] in {"compiled", "python"}
        True
    """
    numbers = {
        "ledgerframes": __version__,
        "decoder": str(choice()),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
    }
    for name in _LIBRARIES:
        with suppress(metadata.PackageNotFoundError):
            numbers[name] = metadata.version(name)
    return numbers


def examine_surroundings(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Examine versions, the decoder among them, and the configuration file."""
    try:
        found = ", ".join(f"{name} {number}" for name, number in versions().items())
        yield Finding(HERE, "versions", "ok", found, choice().advice)
    except ConfigurationError as error:
        yield Finding(HERE, "versions", "fail", str(error), f"change or unset {VARIABLE}")
    try:
        path = config_folder(environ) / FILE
        rights = path.stat().st_mode
    except ConfigurationError as error:
        yield Finding(HERE, "profiles", "skipped", bare(error))
    except OSError:
        yield Finding(HERE, "profiles", "skipped", f"there is no {path}", "`ledgerframes profile add` makes it")
    else:
        if os.name != "nt" and rights & (stat.S_IWGRP | stat.S_IWOTH):
            advice = f"`chmod 600 {path}`: anyone who can write there decides where your tokens go"
            yield Finding(HERE, "profiles", "fail", f"others may write {path}", advice)
        else:
            yield Finding(HERE, "profiles", "ok", str(path))


def examine_settings(net: Network) -> Iterator[Finding]:
    """Examine the configuration: tokens' lifetimes, and by which proxies servers are reached."""
    settings = net.settings
    configured = [interface for interface in INTERFACES if getattr(settings, f"{interface}_url")]
    for interface in configured:
        secret = net.transport.token(interface)
        if secret is not None:
            yield from _token(f"{interface} token", secret)
        elif interface in {"ledger", "validator"}:
            yield Finding(HERE, f"{interface} token", "skipped", "none is given, which some servers allow")
    clear = [url for _, url in settings.unencrypted()]
    if clear:
        advice = "use https if the server has it: anyone on the network path can use the token"
        yield Finding(HERE, "clear text", "warn", f"a token goes to {', '.join(clear)} unencrypted", advice)
    away = [url for interface in configured for url in getattr(settings, f"{interface}_url") if not is_loopback(url)]
    with suppress(ConfigurationError):  # of which every server tells that cannot be asked for it
        used = [f"{url} by {proxy.shown} ({proxy.variable})" for url in away if (proxy := proxy_for(url)) is not None]
        if used:
            yield Finding(HERE, "proxies", "ok", "; ".join(used))


def _token(check: str, secret: Secret) -> Iterator[Finding]:
    """Until when a token is valid and for whom, if it states that; the token is never shown."""
    try:
        token = secret.reveal()
    except LedgerframesError as error:
        yield Finding(HERE, check, "fail", str(error), "set or fetch it as the message says")
        return
    expires = expiry(token)
    left = 0 if expires is None else expires - time.time()
    if expires is None:
        yield Finding(HERE, check, "ok", "there is one; it does not say how long it is valid")
    elif left <= 0:
        yield Finding(HERE, check, "fail", f"it expired {duration_text(-left)} ago", "fetch a new one")
    elif left > SOON or secret.fetched:  # what is fetched is fetched again in time
        yield Finding(HERE, check, "ok", f"valid for {duration_text(left)} more")
    else:
        advice = "fetch a new one before a long load, or give a function or a command"
        yield Finding(HERE, check, "warn", f"valid for {duration_text(left)} more", advice)
    stated = claims(token)
    if stated and not stated.get("aud"):
        found = "it names no audience (aud): Canton refuses such tokens from 3.7 on"
        advice = "have the identity provider put the participant's audience into its tokens"
        yield Finding(HERE, f"{check}'s audience", "warn", found, advice)
