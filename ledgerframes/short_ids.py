"""Short labels for long identifiers, distinct wherever the identifiers are; called by charts, reports and frames."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from ledgerframes.session_names import alias_of

LEVELS: Final = ((9, 4), (13, 5), (20, 6), (28, 10), (40, 16), (64, 34))
NORMAL: Final = 2
_MARK: Final = "::"


def short_names(identifiers: Iterable[str], *, level: int = NORMAL, aliased: bool = True) -> dict[str, str]:
    """Short labels: the session's alias, else the hint before the `::`; with the fingerprint if several share it.

    Args:
        identifiers: all those of one chart or table.
        level: the length of labels, as an index into `LEVELS`: characters of name and of fingerprint.
        aliased: False for a table, which has aliases in a column of their own.
    """
    known = sorted(set(identifiers))
    hints = {name: plain_text((aliased and alias_of(name)) or name.partition(_MARK)[0] or name) for name in known}
    labels = {name: _elided(hint, *LEVELS[level]) for name, hint in hints.items()}
    for head, tail in LEVELS[level:]:
        labels |= {name: _with_fingerprint(name, hints[name], head, tail) for name in _confused(labels)}
    labels |= {name: plain_text(name) for name in _confused(labels)}
    # Identifiers that differ only in unprintable characters are numbered.
    labels |= {name: f"{labels[name]} ({number})" for number, name in enumerate(_confused(labels), 1)}
    return labels


def _confused(labels: dict[str, str]) -> list[str]:
    often = Counter(labels.values())
    return [name for name, label in labels.items() if often[label] > 1]


def _elided(name: str, head: int, tail: int) -> str:
    return name if len(name) <= head + 2 else name[: head - tail // 2] + "…" + name[-(tail // 2) :]


def _with_fingerprint(identifier: str, hint: str, head: int, tail: int) -> str:
    _, mark, fingerprint = plain_text(identifier).partition(_MARK)
    shortened = fingerprint if len(fingerprint) <= tail + 2 else fingerprint[:tail] + "…"
    return _elided(hint, head, tail) + mark + shortened


def plain_text(text: str) -> str:
    """A text with a space for each unprintable character."""
    return "".join(sign if sign.isprintable() else " " for sign in text)
