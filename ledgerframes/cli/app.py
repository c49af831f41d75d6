"""The commands and how they end: 0 done, 1 a request failed, 2 the input was wrong, 130 or 143 after a signal.

None of them shows a traceback.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
import warnings
from collections import ChainMap
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from typer.main import get_command

from ledgerframes import __version__
from ledgerframes.cli import options as opt
from ledgerframes.cli.help import Group, of_the_shell, option_of
from ledgerframes.cli.options import say
from ledgerframes.cli.output import Rows, printed
from ledgerframes.errors import ConfigurationError, InputError, LedgerframesError, visible
from ledgerframes.export.atomic_write import check_folder, writing
from ledgerframes.stopping import SLICE, Signalled, end_if_signalled, forget_signals, leave

app = typer.Typer(
    name="ledgerframes",
    cls=Group,
    help="Canton Network and Splice data as tables, a lake, charts and reports."
    " Data goes to standard output, progress to standard error."
    " Tokens come from LEDGERFRAMES_TOKEN or a profile, never from the command line.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=True,
    context_settings={"help_option_names": ["-h", "--help", "--help-all"]},
)


def main() -> None:
    """Run the command line."""
    _open_closed_streams()
    with _signals_as_exits(), warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            _commands()(prog_name="ledgerframes")
            end_if_signalled()
        except LedgerframesError as error:
            say(f"error: {in_its_words(error)}", err=True)
            sys.exit(2 if isinstance(error, InputError | ConfigurationError) else 1)
        except Signalled:
            say("ended by a signal before it was done", err=True)
            raise
        except OSError as error:
            if error.filename is not None:  # files have errors of their own; only standard output has no name
                raise
            say(f"error: standard output cannot be written: {error.strerror}", err=True)
            sys.exit(1)


@cache
def _commands() -> Any:
    """The commands, which typer takes longer to build than most errors take to be told."""
    return get_command(app)


def _open_closed_streams() -> None:
    """Let output that was closed before the start (`>&-`) lead nowhere, instead of into the next file to be opened."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            setattr(sys, name, open(nowhere, "w", encoding="utf-8", closefd=False))  # noqa: SIM115


def in_its_words(message: object) -> str:
    """A message, or the text of a result, for the shell of the command that was typed."""
    named = {
        name: {option.name: option.opts[0] for option in command.params if option.opts[0].startswith("--")}
        for name, command in _commands().commands.items()
    }
    typed = next((word for word in sys.argv[1:] if word in named), "compute")
    return of_the_shell(str(message), dict(ChainMap(*named.values())), partial="allow_partial" in named[typed])


@contextmanager
def _signals_as_exits() -> Iterator[None]:
    """While a command runs, Ctrl-C and SIGTERM unwind it, so that what is whole is kept and every file is closed."""
    forget_signals()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:  # a shell's background job ignores Ctrl-C, which is meant for another
            signal.signal(number, leave)
    unraisable = sys.unraisablehook
    # Errors that finalizers drop are raised again at the next call, so Python need not report them.
    sys.unraisablehook = lambda dropped: None if isinstance(dropped.exc_value, Signalled) else unraisable(dropped)
    try:
        yield
    finally:
        sys.unraisablehook = unraisable
        forget_signals()
        for number, handler in before.items():
            signal.signal(number, handler)


def _show_warning(message: Warning | str, *_where: object, **_line: object) -> None:
    """Show a warning without the line of source that Python adds: that line is ours, and of no use to a shell."""
    say(f"warning: {in_its_words(message)}", err=True)


class _Visible(logging.Formatter):
    """Log lines in which nothing that a server sent can control the terminal, or look like another line."""

    def format(self, record: logging.LogRecord) -> str:
        """Format a record; warnings name a shell's options, as errors do."""
        line = visible(super().format(record))
        return in_its_words(line) if record.levelno >= logging.WARNING else line


