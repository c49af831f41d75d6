"""Options that several commands share: which network, which part of its history."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from functools import partial, wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ledgerframes.cli.completion import listed
from ledgerframes.config.profiles import FILE, config_folder, profiles_of, read_text
from ledgerframes.errors import ConfigurationError, InputError, visible
from ledgerframes.network import Network, connect
from ledgerframes.paging.cursor import Bound

if TYPE_CHECKING:
    from ledgerframes.store.store import Store


def profiles() -> dict[str, dict[str, Any]]:
    """The user's profiles, with keys and values as in config.toml."""
    path = config_folder(os.environ) / FILE
    return profiles_of(read_text(path), path)


def profile_names(incomplete: str) -> list[str]:
    """The profiles that begin so, for a shell's completion; none where config.toml cannot be read."""
    try:
        return listed(profiles)(incomplete)
    except ConfigurationError:
        return []


def word(help: str, words: Iterable[str] | Callable[[str], list[str]], *names: str) -> Any:  # noqa: A002
    """An option whose values a shell completes: one of some words, also after commas, or what a function finds."""
    return typer.Option(*names, help=help, autocompletion=words if callable(words) else listed(words))


def _network(*names: str, **more: Any) -> Any:
    return typer.Option(*names, rich_help_panel="Network", **more)


_FAILOVER = '"network": if the given scans fail, ask those that they list. "given": only the given ones.'
_SCAN = "Base URL of a scan, such as https://HOST/api/scan; several are tried in turn."
_CA_FILE = "Certificates (PEM) of a private authority, trusted in addition to the usual ones."
_HTTP = "Send a token over plain http too, on a private network."
_START = "Inclusive, UTC: 2026-01-30, 2026-01-30T06:00, MIGRATION@TIME, or begin."
_LAST = 'Instead of --start: "30min", "1h", "7 days" back from the newest update.'

Profile = Annotated[str | None, _network(help="Profile in the user's config.toml.", autocompletion=profile_names)]
ScanUrl = Annotated[list[str] | None, _network(help=_SCAN)]
ValidatorUrl = Annotated[list[str] | None, _network(help="Base URL of a validator: https://HOST/api/validator.")]
RegistryUrl = Annotated[list[str] | None, _network(help="Base URL of a token registry: https://HOST.")]
LedgerUrl = Annotated[list[str] | None, _network(help="Base URL of a participant's ledger interface.")]
Rate = Annotated[float | None, _network(help="Requests per second and host, at most.")]
CaFile = Annotated[str | None, _network(help=_CA_FILE)]
InsecureHttp = Annotated[bool, _network("--insecure-http", help=_HTTP)]
Failover = Annotated[str | None, _network(help=_FAILOVER, autocompletion=listed(("network", "given")))]
Start = Annotated[str | None, typer.Option(help=_START, rich_help_panel="Range")]
End = Annotated[str | None, typer.Option(help="Exclusive, in the same forms as --start.", rich_help_panel="Range")]
Last = Annotated[str | None, typer.Option(help=_LAST, rich_help_panel="Range")]
Limit = Annotated[int | None, typer.Option(help="Number of updates or rows at most.", rich_help_panel="Range")]
Labels = Annotated[Path | None, typer.Option(help="A CSV file of party and label, to show with ids.")]
AsJson = Annotated[bool, typer.Option("--json", help="JSON on standard output, for scripts.")]
AsCsv = Annotated[bool, typer.Option("--csv", help="CSV on standard output: all columns and digits.")]

#: Connects according to a command's options.
Connect = Callable[..., Network]
Command = Callable[..., Any]
#: The part of a history that a command is about: `start`, `end` and `last`, as Python's functions take them.
Part = dict[str, Any]

_PLACE = re.compile(r"(-?\d+)@(.+)", re.DOTALL)


def networked(*interfaces: str) -> Callable[[Command], Command]:
    """The options of a network for a command, whose parameter `network` connects as they say.

    Options that are omitted come from LEDGERFRAMES_* and the profile.

    Args:
        interfaces: those that the command may ask; with the scan alone no other's address and no token is needed.
    """
    options: dict[str, Any] = {
        "profile": Profile,
        "scan_url": ScanUrl,
        "rate": Rate,
        "ca_file": CaFile,
        "failover": Failover,
    }
    if len(interfaces) > 1:
        options |= {
            "validator_url": ValidatorUrl, "registry_url": RegistryUrl, "ledger_url": LedgerUrl,
            "insecure_http": InsecureHttp,
        }  # fmt: skip

    def decorated(command: Command) -> Command:
        @wraps(command)
        def run(**arguments: Any) -> Any:
            own = {name: arguments.pop(name) for name in options}
            return command(network=partial(connected, own), **arguments)

        return with_options(run, command, options, without="network")

    return decorated


