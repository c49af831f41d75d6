"""Breaks the answers of all endpoints for as long as wanted: `python -m tests.fuzz.answers --minutes N --seed S`.

A case may end in a right result or in an error of the package; anything else is a finding: another exception, a
wrong frame, more than `HANG` seconds, thousands of requests, or memory beyond `MEMORY`. Case n of a seed is always
the same: `--seed S --case N` runs it alone. It ends with 1 if there was a finding.
"""

from __future__ import annotations

import argparse
import faulthandler
import logging
import random
import re
import resource
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any, Final

from ledgerframes.errors import BeginsLateWarning, DeprecatedEndpointWarning, LedgerframesError, SnapshotWarning
from tests.fuzz.corpus import Corpus, gather
from tests.fuzz.targets import TARGETS

HANG = 10
MEMORY = 3 * 2**30  # address space beyond that of the start; a page is less than a megabyte
SHOWN = 3
#: Every call is made, those of deprecated routes too; what is broken may look like a history that begins late, or like
#: an old snapshot.
TOLERATED: Final = (DeprecatedEndpointWarning, BeginsLateWarning, SnapshotWarning)


class HangError(BaseException):
    """A case takes too long; not to be caught by the package."""


def main() -> int:
    """Run for the wanted time, or one case."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.answers", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--case", type=int, help="run this one alone, and let its error show")
    parser.add_argument("--only", choices=[*TARGETS], help="one target")
    arguments = parser.parse_args()
    prepare()
    corpus = gather()
    if arguments.case is not None:
        run_case(corpus, arguments.seed, arguments.case, arguments.only)
        return 0
    return run(corpus, arguments)


def prepare() -> None:
    """Warnings are errors, the clock is watched, memory is bounded."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("error")
    for tolerated in TOLERATED:
        warnings.simplefilter("ignore", tolerated)
    faulthandler.enable()


def run(corpus: Corpus, arguments: argparse.Namespace) -> int:
    """Case after case until the time is over."""
    held = address_space()
    resource.setrlimit(resource.RLIMIT_AS, (held + MEMORY, held + MEMORY))
    began = told = time.monotonic()
    ends = began + 60 * arguments.minutes
    counts: Counter[str] = Counter()
    findings: Counter[str] = Counter()
    number = 0
    while time.monotonic() < ends:
        target = name_of(arguments.seed, number, arguments.only)
        counts[target] += 1
        try:
            run_case(corpus, arguments.seed, number, arguments.only)
        except KeyboardInterrupt:
            break
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is a finding
            note(findings, error, arguments, number, target)
        number += 1
        if time.monotonic() - told > 60:
            told = time.monotonic()
            print(f"{number} cases, {number / (told - began):.0f}/s, {len(findings)} findings", flush=True)
    tell(counts, findings, time.monotonic() - began)
    return 1 if findings else 0


def name_of(seed: int, number: int, only: str | None) -> str:
    """The target of a case."""
    if only:
        return only
    weights = [weight for weight, _ in TARGETS.values()]
    return random.Random(f"{seed}/{number}/target").choices([*TARGETS], weights)[0]


def run_case(corpus: Corpus, seed: int, number: int, only: str | None) -> None:
    """One case; raises if it is a finding."""
    rng = random.Random(f"{seed}/{number}")
    signal.signal(signal.SIGALRM, _too_long)
    faulthandler.dump_traceback_later(6 * HANG, exit=True)
    signal.setitimer(signal.ITIMER_REAL, HANG)
    try:
        TARGETS[name_of(seed, number, only)][1](corpus, rng)
    except LedgerframesError:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()


def note(findings: Counter[str], error: BaseException, arguments: Any, number: int, target: str) -> None:
    """Keep a finding; the first few of a kind are shown."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "/ledgerframes/" in frame.filename] or frames
    what = re.sub(r"0x\w+|\d+", "#", str(error))[:24]
    kind = f"{target}: {type(error).__name__} at {Path(own[-1].filename).name}:{own[-1].lineno} {what!r}"
    findings[kind] += 1
    if findings[kind] <= SHOWN:
        print(f"FINDING seed {arguments.seed} case {number}: {kind}", flush=True)


def tell(counts: Counter[str], findings: Counter[str], seconds: float) -> None:
    """The end of a run in words."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{counts.total()} cases in {seconds:.0f} s, {counts.total() / seconds:.0f}/s, peak memory {peak:.0f} MB")
    print(", ".join(f"{name} {count}" for name, count in counts.most_common()))
    for kind, count in findings.most_common():
        print(f"{count} x {kind}")
    print(f"{len(findings)} kinds of findings")


def address_space() -> int:
    """Bytes of address space held now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    return pages * resource.getpagesize()


def _too_long(_signal: int, _frame: FrameType | None) -> None:
    raise HangError(f"more than {HANG} seconds")


if __name__ == "__main__":
    sys.exit(main())
