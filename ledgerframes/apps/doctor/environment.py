"""The local side of a connection: versions, settings, tokens' lifetimes, proxies, and a lake's folder."""

from __future__ import annotations

import os
import platform
import shutil
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final
from urllib.request import getproxies

from ledgerframes.apps.doctor.diagnosis import Finding, bare
from ledgerframes.apps.versions import libraries
from ledgerframes.config.profiles import FILE, config_folder
from ledgerframes.config.settings import INTERFACES, Secret, is_loopback
from ledgerframes.config.token_sources import claims, expiry
from ledgerframes.decoding.compiled.choice import VARIABLE, choice
from ledgerframes.errors import ConfigurationError, LedgerframesError
from ledgerframes.network import Network
from ledgerframes.number_format import duration_text
from ledgerframes.store.lake import Lake
from ledgerframes.store.opening import open_store
from ledgerframes.store.sync.network_check import network_for
from ledgerframes.tables.descriptions import tables
from ledgerframes.transport.proxies import proxy_for
from ledgerframes.transport.tls import TRUST_VARIABLES, trusted
from ledgerframes.version import __version__

HERE: Final = "this machine"
SOON: Final = 600
_SETTLE: Final = 60_000_000
LITTLE: Final = 2 * 2**30


def examine_surroundings(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Examine versions, the decoder, and the configuration file."""
    versions = ", ".join(f"{name} {number}" for name, number in libraries().items())
    own = f"ledgerframes {__version__}, Python {platform.python_version()} on {platform.system()}"
    yield Finding(HERE, "versions", "ok", f"{own}; {versions}")
    yield _decoder()
    try:
        path = config_folder(environ) / FILE
    except ConfigurationError as error:
        yield Finding(HERE, "profiles", "skipped", bare(error))
    else:
        yield from _configuration(path)


def _decoder() -> Finding:
    """Which decoder reads the pages of histories."""
    try:
        found = choice()
    except ConfigurationError as error:
        return Finding(HERE, "decoder", "fail", str(error), f"change or unset {VARIABLE}")
    return Finding(HERE, "decoder", "ok", str(found), found.advice)


def _configuration(path: Path) -> Iterator[Finding]:
    try:
        rights = path.stat().st_mode
    except OSError:
        yield Finding(HERE, "profiles", "skipped", f"there is no {path}", "`ledgerframes profile add` makes it")
        return
    if os.name != "nt" and rights & (stat.S_IWGRP | stat.S_IWOTH):
        advice = f"`chmod 600 {path}`: anyone who can write there decides where your tokens go"
        yield Finding(HERE, "profiles", "fail", f"others may write {path}", advice)
    else:
        yield Finding(HERE, "profiles", "ok", str(path))


def examine_settings(net: Network) -> Iterator[Finding]:
    """Examine the configuration: which tables can be loaded, tokens' lifetimes, proxies, the rate."""
    settings = net.settings
    configured = [interface for interface in INTERFACES if getattr(settings, f"{interface}_url")]
    yield from _tables(set(configured))
    for interface in INTERFACES:
        secret = net.transport.token(interface)
        if secret is not None:
            yield from _token(f"{interface} token", secret, used=interface in configured)
        elif interface in configured and interface in {"ledger", "validator"}:
            yield Finding(HERE, f"{interface} token", "skipped", "none is given, which some servers allow")
    clear = [url for _, url in settings.unencrypted()]
    if clear:
        advice = "use https if the server has it: anyone on the network path can use the token"
        yield Finding(HERE, "clear text", "warn", f"a token goes to {', '.join(clear)} unencrypted", advice)
    away = [url for interface in configured for url in getattr(settings, f"{interface}_url") if not is_loopback(url)]
    yield from _proxies(away)
    if any(url.startswith("https") for url in away):
        yield _certificates(settings.ca_file)
    if away:
        yield Finding(
            HERE, "rate", "ok", f"{settings.rate:g} requests per second and host, {settings.parallel} at a time"
        )


def _proxies(away: Sequence[str]) -> Iterator[Finding]:
    """By which proxy each server is reached, without the user info of the proxy."""
    if not {name for name in getproxies() if name in {"http", "https", "all"}}:
        return
    try:
        proxies = {url: proxy_for(url) for url in away}
    except ConfigurationError as error:
        yield Finding(HERE, "proxies", "fail", str(error), "fix or unset the variable that it names")
        return
    used = [f"{url} by {proxy.shown} ({proxy.variable})" for url, proxy in proxies.items() if proxy is not None]
    text = "; ".join(used) or "the environment names some, and no server here is reached by one"
    yield Finding(HERE, "proxies", "ok" if away else "skipped", f"{text}; loopback goes without")


def _certificates(ca_file: str | None) -> Finding:
    """The certificates that TLS trusts, and whether their files can be read."""
    try:
        trusted(ca_file)
    except ConfigurationError as error:
        return Finding(HERE, "certificates", "fail", str(error), "fix or unset the setting or variable that it names")
    named = next((name for name in TRUST_VARIABLES if os.environ.get(name)), None)
    usual = f"those that {named} names" if named else "the public authorities"
    own = f", and {ca_file}" if ca_file else ""
    return Finding(HERE, "certificates", "ok", f"trusted are {usual}{own}")


def _tables(configured: set[str]) -> Iterator[Finding]:
    """Which tables' endpoints belong to the interfaces that have an address, and which address the others need."""
    from ledgerframes.interfaces.catalogue import CALLS, NEIGHBOURS

    interface_of = {call.name: call.call.partition(".")[0] for call in (*CALLS, *NEIGHBOURS)}
    can: dict[str, list[str]] = {}
    lacking: dict[str, list[str]] = {}
    through = _THROUGH_VALIDATOR if configured >= {"validator"} and "scan" not in configured else ()
    for row in tables().itertuples():
        needed = {interface_of[name] for name in row.endpoints.split(", ") if name in interface_of}
        if needed & configured or row.table in through:
            can.setdefault(min(needed & configured or configured), []).append(row.table)
        elif needed:
            lacking.setdefault(min(needed), []).append(row.table)
    words = "; ".join(f"{interface}: {_few(can[interface])}" for interface in INTERFACES if interface in can)
    yield Finding(HERE, "tables that can be loaded", "ok" if can else "fail", words or "none")
    for interface in INTERFACES:
        if interface in lacking:
            yield Finding(HERE, "tables", "skipped", f"set {interface}_url to load: {_few(lacking[interface])}")


_THROUGH_VALIDATOR: Final = ("rounds", "names", "name_rules", "super_validators")
_SHOWN: Final = 4


def _few(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names) if more <= 1 else f"{', '.join(names[:_SHOWN])} and {more} more"


def _token(check: str, secret: Secret, *, used: bool) -> Iterator[Finding]:
    """Until when a token is valid and for whom, if it states that; the token is never shown."""
    if secret.fetched and not used:
        return
    try:
        token = secret.reveal()
    except LedgerframesError as error:
        advice = "set or fetch it as the message says" if used else "no server here needs it; take it out, or set it"
        yield Finding(HERE, check, "fail" if used else "warn", str(error), advice)
        return
    if not used:
        return
    stated, expires = claims(token), expiry(token)
    if expires is None:
        yield Finding(HERE, check, "ok", "there is one; it does not say how long it is valid")
    else:
        left = expires - time.time()
        if left <= 0:
            yield Finding(HERE, check, "fail", f"it expired {duration_text(-left)} ago", "fetch a new one")
        else:
            well = left > SOON or secret.fetched  # what is fetched is fetched again in time
            advice = "" if well else "fetch a new one before a long load, or give a function or a command"
            yield Finding(HERE, check, "ok" if well else "warn", f"valid for {duration_text(left)} more", advice)
    if stated and not stated.get("aud"):
        yield Finding(
            HERE, f"{check}'s audience", "warn", "it names no audience (aud): Canton refuses such tokens from 3.7 on",
            "have the identity provider put the participant's audience into its tokens",
        )  # fmt: skip


def examine_store(net: Network | None, place: str | os.PathLike[str]) -> Iterator[Finding]:
    """Examine a lake: whether it exists, is writable, has room, what it covers, and whether it is this network's."""
    lake = Lake(place)
    subject = f"store {place}"
    if "://" not in str(place):
        yield from _folder(Path(place), subject)
    try:
        coverage = open_store(place).coverage()
        network = lake.history().network
    except LedgerframesError as error:
        yield Finding(subject, "coverage", "fail", bare(error), "`ledgerframes check` shows what is damaged")
        return
    if network is None:
        yield Finding(subject, "coverage", "skipped", "nothing was synced yet", f"`ledgerframes sync {place}` begins")
        return
    gaps = len(coverage) - coverage["migration_id"].nunique()
    text = f"{len(coverage)} intervals up to {coverage['up_to'].max()}" if len(coverage) else "no interval"
    yield Finding(subject, "coverage", "warn" if gaps else "ok", text, "the next sync fills the gaps" if gaps else "")
    if net is not None and net.settings.scan_url:
        try:
            network_for(net, lake, _SETTLE)
        except LedgerframesError as error:
            yield Finding(subject, "network", "fail", bare(error), "name the lake of this network, or its scan")
        else:
            yield Finding(subject, "network", "ok", "it holds this network's history")


def _folder(folder: Path, subject: str) -> Iterator[Finding]:
    there = next(parent for parent in (folder.absolute(), *folder.absolute().parents) if parent.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        yield Finding(
            subject, "writing", "fail", f"{there} is not a writable folder", "name another one, or fix its rights"
        )
    else:
        yield Finding(subject, "writing", "ok", f"{there} can be written")
    free = shutil.disk_usage(there).free
    advice = "a month of a busy network takes gigabytes; make room" if free < LITTLE else ""
    yield Finding(subject, "room", "warn" if free < LITTLE else "ok", f"{free / 1e9:,.1f} GB are free", advice)
