"""Every benchmark still runs: each with less of everything, and one round of its sides."""

from __future__ import annotations

import pytest

from tests.benchmarks import (
    analyses,
    economics,
    lake,
    memory,
    objects,
    page_to_arrow,
    pages,
    receiving,
    sandbox_start,
    whole_history,
)
from tests.benchmarks.measuring import side_by_side

#: Of each, what is made smaller.
SMALLER = {
    receiving: {"SIZES": {50: 1}},
    memory: {"SHORT": 500, "LONG": 1_000, "CONTRACTS": 2_000},
    whole_history: {"SERVED": 600, "READ": (300, 600)},
    lake: {"SLOW": 200, "QUICK": 600},
    objects: {"UPDATES": 3_000, "PER_OBJECT": 1_250, "PER_FRAME": 500},
    analyses: {"EVENTS": 30_000},
    economics: {"EVENTS": 10_000, "UPDATES": 1_000},
    sandbox_start: {"LIMITS": {500: 2_000.0}},
}


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("program", SMALLER, ids=lambda program: program.__name__.rpartition(".")[2])
@pytest.mark.filterwarnings("ignore")  # its histories begin late, and have choices that no model knows
def test_a_benchmark_runs_with_less(program, monkeypatch):
    for name, value in SMALLER[program].items():
        monkeypatch.setattr(program, name, value)
    if hasattr(program, "side_by_side"):
        monkeypatch.setattr(program, "side_by_side", once)

    rows = program.rows()

    assert rows
    assert all(row.ours > 0 < row.theirs for row in rows if not row.skipped)


def once(sides, **options):
    return side_by_side(sides, **options | {"rounds": 1})


@pytest.mark.long
def test_the_pages_are_decoded_in_each_way(monkeypatch):
    monkeypatch.setattr(pages, "ITEMS", 100)
    monkeypatch.setattr(page_to_arrow, "side_by_side", once)

    for page in pages.all_pages():
        assert all(row.ours > 0 < row.theirs for row in page_to_arrow.rows(page) if not row.skipped), page.name
