"""Counts what a table could not read: templates, choices and members that this version does not know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

#: Names that provenance lists; a history can hold any number of them.
_MOST: Final = 100


class NotUnderstood(Counter[str]):
    """How often each unknown thing occurs: `template`, `template/choice`, or either with `: ` and the member."""

    def each(self, names: Iterable[str]) -> None:
        """Count every name of a list."""
        self.update(names)

    def choices(self, rows: pa.Table, known: Iterable[str]) -> None:
        """Count the exercises whose choice is not known.

        Args:
            rows: with template_name and choice.
            known: the choices that are understood.
        """
        strange = rows.filter(pc.invert(pc.is_in(rows["choice"], pa.array(list(known), pa.string()))))
        self.each(f"{name}/{choice}" for name, choice in zip(*_pair(strange), strict=True))

    def as_attrs(self) -> dict[str, int]:
        """The counts as provenance holds them, the most frequent first; beyond 100 names under `others`."""
        listed = sorted(self.items(), key=lambda item: (-item[1], item[0]))
        rest = sum(count for _, count in listed[_MOST:])
        return dict(listed[:_MOST]) | ({"others": rest} if rest else {})


def _pair(rows: pa.Table) -> tuple[list[str], list[str]]:
    return rows["template_name"].to_pylist(), rows["choice"].to_pylist()
