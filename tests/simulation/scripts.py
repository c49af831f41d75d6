"""A failing history made small: expanded from its seed into a script, shrunk, and written as a Python literal.

Seeds die whenever the generator changes; the script of a failure stays, as a named test in `test_scripts.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from tests.simulation.faults import Holds
from tests.simulation.history import run
from tests.simulation.script import DIGITS, Outcome, Script
from tests.simulation.world import BASE, Item, U, ago

#: Tries that a shrink may take; each is a history.
_TRIES = 1500


def failing(outcome: Outcome) -> frozenset[Holds]:
    """The invariants that a history broke."""
    return frozenset(problem.holds for problem in outcome.problems)


def shrink(script: Script, *, breaks: Holds, tries: int = _TRIES, runs: Callable[[Script], Outcome] = run) -> Script:
    """The smallest script found that still breaks an invariant."""
    left = tries
    progress = True
    while progress and left > 0:
        progress = False
        for smaller in _smaller(script):
            left -= 1
            outcome = runs(smaller)
            if breaks in failing(outcome):
                script, progress = replace(smaller, choices=_trimmed(outcome.script.choices, smaller)), True
                break
            if left <= 0:
                break
    return script


def _trimmed(taken: object, smaller: Script) -> dict[str, list[int]]:
    """The choices that were really taken, no longer than they were given."""
    assert isinstance(taken, dict)
    return {name: stream[: len(smaller.choices.get(name, ()))] for name, stream in taken.items() if stream}


def _smaller(script: Script) -> Iterator[Script]:
    """Simpler scripts, the much simpler ones first."""
    for name in script.faults:
        yield replace(script, faults=tuple(one for one in script.faults if one != name))
    for number in range(script.servers - 1, 0, -1):
        yield replace(script, servers=number)
    for name in sorted(script.choices):
        yield replace(script, choices={one: stream for one, stream in script.choices.items() if one != name})
    for number in range(len(script.items)):
        yield replace(script, items=(*script.items[:number], *script.items[number + 1 :]))
    if script.branch:
        yield replace(script, branch=script.branch[:-1])
    for name, stream in sorted(script.choices.items()):
        yield from (replace(script, choices=script.choices | {name: short}) for short in _shorter(stream))  # type: ignore[operator]
    for number, item in enumerate(script.items):
        for simple in _plainer(item):
            items = (*script.items[:number], simple, *script.items[number + 1 :])
            if len({(one.migration, one.at, one.synchronizer) for one in items}) == len(items):
                yield replace(script, items=tuple(sorted(items)))


def _shorter(stream: list[int]) -> Iterator[list[int]]:
    size = len(stream) // 2
    while size:
        for start in range(0, len(stream), size):
            yield stream[:start] + stream[start + size :]
        size //= 2
    for place, choice in enumerate(stream):
        if choice:
            yield [*stream[:place], 0, *stream[place + 1 :]]


def _plainer(item: Item) -> Iterator[Item]:
    if item.kind not in {"create", "broken"}:
        yield item._replace(kind="create")
    if item.synchronizer != "A":
        yield item._replace(synchronizer="A")
    if item.at % U:
        yield item._replace(at=round(item.at / U) * U)


def literal(script: Script) -> str:
    """A script as Python, to be pasted into `test_scripts.py`."""
    choices = [
        f"{name} {''.join(DIGITS[one] for one in taken)}" for name, taken in sorted(script.choices.items()) if taken
    ]
    words = [_listed(script.items), " ".join(script.faults), ", ".join(choices)]
    given = [f'"{text}"' for text in words]
    if script.servers != 1:
        given.append(f"servers={script.servers}")
    if script.branch:
        given.append(f'branch="{_listed(script.branch)}"')
    if script.cut:
        given.append(f'cut="{ago(BASE + script.cut)}"')
    given += [f"{name}=True" for name in ("verdicts", "objects") if getattr(script, name)]
    return f"told({', '.join(given)})"


def _listed(items: Sequence[Item]) -> str:
    return ", ".join(map(str, items))
