"""Docstrings of functions that share arguments and errors, each told once: of calls, loaders, tables and charts."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from textwrap import fill
from typing import Any, Final

#: The sections of a docstring, in their order.
_SECTIONS: Final = ("Args", "Attributes", "Returns", "Warns", "Raises", "Example")
_HEADING: Final = re.compile(rf"\n\n(?=(?:{'|'.join(_SECTIONS)}):\n)")
_ITEM: Final = re.compile(r"(?m)^ {4}(?=\w+: )")


def described(function: Callable[..., Any], section: str) -> dict[str, str]:
    """The items of a section of a function's docstring, such as its arguments, by name."""
    return _items(_split(inspect.getdoc(function) or "")[1].get(section, ""))


def documented(
    text: str,
    names: Iterable[str],
    arguments: Mapping[str, str],
    errors: Iterable[str],
    *,
    note: str = "",
    result: str = "",
) -> str:
    """Extend a docstring by what its function shares with others; it keeps its own words for an argument or an error.

    Args:
        text: the docstring, without indentation.
        names: the function's arguments, in their order.
        arguments: those that others describe, by name.
        errors: those that others raise, such as `InputError: an argument breaks a rule.`
        note: a paragraph before the arguments.
        result: what the function returns, where the docstring does not say it.
    """
    words, sections = _split(text)
    own, raised = _items(sections.get("Args", "")), _items(sections.get("Raises", ""))
    shared = _items("".join(f"    {error}\n" for error in errors))
    known = {**arguments, **own}
    sections["Args"] = "\n".join(f"    {known[name]}" for name in names if name in known)
    sections["Raises"] = "\n".join(f"    {error}" for error in (raised | shared | raised).values())
    if result:
        sections.setdefault("Returns", fill(result, 116, initial_indent=" " * 4, subsequent_indent=" " * 4))
    present = (f"{heading}:\n{sections[heading]}" for heading in _SECTIONS if sections.get(heading))
    return "\n\n".join([words, *filter(None, [note]), *present])


def _split(text: str) -> tuple[str, dict[str, str]]:
    """A docstring's words, and its sections by their heading."""
    words, *sections = _HEADING.split(text)
    return words, {heading: body for heading, _, body in (section.partition(":\n") for section in sections)}


def _items(section: str) -> dict[str, str]:
    return {item.partition(":")[0]: item.rstrip() for item in _ITEM.split(section)[1:]}
