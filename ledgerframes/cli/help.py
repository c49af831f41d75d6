"""How the shell speaks: `--help` with commands in groups and types as words, and messages with options for Python's."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any, Final

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

#: The commands in the order of their groups.
GROUPS: Final = {
    "Start": ("sandbox", "demo", "doctor", "profile"),
    "Load": ("plan", "migrations", "load"),
    "Lake": ("sync", "derive", "coverage", "syncs", "sql", "export"),
    "Tables and charts": (
        "flows", "holdings", "rewards", "compute", "plot", "report", "tables", "describe", "find", "model",
    ),
    "Care": ("check", "verify", "repair", "cross-check", "compact"),
}  # fmt: skip
_WORDS: Final = {
    "TIME": ("start", "end", "at", "as_of", "record_time", "prune_before", "forget_before"),
    "DURATION": ("last", "every", "settle", "prune"),
    "PATH": ("output", "ca_file", "load", "save", "labels", "endpoints", "token_file"),
    "TABLES": ("tables", "derive"),
    "COLUMNS": ("columns",),
    "PARTY": ("party", "parties", "owners", "validators"),
    "NUMBER": (
        "rate", "limit", "workers", "top", "port", "seed", "updates", "days", "rounds_per_day", "migration_id",
        "as_of_round", "sample",
    ),
    "URL": ("scan_url", "validator_url", "registry_url", "ledger_url"),
}  # fmt: skip
#: Rarely needed options of a network.
_RARE: Final = ("validator_url", "registry_url", "ledger_url", "rate", "ca_file", "insecure_http", "failover")
ARGS: Final = "ledgerframes.args"
#: Python's words in messages and those of a shell, in the order in which they are replaced.
_TRANSLATED: Final[tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...]] = (
    (r"\bconnect\(([a-z_]+)=\.\.\.\)", r"\1="),
    (r"\bgive [a-z]+_token=, (?=set LEDGERFRAMES_)|\b[a-z]+_token= or (?=LEDGERFRAMES_)", ""),
    (r"\b[a-z]+_token=(?=[,.;]|$)", lambda found: f"LEDGERFRAMES_{found[0][:-1].upper()}"),  # never an option
    (r"(?:,? or|;) (?:give )?opening=[^;]*", ""),  # the state before a range can only be given in Python
    (r",(?: or)? as a (?:timedelta|number of seconds)", ""),  # a duration is a text in a shell
    (r"\((\d+), '(\d{4}-[^']+)'\)", r"\1@\2"),  # as it can be typed
    (r"\bsource=(['\"]\w+['\"])", r"source=\1 in Python"),  # no command has it
    (r"\bstore\.derive\(\[['\"](\w+)['\"]\]\)", r"ledgerframes derive LAKE \1"),
    (
        r"\bstore\.sync\(net, tables=\[['\"](\w+)['\"]\](?:, parties=\[\.\.\.\])?\)",
        r"ledgerframes sync LAKE --tables \1",
    ),
    (r"\blf\.(\w+)\(store\)", r"ledgerframes \1 LAKE"),
    (r"\blf\.load_(\w+)\(net\)", r"ledgerframes load \1"),
    (r"\bstore\.(sync|derive|check|repair|verify|compact|syncs)\((?:net)?\)", r"ledgerframes \1 LAKE"),
    (r"\bstore\.repair\(unsettled=True\)", "ledgerframes repair LAKE --unsettled"),
    (r"\blf\.models\(\)", "ledgerframes model"),
)
#: The advice to take a part, which not every command can.
_PARTIAL: Final = re.compile(r",? or pass allow_partial=True to get [a-z ]+")


class _InOrder:
    """Names of the option that shows the help in one order: click takes that of a set, another in every run."""

    def get_help_option_names(self, ctx: Any) -> list[str]:
        """Those of the settings."""
        return list(ctx.help_option_names)


class Command(_InOrder, TyperCommand):
    """A command whose help shows what most need; `--help-all` shows everything."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Record the arguments, and give them words, before help or an error shows them."""
        ctx.meta[ARGS] = list(args)
        _put_in_words(self.get_params(ctx))
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, without what few need."""
        options = [one for one in self.get_params(ctx) if isinstance(one, TyperOption) and not one.hidden]
        rare = [option for option in options if _is_rare(option, ctx.meta.get(ARGS, []))]
        self.epilog = f"{len(rare)} more options: {ctx.command_path} --help-all" if rare else None
        for option in rare:
            option.hidden = True
        super().format_help(ctx, formatter)
        for option in rare:
            option.hidden = False


class Group(_InOrder, TyperGroup):
    """Commands whose options have words in place of Python's types; a computed table's name is one, too."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that was typed; `compute` with the name of a table of which it was given alone."""
        name = args[0]
        compute = self.get_command(ctx, "compute")
        if compute is not None and self.get_command(ctx, name) is None:
            from ledgerframes.tables.derived import DERIVED

            word = name.replace("-", "_")
            if word in DERIVED:
                return "compute", compute, args
            if close := get_close_matches(word.lower(), {*self.list_commands(ctx), *DERIVED}):
                ctx.fail(f"No such command {name!r}. Did you mean {', '.join(map(repr, close))}?")
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Give the options words, before help or an error shows them."""
        _put_in_words(self.get_params(ctx))
        return super().parse_args(ctx, args)


def arrange(app: typer.Typer) -> None:
    """Put the commands in their groups, and every one in the order of its group."""
    order = [name for names in GROUPS.values() for name in names]
    groups = {name: group for group, names in GROUPS.items() for name in names}
    infos: list[Any] = [*app.registered_commands, *app.registered_groups]
    for info in infos:
        info.rich_help_panel = groups[_name(info)]
    app.registered_commands.sort(key=lambda info: order.index(_name(info)))
    within = [info for group in app.registered_groups for info in (group.typer_instance or app).registered_commands]
    for info in {id(info): info for info in [*app.registered_commands, *within]}.values():
        info.cls = Command


def _name(info: Any) -> str:
    return str(info.name or info.callback.__name__)


def _put_in_words(parameters: Iterable[Any]) -> None:
    """Give parameters words in place of Python's types; an argument's name is its word."""
    for parameter in parameters:
        if isinstance(parameter, TyperOption):
            parameter.metavar = _word(parameter)
        elif isinstance(parameter, TyperArgument):
            parameter.metavar = parameter.metavar or str(parameter.name).upper()
            parameter.display_type_rich = lambda **_: None  # type: ignore[method-assign]


def _word(option: TyperOption) -> str:
    """The placeholder of the value; none for a flag."""
    if option.is_flag:
        return ""
    return next((word for word, names in _WORDS.items() if option.name in names), "TEXT")


def _is_rare(option: TyperOption, typed: list[str]) -> bool:
    """Whether few need it: of the network, or of a single table that was not named; none is where all are asked for."""
    if "--help-all" in typed:
        return False
    if option.name in _RARE:
        return True
    tables, mark, _ = (option.help or "").partition(": ")
    known = bool(mark) and tables.replace("_", "").replace(", ", "").islower() and tables not in typed
    return option.rich_help_panel is None and known and not set(tables.split(", ")) & set(typed)


def of_the_shell(message: str, options: Mapping[str, str], *, partial: bool) -> str:
    """A message without Python's advice.

    Args:
        message: an error's message.
        options: the options of a shell, by the arguments that they give in Python.
        partial: whether the command can take a part of a range.
    """
    message = message if partial else _PARTIAL.sub("", message)
    for python, shell in _TRANSLATED:
        message = re.sub(python, shell, message)
    # Before a slash, it is a folder of a lake.
    argument = rf"(?<![\w.-])({'|'.join(sorted(options, key=len, reverse=True))})=(?!\w+/)"
    message = re.sub(rf"{argument}(?:True\b|\[\.\.\.\])", lambda found: options[found[1]], message)
    message = re.sub(rf"{argument}(?=[\w\"'(\[+-])", lambda found: f"{options[found[1]]} ", message)
    return re.sub(argument, lambda found: options[found[1]], message)


def option_of(name: str) -> str:
    """An argument's option."""
    return f"--{name.replace('_', '-')}"
