"""`contiguous`: the objects of a folder as one history without a gap; `open_objects` refuses any other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ledgerframes.errors import InputError
from ledgerframes.objects.segments import Segment, segments_of
from ledgerframes.objects.sources import StoredObject
from ledgerframes.timestamps import format_trimmed

_NAMED: Final = 3


def contiguous(objects: Sequence[StoredObject], place: str) -> tuple[StoredObject, ...]:
    """The objects to read, in order; among segments that cover the same record times, the longer ones.

    Args:
        objects: at least one, each name once.
        place: where they are, for messages.

    Raises:
        InputError: an object is missing, or segments overlap in part.
    """
    segments = _whole_segments(objects, place)
    chain = _chain(segments)
    last = chain[-1].up_to
    later = [segment for segment in segments if segment.up_to > last]
    if later:
        _refuse(last, later, place)
    return tuple(stored for segment in chain for stored in segment.objects)


def _whole_segments(objects: Sequence[StoredObject], place: str) -> list[Segment]:
    """Group the objects into segments.

    Raises:
        InputError: a segment lacks an object.
    """
    segments = segments_of(objects)
    for segment in segments:
        if segment.missing is not None:
            last = segment.objects[-1].name
            raise InputError(
                f"{place}: in the segment {str(last).rpartition('/')[0]}, object {segment.missing} is missing and"
                f" object {last.number} exists; add it, or leave the segment out by start= or end="
            )
    return segments


def _chain(segments: Sequence[Segment]) -> list[Segment]:
    """Consecutive segments, from the first on as far as possible, in as few steps as possible."""
    best: dict[int, tuple[int, int, Segment]] = {}
    for segment in sorted(segments, key=lambda one: (one.after, one.up_to), reverse=True):
        end, steps, _ = best.get(segment.up_to, (segment.up_to, 0, segment))
        known = best.get(segment.after)
        if known is None or (end, -steps - 1) > (known[0], -known[1]):
            best[segment.after] = end, steps + 1, segment
    chain = [best[min(best)][2]]
    while chain[-1].up_to in best:
        chain.append(best[chain[-1].up_to][2])
    return chain


def _refuse(last: int, later: Sequence[Segment], place: str) -> None:
    following = min(later, key=lambda segment: (segment.after, segment.up_to))
    name = f"{format_trimmed(following.after)}~{format_trimmed(following.up_to)}"
    reached = format_trimmed(last)
    if following.after < last:
        raise InputError(
            f"{place}: the segment {name} begins before {reached}, where the one before it ends; keep one of the two,"
            f" or read a part by start= or end="
        )
    gaps = [format_trimmed(segment.after) for segment in later[:_NAMED]]
    raise InputError(
        f"{place}: objects from {reached} to {gaps[0]} are missing. Add them, or read one part of the folder:"
        f" end={reached!r}, or start={gaps[0]!r}"
    )
