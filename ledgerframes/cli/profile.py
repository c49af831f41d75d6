"""`ledgerframes profile`: named settings in the user's config.toml; tokens are never among them."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from ledgerframes.cli import options as opt
from ledgerframes.cli.app import app
from ledgerframes.cli.help import Group
from ledgerframes.cli.options import say
from ledgerframes.config.profile_writing import add_profile, remove_profile
from ledgerframes.config.profiles import FILE, KEYS, config_folder, from_text, nearest
from ledgerframes.config.token_sources import KEYS as OAUTH_KEYS
from ledgerframes.errors import InputError

profiles = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    short_help="Named settings for --profile: add, list, show, remove.",
    help="Named settings in the user's own config.toml, for --profile and lf.connect(profile=). A token is never kept:"
    " a profile says which variable, file or command it comes from.",
)
app.add_typer(profiles, name="profile")

Name = Annotated[str, typer.Argument(help="Name of the profile.", autocompletion=opt.profile_names)]


_SETTINGS: Final[dict[str, Any]] = {
    "scan_url": opt.ScanUrl,
    "validator_url": opt.ValidatorUrl,
    "registry_url": opt.RegistryUrl,
    "ledger_url": opt.LedgerUrl,
    "token_env": Annotated[str | None, typer.Option(help="Variable that holds ledger's and validator's token.")],
    "token_file": Annotated[str | None, typer.Option(help="File that holds it.")],
    "token_command": Annotated[str | None, typer.Option(help="Command that prints it, asked again each minute.")],
    "rate": opt.Rate,
    "ca_file": opt.CaFile,
    "insecure_http": opt.InsecureHttp,
    "failover": opt.Failover,
}


@profiles.command()
@opt.taking(_SETTINGS)
def add(
    name: Annotated[str, typer.Argument(help="Letters, digits, '-' and '_'.")],
    *,
    also: Annotated[
        list[str] | None,
        typer.Option("--set", help="Any other setting, KEY=VALUE: scan_token_env=NAME, read_timeout=30, parallel=2."),
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Take the place of a profile of that name.")] = False,
    **settings: Any,
) -> None:
    """Add a profile. Nothing is sent; `ledgerframes doctor --profile NAME` tries it.

    Example: ledgerframes profile add mainnet --scan-url https://HOST/api/scan --token-env MAINNET_TOKEN
    """
    own = {key: _single(value) for key, value in opt.chosen(settings).items() if value != ""}
    for key in {"ca_file", "token_file"} & own.keys():
        own[key] = str(Path(own[key]).expanduser().absolute())
    for setting in also or ():
        _set(own, setting)
    path = add_profile(name, own, folder=config_folder(os.environ), environ=os.environ, replace=replace)
    say(f"profile {name!r} is in {path}", err=True)


@profiles.command("list")
def list_() -> None:
    """List the profiles, a line each: its name and its addresses."""
    every = opt.profiles()
    if not every:
        path = config_folder(os.environ) / FILE
        say(f"there are no profiles in {path}; ledgerframes profile add NAME --scan-url URL adds one", err=True)
    for name, own in every.items():
        urls = [_shown(key, own[key]) for key in KEYS if key.endswith("_url") and own.get(key)]
        say("\t".join([name, *(url for one in urls for url in (one if isinstance(one, list) else [one]))]))


@profiles.command()
def show(name: Name, *, as_json: opt.AsJson = False) -> None:
    """Show a profile as stored in the file; of a command that prints a token only the program."""
    every = opt.profiles()
    if name not in every:
        raise InputError(f"there is no profile {name!r}; there are: {', '.join(every) or 'none'}")
    shown = {key: _shown(key, value) for key, value in every[name].items()}
    if as_json:
        say(json.dumps(shown))
        return
    for key, value in shown.items():
        say(f"{key} = {json.dumps(value, ensure_ascii=False)}")


@profiles.command()
def remove(name: Name) -> None:
    """Take a profile out; tokens lie elsewhere and stay."""
    path = remove_profile(name, folder=config_folder(os.environ))
    say(f"profile {name!r} is no longer in {path}", err=True)


def _set(own: dict[str, Any], setting: str) -> None:
    """Add a setting, KEY=VALUE, to a profile; a value is shown in no message, for it may be a token."""
    key, _, value = setting.partition("=")
    if not value:
        raise InputError("--set takes KEY=VALUE, such as read_timeout=30")
    name, _, member = key.partition(".")
    if name not in KEYS or name.endswith("_oauth") != bool(member):
        raise InputError(f"--set {key}=…: {key!r} is not a known key{nearest(key, KEYS)}")
    place, last = (own.setdefault(name, {}), member) if member else (own, name)
    if last in place:
        raise InputError(f"{key} is given twice; leave one of them out")
    read = value if member else from_text(name, value, f"--set {key}")
    place[last] = _single(list(read)) if isinstance(read, tuple) else read


def _single(value: Any) -> Any:
    """An address that is the only one stands alone."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


#: What stands before the host in a URL.
_USER: Final = re.compile(r"//[^/]*@")


def _shown(key: str, value: Any) -> Any:
    """A value without what must not be in the file, but may have been written there by hand: a token, a password."""
    if key not in KEYS:
        return "…"
    if key.endswith("_oauth") and isinstance(value, dict):
        return {name: given if name in OAUTH_KEYS else "…" for name, given in value.items()}
    if key.endswith("_command"):
        words = value.split() if isinstance(value, str) else [str(word) for word in value]
        return " ".join([*words[:1], "…"] if len(words) > 1 else words)
    if isinstance(value, list):
        return [_shown(key, part) for part in value]
    return _USER.sub("//…@", value) if isinstance(value, str) else value
