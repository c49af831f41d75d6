"""Options that several commands share: which network, which part of its history."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ledgerframes.config.profiles import FILE, config_folder, profiles_of, read_text
from ledgerframes.errors import ConfigurationError, InputError, visible
from ledgerframes.network import Network, connect
from ledgerframes.paging.window import Bound

if TYPE_CHECKING:
    from ledgerframes.store.store import Store


def profile_names(incomplete: str) -> list[str]:
    """The profiles that begin so, for a shell's completion; none where config.toml cannot be read."""
    try:
        path = config_folder(os.environ) / FILE
        names = list(profiles_of(read_text(path), path))
    except ConfigurationError:
        return []
    return [name for name in names if name.startswith(incomplete)]


Profile = Annotated[
    str | None,
    typer.Option(help="Profile in the user's config.toml.", rich_help_panel="Network", autocompletion=profile_names),
]
ScanUrl = Annotated[
    list[str] | None,
    typer.Option(
        help="Base URL of a scan, such as https://HOST/api/scan; several are tried in turn.", rich_help_panel="Network"
    ),
]
ValidatorUrl = Annotated[
    list[str] | None,
    typer.Option(help="Base URL of a validator: https://HOST/api/validator.", rich_help_panel="Network"),
]
RegistryUrl = Annotated[
    list[str] | None, typer.Option(help="Base URL of a token registry: https://HOST.", rich_help_panel="Network")
]
LedgerUrl = Annotated[
    list[str] | None, typer.Option(help="Base URL of a participant's ledger interface.", rich_help_panel="Network")
]
Rate = Annotated[float | None, typer.Option(help="Most requests a second and host.", rich_help_panel="Network")]
CaFile = Annotated[
    str | None,
    typer.Option(
        help="Certificates (PEM) of a private authority, trusted beside the usual.", rich_help_panel="Network"
    ),
]
InsecureHttp = Annotated[
    bool,
    typer.Option(
        "--insecure-http", help="Send a token over plain http too, on a private network.", rich_help_panel="Network"
    ),
]
Failover = Annotated[
    str | None,
    typer.Option(
        help='"network": where the given scans fail, ask those that they list. "given": only the given ones.',
        rich_help_panel="Network",
    ),
]
Start = Annotated[
    str | None,
    typer.Option(
        help="Inclusive, UTC: 2026-01-30, 2026-01-30T06:00, MIGRATION@TIME, or begin.", rich_help_panel="Range"
    ),
]
End = Annotated[str | None, typer.Option(help="Exclusive; likewise.", rich_help_panel="Range")]
Last = Annotated[
    str | None,
    typer.Option(
        help='Instead of --start: "30min", "1h", "7 days" back from the newest update.', rich_help_panel="Range"
    ),
]
Limit = Annotated[int | None, typer.Option(help="Number of updates or rows at most.", rich_help_panel="Range")]
AsJson = Annotated[bool, typer.Option("--json", help="JSON on standard output, for scripts.")]

_PLACE = re.compile(r"(-?\d+)@(.+)", re.DOTALL)


def network(
    profile: str | None,
    scan_url: list[str] | None,
    rate: float | None,
    *,
    ca_file: str | None = None,
    failover: str | None = None,
    insecure_http: bool = False,
    **urls: list[str] | None,
) -> Network:
    """Connect as the options say; what they leave out comes from LEDGERFRAMES_* and the profile."""
    given: dict[str, Any] = {
        "scan_url": scan_url or None,
        "rate": rate,
        "ca_file": ca_file,
        "failover": failover,
        "insecure_http": insecure_http or None,
        **{name: url or None for name, url in urls.items()},
    }
    return connect(profile=profile, **{name: value for name, value in given.items() if value is not None})


def named(network: str, profile: str | None, scan_url: list[str] | None) -> tuple[str | None, list[str] | None]:
    """Profile and scan's URL, of which the one word that `doctor` takes is one.

    Raises:
        InputError: the option says it, too.
    """
    if "://" in network:
        if scan_url:
            raise InputError(f"{network} and --scan-url are both a scan's URL; leave one out")
        return profile, [network]
    if profile is not None:
        raise InputError(f"{network} and --profile both name a profile; leave one out")
    return network, scan_url


def other_network(named: str, rate: float | None, ca_file: str | None) -> Network:
    """Connect to a second scan, a profile or a URL: nothing that the variables say of the first one is sent to it."""
    from ledgerframes.config.profiles import read_profile
    from ledgerframes.config.resolving import resolve

    own = {"scan_url": named} if "://" in named else read_profile(named, config_folder(os.environ), os.environ)
    given = own | {name: value for name, value in {"rate": rate, "ca_file": ca_file}.items() if value is not None}
    network = {name for name in os.environ if name.endswith(("_URL", "_TOKEN", "_PROFILE"))}
    return Network(resolve(environ={name: os.environ[name] for name in os.environ.keys() - network}, **given))


def check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be written before the load, not after it; nothing is made yet.

    Raises:
        InputError: the folder, or the nearest one above it that is there, cannot be written.
    """
    there = next(parent for parent in (folder.absolute(), *folder.absolute().parents) if os.access(parent, os.F_OK))
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise InputError(f"cannot write to {str(folder)!r}: {str(there)!r} is not a writable folder; name another one")


def say(text: object = "", *, err: bool = False) -> None:
    """Print text so that nothing in it can control the terminal; unprintable characters are escaped as in JSON."""
    typer.echo(visible(str(text), lines=True), err=err)


def say_range(frame: Any, last: str | None = None, *, warned: bool = False) -> None:
    """Say on standard error what `--last` counts back from, where what is there begins late, and why it is empty.

    Args:
        frame: the rows, with their provenance.
        last: what was asked for.
        warned: whether a warning has said already that they begin late.
    """
    from ledgerframes.frames import attrs_of

    attrs = attrs_of(frame)
    if last is not None and "counted_from" in attrs:
        say(f"--last {last} counts back from {attrs['counted_from']}: {attrs['range']}", err=True)
    if attrs.get("begins_late") and not warned:
        say(
            f"what is there begins late, at {attrs['begins_late']}: older updates were pruned, or never stored there",
            err=True,
        )
    if not len(frame):
        say(f"nothing in this range: {attrs.get('range', 'it is empty')}", err=True)


def say_part(store: Store, last: str | None, **options: Any) -> None:
    """The same for the history of a lake."""
    if last is not None or store.coverage(as_of=options.get("as_of")).begins_late.notna().any():
        say_range(store.load("updates", columns=["update_id"], last=last, allow_partial=True, **options), last)


def bound(text: str | None) -> Bound | None:
    """Read a time, or `MIGRATION@TIME`."""
    match = _PLACE.fullmatch(text) if text else None
    return (int(match[1]), match[2]) if match else text