def ranged(command: Command) -> Command:
    """The options of a part of the history for a command, whose parameter `part` has them."""

    @wraps(command)
    def run(*, start: str | None, end: str | None, last: str | None, **arguments: Any) -> Any:
        return command(part={"start": bound(start), "end": bound(end), "last": last}, **arguments)

    return with_options(run, command, {"start": Start, "end": End, "last": Last}, without="part")


def connected(own: dict[str, Any], named: str | None = None) -> Network:
    """Connect as the options say; `named` is a profile or a scan's URL in place of one of them.

    Raises:
        InputError: the option says it, too.
    """
    own = chosen(own)
    if named is not None:
        meaning, option = ("a scan's URL", "scan_url") if "://" in named else ("a profile", "profile")
        if option in own:
            raise InputError(f"{named} and --{option.replace('_', '-')} both name {meaning}; leave one out")
        own[option] = named
    return connect(**own)


def chosen(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that were given."""
    return {name: value for name, value in options.items() if value is not None and value is not False and value != []}


def with_options(run: Command, command: Command, options: Mapping[str, Any], *, without: str = "") -> Command:
    """A command that takes these options, too, as a shell reads them; flags are off and the others not given."""
    shown = signature(command, eval_str=True)
    own = [one for one in shown.parameters.values() if one.name != without and one.kind != Parameter.VAR_KEYWORD]
    added = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=False if kind.__origin__ is bool else None, annotation=kind)
        for name, kind in options.items()
    ]
    whole = shown.replace(parameters=[*own, *added])
    run.__signature__ = whole  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in whole.parameters.values()}
    return run


def taking(options: Mapping[str, Any]) -> Callable[[Command], Command]:
    """Options for a command that takes them as `**options`, to pass them on."""
    return lambda command: with_options(command, command, options)


def labelled(file: Path | None) -> Any:
    """A context in which the labels of a file, if one is given, are shown."""
    if file is None:
        return nullcontext()
    from ledgerframes.models.labels import labels
    from ledgerframes.session_names import aliases

    return aliases(labels(file))


def other_network(named: str, rate: float | None, ca_file: str | None) -> Network:
    """Connect to a second scan, a profile or a URL: nothing that the variables say of the first one is sent to it."""
    from ledgerframes.config.profiles import read_profile, resolve

    own = {"scan_url": named} if "://" in named else read_profile(named, config_folder(os.environ), os.environ)
    settings = own | {name: value for name, value in {"rate": rate, "ca_file": ca_file}.items() if value is not None}
    network = {name for name in os.environ if name.endswith(("_URL", "_TOKEN", "_PROFILE"))}
    return Network(resolve(environ={name: os.environ[name] for name in os.environ.keys() - network}, **settings))


def say(text: object = "", *, err: bool = False) -> None:
    """Print text so that nothing in it can control the terminal; unprintable characters are escaped as in JSON."""
    typer.echo(visible(str(text), lines=True), err=err)


def say_range(frame: Any, last: str | None = None, *, warned: bool = False) -> None:
    """Say on standard error what `--last` counts back from, how much of a range is there, and why it is empty.

    Args:
        frame: the rows, with their provenance.
        last: the requested duration.
        warned: whether a warning has said already that they begin late.
    """
    from ledgerframes.frames import attrs_of
    from ledgerframes.tables.catalogue import CATALOGUE

    attrs = attrs_of(frame)
    if last is not None and "counted_from" in attrs:
        say(f"--last {last} counts back from {attrs['counted_from']}: {attrs['range']}", err=True)
    if attrs.get("begins_late") and not warned:
        say(
            f"what is there begins late, at {attrs['begins_late']}: older updates were pruned, or never stored there",
            err=True,
        )
    if "known_to" in attrs:
        say(f"what is there ends at {attrs['known_to'][1]}, before the end of the range: more may follow", err=True)
    if not len(frame):
        of = attrs.get("range", "it is empty")
        say(f"no rows of {of}" if of in CATALOGUE else f"nothing in this range: {of}", err=True)


def say_part(store: Store, part: Part, as_of: str | None) -> None:
    """The same for the history of a lake."""
    options = {"end": part["end"], "last": part["last"], "as_of": as_of}
    if part["last"] is not None or store.coverage(as_of=as_of).begins_late.notna().any():
        say_range(store.load("updates", columns=["update_id"], allow_partial=True, **options), part["last"])


def bound(text: str | None) -> Bound | None:
    """Read a time, or `MIGRATION@TIME`."""
    match = _PLACE.fullmatch(text) if text else None
    return (int(match[1]), match[2]) if match else text
