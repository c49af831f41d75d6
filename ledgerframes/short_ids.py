"""Short labels for long identifiers, distinct wherever the identifiers are; called by charts, reports and frames."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from ledgerframes.session_names import alias_of

LEVELS: Final = ((9, 4), (13, 5), (20, 6), (28, 10), (40, 16), (64, 34))
NORMAL: Final = 2
_MARK: Final = "::"


def short_names(identifiers: Iterable[str], *, level: int = NORMAL) -> dict[str, str]:
    """Short labels: the session's alias, else the hint before the `::`; with the fingerprint where several share it.

    Args:
        identifiers: those that stand in one chart or table.
        level: how long a label should be, as an index into `LEVELS`: characters of name and of fingerprint.
    """
    known = sorted(set(identifiers))
    labels = {name: _cut(_hint(name), *LEVELS[level]) for name in known}
    for head, tail in LEVELS[level:]:
        labels |= {name: _with_fingerprint(name, head, tail) for name in _confused(labels)}
    labels |= {name: plain_text(name) for name in _confused(labels)}
    # Identifiers that differ only in unprintable characters are numbered.
    labels |= {name: f"{labels[name]} ({number})" for number, name in enumerate(_confused(labels), 1)}
    return labels


def _confused(labels: dict[str, str]) -> list[str]:
    often = Counter(labels.values())
    return [name for name, label in labels.items() if often[label] > 1]


def _hint(identifier: str) -> str:
    """What an identifier is called; one without a hint is its fingerprint."""
    return plain_text(alias_of(identifier) or identifier.partition(_MARK)[0] or identifier)


def _cut(name: str, head: int, tail: int) -> str:
    return name if len(name) <= head + 2 else name[: head - tail // 2] + "…" + name[-(tail // 2) :]


def _with_fingerprint(identifier: str, head: int, tail: int) -> str:
    _, mark, fingerprint = plain_text(identifier).partition(_MARK)
    cut = fingerprint if len(fingerprint) <= tail + 2 else fingerprint[:tail] + "…"
    return _cut(_hint(identifier), head, tail) + mark + cut


def plain_text(text: str) -> str:
    """A text in which what is not printable is a space."""
    return "".join(sign if sign.isprintable() else " " for sign in text)