def _version(requested: bool) -> None:
    if requested:
        say(f"ledgerframes {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and end.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log what is sent, on standard error.")] = False,
) -> None:
    del version
    # Other libraries stay at warnings: their debug lines hold headers, which may hold secrets.
    lines = logging.StreamHandler(sys.stderr)
    lines.setFormatter(_Visible("%(levelname)s:%(name)s:%(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[lines])
    logging.getLogger("ledgerframes").setLevel(logging.DEBUG if verbose else logging.INFO)


@app.command()
@printed
@opt.networked("scan")
@opt.ranged
def plan(network: opt.Connect, part: opt.Part) -> Any:
    """Estimate what loading a range takes: rows, requests, megabytes, minutes.

    Example: ledgerframes plan --start 2026-01-01 --end 2026-02-01 --scan-url https://HOST/api/scan
    """
    from ledgerframes.loaders.planning import plan as estimate

    with network() as net:
        return estimate(net, **part)


@app.command()
@opt.networked("scan")
@printed
def migrations(network: opt.Connect) -> Rows:
    """List the network's migrations with their first and last record time."""
    from ledgerframes.loaders.planning import migrations as find

    with network() as net:
        return find(net)


_SANDBOX: Final[dict[str, Any]] = {
    "port": Annotated[int | None, typer.Option(min=0, max=65535, help="Port on 127.0.0.1; by default a free one.")],
    "seed": Annotated[int | None, typer.Option(help="The same seed makes the same ledger; 7 by default.")],
    "updates": Annotated[int | None, typer.Option(min=0, help="Length of its history; 2000 by default.")],
    "days": Annotated[int | None, typer.Option(help="Instead of --updates: so many days, with busy and quiet hours.")],
    "rounds_per_day": Annotated[
        int | None, typer.Option(help="Mining rounds per day; 144 as on a network, fewer with more than 3 --days.")
    ],
    "reward_version": Annotated[
        str | None,
        typer.Option(help='How apps are rewarded: "markers" (default), "traffic", or "switch": by vote to the second.'),
    ],
    "release": Annotated[
        str | None, typer.Option(help="Serve as this release does: 0.9, 0.7, 0.5; by default everything.")
    ],
    "live": Annotated[str | None, typer.Option(help='Let the ledger grow: "50/s", "90/min", "10/h".')],
    "prune_before": Annotated[
        str | None, typer.Option(help="The scan has nothing older than this time, or MIGRATION@TIME.")
    ],
    "auth": Annotated[str | None, typer.Option(help='Answer without a token: "none".')],
    "prune": Annotated[str | None, typer.Option(help='The scan keeps this much: "30d", "6h", "20min".')],
    "load": Annotated[Path | None, typer.Option(help="Serve the ledger kept in this file.")],
    "faults": Annotated[
        str | None,
        typer.Option(help='What goes wrong how often, such as "429:0.1,reset:0.05,latency:80ms".'),
    ],
}
#: Options of which the first makes the others meaningless, and why.
_ALONE: Final = {
    "load": (("seed", "updates", "days", "rounds_per_day", "reward_version"), "the kept ledger has its own"),
    "days": (("updates",), "the days make a history of their own"),
}


@app.command()
@opt.taking(_SANDBOX)
def sandbox(
    *,
    save: Annotated[Path | None, typer.Option(help="Keep the ledger in this file when it ends.")] = None,
    **options: Any,
) -> None:
    """Serve a simulated ledger until Ctrl-C; print its URLs and a token valid only for it.

    Example: ledgerframes sandbox --port 8080, then in another shell
    ledgerframes load history -o tables --limit 500 --scan-url http://127.0.0.1:8080/api/scan
    """
    from ledgerframes.embedded import sandbox as start

    chosen = opt.chosen(options)
    for option, (others, why) in _ALONE.items():
        for other in (name for name in others if option in chosen and name in chosen):
            raise InputError(f"{option_of(other)} does not apply together with --{option}: {why}; leave it out")
    if save is not None:
        check_folder(save.parent)
    try:
        net = start(**chosen | {"prune_before": opt.bound(chosen.get("prune_before"))})
    except OSError as error:
        raise InputError(str(error)) from error
    with net:
        _serve(net.sandbox, needs_token=chosen.get("auth") != "none")
        if save is not None:
            _keep(net.sandbox, save)


def _keep(handle: Any, file: Path) -> None:
    try:
        with writing(file):
            file.parent.mkdir(parents=True, exist_ok=True)
        handle.save(file)
    except ValueError as error:
        raise InputError(str(error)) from error
    say(f"kept in {file}", err=True)


@contextmanager
def until_signalled() -> Iterator[None]:
    """Until Ctrl-C or SIGTERM, which is how some commands are meant to end, also where a shell ignores the first."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, signal.default_int_handler) for number in numbers}
    try:
        yield
    except KeyboardInterrupt:
        say("ended", err=True)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _serve(handle: Any, *, needs_token: bool) -> None:
    """Print where the sandbox is, and wait until it is told to end."""
    from ledgerframes.embedded import SANDBOX_USER

    with until_signalled():
        for interface in ("scan", "validator", "registry", "ledger"):
            say(f"{interface:<10} {getattr(handle, f'{interface}_url')}")
        if needs_token:
            say(f"token      {handle.token(SANDBOX_USER)}")
        say("Ctrl-C ends it.", err=True)
        while True:
            time.sleep(SLICE)


@app.command()
def demo(
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the results.")] = Path("demo-output"),
) -> None:
    """Do the main job on a simulated ledger: load, keep a lake, write Parquet, charts and a report."""
    from ledgerframes.apps.demo import demonstrate

    check_folder(output)
    demonstrate(output, _say_while_read)


def _say_while_read(text: str) -> None:
    """Print, and continue silently once nobody reads any more: the results are in files."""
    try:
        say(text)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
