"""`ObjectFaults`: what is wrong with the objects of a sandbox's history; its handle holds one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ObjectFaults:
    """How the objects of a server differ from what they should be.

    Attributes:
        served: whether there are any; without them lists are refused by 501.
        wrong_digest: the lists have digests of other bytes.
        cut: every object ends in the middle; its digest is that of what is left.
        gone: what is listed cannot be downloaded: 404.
        overlap: the lists also have longer segments of the same history.
        encodings: how values are written, one object for each.
    """

    served: bool = True
    wrong_digest: bool = False
    cut: bool = False
    gone: bool = False
    overlap: bool = False
    encodings: tuple[str, ...] = ("compact_json",)
