"""Errors in a shell's words: what a message advises is an option or a command in place of Python; `app` calls it."""

from __future__ import annotations

import re
from collections.abc import Set
from typing import Final

_CONNECT: Final = re.compile(r"\bconnect\(([a-z_]+)=\.\.\.\)")
_TABLES: Final = re.compile(
    r"\bstore\.(sync|derive)\((?:net, )?(?:tables=)?\[['\"](\w+)['\"]\](?:, parties=\[\.\.\.\])?\)"
)
_LAKE: Final = re.compile(r"\bstore\.(sync|derive|check|repair|verify|compact|syncs)\((?:net)?\)")

#: The state before a range can only be given in Python.
_OPENING: Final = re.compile(r"(?:,? or|;) (?:give )?opening=[^;]*")
#: The advice to take a part, which not every command can.
_PARTIAL: Final = re.compile(r",? or pass allow_partial=True to get [a-z ]+")


def of_the_shell(message: str, options: Set[str], *, partial: bool) -> str:
    """A message without Python's advice.

    Args:
        message: an error's message.
        options: the arguments that are options in a shell, as Python names them.
        partial: whether the command can take a part of a range.
    """
    message = _OPENING.sub("", _CONNECT.sub(r"\1=", message))
    message = message if partial else _PARTIAL.sub("", message)
    message = _TABLES.sub(
        lambda call: f"ledgerframes {call[1]} LAKE {'--tables ' if call[1] == 'sync' else ''}{call[2]}", message
    )
    message = _LAKE.sub(r"ledgerframes \1 LAKE", message).replace("lf.models()", "ledgerframes model")
    argument = rf"(?<![\w.-])({'|'.join(sorted(options, key=len, reverse=True))})="
    message = re.sub(rf"{argument}True\b", lambda found: option_of(found[1]), message)
    message = re.sub(rf"{argument}(?=[\w\"'(\[+-])", lambda found: f"{option_of(found[1])} ", message)
    return re.sub(argument, lambda found: option_of(found[1]), message)


def option_of(name: str) -> str:
    """An argument's option."""
    return f"--{name.replace('_', '-')}"
