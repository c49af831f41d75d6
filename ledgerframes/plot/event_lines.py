"""`events=`: what happened meanwhile, as lines on a chart over time: its times and words from a caller's frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from ledgerframes.errors import InputError
from ledgerframes.number_format import plural
from ledgerframes.plot.contents import Content, EventLine, Nothing, Panels, Stack, Steps
from ledgerframes.plot.reading import ChartInput, micros, texts

_GIVER: Final = "lf.votes(events) or lf.config_changes(events)"
#: When a vote takes effect, else when it was closed, else when it was opened.
_OF_VOTES: Final[tuple[str, ...]] = ("effective_at", "completed_at", "opened_at")
#: Before an action's name, such as SRARC_: by which rules it is done.
TAG: Final = r"^[A-Z]+_"
_LONGEST: Final = 28  # characters of a label
_APART: Final = 1 / 36  # of the axis: lines that are nearer than this share a label


def with_events(content: Content, events: Any) -> Content:
    """The content of a chart with a line for each event in its range; the subtitle counts those outside.

    Args:
        content: of a chart over time.
        events: a frame of votes, of changes of configuration, or of `time` and `text`.

    Raises:
        InputError: it is none of these, or the chart is not over time.
    """
    times, words = _read(events)
    panels: Sequence[Any] = content.panels if isinstance(content, Panels) else (content,)
    if isinstance(content, Nothing):
        return content
    if any(panel.x.scale != "time" for panel in panels):
        raise InputError("events= are lines at times, and this chart is not over time; leave them out")
    assert isinstance(content, Stack | Steps | Panels)
    low, high = (int(of(panel.ends[end] for panel in panels)) for end, of in ((0, min), (1, max)))
    inside = (times >= low) & (times <= high)
    drawn = _lines(times[inside], [word for word, there in zip(words, inside, strict=True) if there], high - low)
    note = f"; {plural(len(drawn), 'line')} for {int(inside.sum()):,} of {plural(len(times), 'event')}"
    if isinstance(content, Panels):
        made = tuple(replace(panel, events=drawn) for panel in content.panels)
        return replace(content, panels=made, subtitle=content.subtitle + note)
    return replace(content, events=drawn, subtitle=content.subtitle + note)


def _read(events: Any) -> tuple[Any, list[str]]:
    """The times of events in microseconds, in order, and what each is.

    Raises:
        InputError: it is not a frame of votes, of changes of configuration, or of `time` and `text`.
    """
    frame = ChartInput(events, "events=", _GIVER).frame()
    columns = set(frame.columns)
    if {"action", "outcome", *_OF_VOTES} <= columns:
        action = texts(frame, "action").str.replace(TAG, "", regex=True)
        outcome = texts(frame, "outcome", absent="open").str.replace("_", " ")
        names, words = _OF_VOTES, action.where(outcome == "accepted", action + ", " + outcome)
    elif {"record_time", "member", "after"} <= columns:
        member = texts(frame, "member").str.replace(r"(\.value|\[\d+\])+$", "", regex=True)
        names, words = ("record_time",), member.str.rpartition(".")[2] + " " + texts(frame, "after", absent="removed")
    elif {"time", "text"} <= columns:
        names, words = ("time",), texts(frame, "text", absent="")
    elif len(frame):
        raise InputError(f"events= needs a column time and a column text, or {_GIVER}; this frame has neither")
    else:
        return np.zeros(0, np.int64), []
    times, known = np.zeros(len(frame), np.int64), np.zeros(len(frame), bool)
    for name in names:
        own, there = micros(frame, name)
        times, known = np.where(known, times, own), known | there
    order = np.argsort(times[known], kind="stable")
    return times[known][order], words[known].iloc[order].to_list()


def _lines(times: Any, words: list[str], span: int) -> tuple[EventLine, ...]:
    """A line for each time; those close together share the label of the first, which counts the others."""
    lines: list[EventLine] = []
    for at, whole in zip(times.tolist(), words, strict=True):
        if lines and at == lines[-1].at:
            lines[-1] = replace(lines[-1], whole=(*lines[-1].whole, whole))
        else:
            lines.append(EventLine(at, "", (whole,)))
    groups: list[list[EventLine]] = []
    for line in lines:
        if groups and line.at - groups[-1][0].at < span * _APART:
            groups[-1].append(line)
        else:
            groups.append([line])
    return tuple(
        replace(line, label=_label([word for one in group for word in one.whole]) if line is group[0] else "")
        for group in groups
        for line in group
    )


def _label(words: Sequence[str]) -> str:
    first, more = words[0], f" +{len(words) - 1}" if len(words) > 1 else ""
    room = _LONGEST - len(more)
    return (first if len(first) <= room else first[: room - 1] + "…") + more
