"""Histories that once lost, repeated or tore rows, or raised a false alarm, shrunk by `python -m tests.simulation`."""

import pytest

from tests.simulation.history import run
from tests.simulation.script import Script
from tests.simulation.world import Item, U

SCRIPTS = {
    # Any item of a later migration was taken for proof that the earlier range was complete; a clock closed it.
    "a-server-that-is-behind-while-migrations-overlap": Script(
        items=(Item(1, 1 * U, "A", "j"), Item(1, 8 * U, "A", "k"), Item(2, 7 * U, "A", "l")),
        choices={"clock": [3], "moves": [2, 1, 1]},
    ),
    # What a table was ahead by was skipped by its time; late items lie anywhere in it.
    "a-kill-between-two-tables-and-a-late-item": Script(
        items=(Item(1, 6 * U, "A", "g"), Item(1, 8 * U, "C", "d"), Item(1, 10 * U, "A", "b")),
        servers=2,
        faults=("late", "lagging", "kill"),
        choices={
            "clock": [2],
            "kill-after": [0, 0, 0, 0, 0, 0, 1],
            "kill-before": [1],
            "moves": [2, 1, 0, 0, 1, 0, 1],
            "plan": [1],
        },
    ),
    # Settling counted from the wall clock, and the first update appeared late: the store refused its own network.
    "a-first-update-that-is-late": Script(
        items=(Item(1, 8 * U, "C", "d"), Item(1, 10 * U, "A", "b")),
        servers=2,
        faults=("late", "lagging"),
        choices={"clock": [3], "moves": [2, 1, 0, 1]},
    ),
    "a-first-update-tied-with-a-late-one-and-a-kill": Script(
        items=(Item(1, 4 * U, "A", "o"), Item(1, 4 * U, "B", "c")),
        faults=("kill",),
        choices={"clock": [2], "kill-before": [0, 1], "moves": [1, 1]},
    ),
    # A page of one item, after a 413, went past the rest of a tie: a false alarm of a fork.
    "a-tie-cut-by-a-smaller-page": Script(
        items=(Item(1, 2 * U, "A", "d"), Item(1, 2 * U, "C", "m"), Item(2, 12 * U, "A", "i")),
        faults=("busy",),
        choices={"busy": [0, 0, 0, 0, 0, 0, 3, 1], "moves": [3, 1, 1, 1], "plan": [2]},
    ),
    "a-tie-larger-than-a-page": Script(
        items=(
            Item(1, 1 * U, "A", "i"),
            Item(1, 1 * U, "B", "d"),
            Item(1, 1 * U, "C", "a"),
            Item(2, 10 * U, "A", "h"),
        ),
    ),
    # One of two scans behind a URL pruned the first item shown, the other one, which had pruned more, sent the page.
    "a-first-item-pruned-between-two-windows": Script(
        items=(
            Item(0, 2 * U, "A", "i"),
            Item(0, 7 * U, "A", "g"),
            Item(1, 12 * U, "A", "k"),
        ),
        faults=("pruned", "two-windows"),
        choices={
            "moves": [6, 1, 1, 1],
            "prune": [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1],
            "replica": [0, 0, 0, 1],
        },
    ),
    # Rows were committed by a sync that covered nothing, and added again by the next one.
    "replicas-and-a-window": Script(
        items=(
            Item(1, 7 * U, "A", "n", "exercise"),
            Item(1, 8 * U, "B", "m", "assign"),
            Item(1, 9 * U + 1, "C", "a", "assign"),
        ),
        faults=("windows", "replicas"),
        choices={
            "moves": [2, 1, 1, 1],
            "plan": [2],
            "replica": [1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1],
            "window": [0, 0, 0, 0, 0, 2, 1, 9],
        },
    ),
    # One new item beyond a group was taken for a cap of the page.
    "a-server-that-catches-up-while-its-page-size-is-learnt": Script(
        items=(Item(2, 7 * U, "A", "o"), Item(2, 9 * U, "A", "h")),
        servers=2,
        faults=("lagging", "catching-up"),
        choices={"moves": [0, 1, 0, 0, 1, 1, 0, 0, 0, 1]},
    ),
    # A stored update was called one that the store lacks.
    "windows-beside-what-is-settled": Script(
        items=(Item(0, 4 * U, "A", "o"), Item(0, 11 * U, "A", "j")),
        faults=("windows",),
        choices={"moves": [1, 1, 1], "plan": [2], "window": [0, 0, 0, 3, 2, 3, 2, 5]},
    ),
    "rejects-that-are-settled": Script(
        items=(Item(0, 7 * U, "A", "e"), Item(0, 8 * U, "A", "p", "broken"), Item(2, 12 * U, "A", "h", "broken")),
        choices={"moves": [0, 2, 1], "plan": [2]},
    ),
    # One probe answered by half a page ended a sync that had another server.
    "a-damaged-answer-to-a-probe": Script(
        items=(Item(0, 3 * U, "A", "o"), Item(0, 8 * U, "A", "i"), Item(0, 11 * U, "A", "e")),
        servers=2,
        faults=("catching-up", "damaged"),
        choices={"damaged": [0, 0, 0, 0, 0, 1], "moves": [0, 2, 1]},
    ),
    # Two servers began differently, and the answer that would have told why was half a page.
    "a-damaged-answer-while-servers-are-told-apart": Script(
        items=(Item(0, 8 * U, "A", "h"),),
        servers=2,
        faults=("lagging", "damaged"),
        choices={"damaged": [0, 0, 1], "moves": [1, 1]},
    ),
    # A server that showed nothing at first showed another network's history when it was read.
    "a-server-of-another-network-that-begins-late": Script(
        items=(Item(0, 11 * U, "A", "b"),),
        servers=3,
        faults=("lagging", "catching-up", "servers-change", "other-network"),
        choices={"moves": [0, 0, 2, 1, 2], "servers": [1, 2]},
        branch=(Item(0, 1 * U, "nA", "ng", "assign"),),
    ),
    # Where nothing but a rejected item lay, nothing was ever settled.
    "a-migration-of-a-rejected-item": Script(
        items=(Item(0, 4 * U, "A", "o", "broken"), Item(2, 12 * U, "A", "f")),
        choices={"moves": [1, 1]},
    ),
    # After a server was left out, the same page was asked for for ever: it lay before the new reader's window.
    "a-server-that-is-left-out-after-its-first-page": Script(
        items=(Item(0, 3 * U, "B", "d"), Item(0, 4 * U, "C", "b", "exercise"), Item(0, 9 * U, "B", "p", "unassign")),
        servers=2,
        faults=("late", "lagging", "catching-up", "contradiction"),
        choices={"contradiction": [0, 0, 0, 1], "moves": [2, 1, 1, 1, 1, 0, 0, 2, 0, 1, 2, 1]},
    ),
    # A sync without news made a new version each time.
    "rejects-at-the-end": Script(items=(Item(0, 4 * U, "A", "h", "broken"),)),
    # Late updates filled the page by which a server is recognised: the store never knew its network again.
    "late-updates-of-an-earlier-migration-fill-the-first-page": Script(
        items=(Item(0, 7 * U, "A", "c"), Item(0, 8 * U, "A", "a", "broken"), Item(1, 5 * U, "A", "h")),
        faults=("silent-cap", "kill"),
        choices={"kill-before": [0, 1], "moves": [3, 1]},
    ),
    "late-updates-fill-the-first-page-after-a-kill": Script(
        items=(Item(1, 11 * U, "A", "i"), Item(1, 12 * U, "A", "e"), Item(2, 9 * U, "A", "b")),
        faults=("catching-up", "silent-cap", "kill"),
        choices={"kill-request": [0, 0, 1], "moves": [0, 0, 1], "plan": [1]},
    ),
    "late-updates-of-the-same-migration-fill-the-first-page": Script(
        items=(Item(0, 2 * U, "B", "n"), Item(0, 2 * U + 1, "A", "g"), Item(0, 3 * U, "C", "o")),
        faults=("late", "silent-cap"),
        choices={"moves": [0, 1, 2], "plan": [1]},
    ),
    # A server that showed nothing but a rejected item where the store is settled was called another network's.
    "a-server-that-shows-only-what-was-rejected": Script(
        items=(Item(0, 4 * U, "A", "c", "broken"), Item(1, 10 * U, "A", "j")),
        servers=2,
        faults=("lagging",),
        choices={"moves": [5, 1, 0, 1, 1, 1], "plan": [1]},
    ),
    # A fork below the first update was taken for a server that lags.
    "a-fork-below-the-first-update": Script(
        items=(Item(1, 4 * U, "A", "e"), Item(2, 8 * U, "A", "h")),
        faults=("fork-all",),
        choices={"fork": [1], "moves": [4, 0, 0, 1, 1, 0, 2], "plan": [1]},
        branch=(Item(1, 5 * U, "A", "ex", "assign"), Item(2, 8 * U, "A", "hx", "exercise")),
        cut=1 * U,
    ),
    "a-fork-that-has-no-update-of-the-first-migration": Script(
        items=(Item(0, 5 * U, "A", "o"), Item(2, 10 * U, "A", "l")),
        faults=("fork-all",),
        choices={"fork": [1], "moves": [3, 0, 1, 1, 0, 1], "plan": [1]},
        branch=(Item(2, 9 * U - 1, "C", "px", "assign"),),
        cut=3 * U,
    ),
    # A page of one heavy item may have been cut by its bytes, so a sync without news has to ask what follows it.
    "a-tail-heavier-than-half-the-largest-page": Script(
        items=(
            Item(0, 1 * U, "A", "a", "unassign"),
            Item(0, 3 * U, "A", "h", "unassign"),
            Item(0, 5 * U, "A", "n", "unassign"),
            Item(0, 12 * U, "A", "k", "exercise"),
        ),
    ),
    # The simulation expected a fork to be told by its own settle, where the sync had asked for a longer one.
    "a-fork-that-a-longer-settle-does-not-prove": Script(
        items=(Item(0, 6 * U, "A", "g"), Item(0, 11 * U, "A", "c")),
        faults=("long-settle", "fork-all"),
        choices={"fork": [1], "moves": [5, 0, 0, 0, 1, 1, 0, 3], "plan": [2], "sync": [0, 0, 0, 0, 0, 0, 3]},
        branch=(Item(0, 10 * U, "B", "cx", "unassign"),),
        cut=3 * U,
    ),
    # A part of the newest migration was stored, then a sync of all was killed behind the oldest one.
    "a-migration-between-two-stored-ones-after-a-kill": Script(
        items=(Item(0, 7 * U, "A", "e"), Item(1, 4 * U, "A", "b"), Item(2, 12 * U, "A", "j")),
        faults=("windows", "kill"),
        choices={
            "kill-before": [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
            "moves": [0, 4],
            "plan": [2],
            "window": [1, 0, 0, 3],
            "window-migration": [0, 4],
        },
    ),
    # After a kill the tables can have their first slots under different numbers; then one of them was lost unseen.
    "a-lost-table-that-alone-had-the-first-slot": Script(
        items=(Item(0, 5 * U, "A", "l"), Item(0, 7 * U, "A", "c"), Item(0, 8 * U, "A", "j")),
        faults=("kill", "replicas"),
        choices={"check": [1], "kill-before": [0, 0, 0, 0, 1], "moves": [4, 1, 1, 1], "sync": [2]},
    ),
    # The page by which a server was to be recognised showed its fork, and was looked at for the name alone.
    "a-fork-that-only-the-search-for-the-name-shows": Script(
        items=(Item(0, 3 * U, "A", "n"),),
        faults=("catching-up", "fork-all"),
        choices={
            "fork": [1],
            "moves": [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1, 0, 0, 0, 1],
            "plan": [2],
        },
        branch=(
            Item(0, 3 * U, "C", "bx", "exercise"),
            Item(0, 4 * U - 1, "B", "nx", "assign"),
            Item(1, 6 * U - 1, "A", "fx", "exercise"),
            Item(1, 6 * U + 1, "A", "ax", "exercise"),
        ),
        cut=1 * U,
    ),
    # The last server that was left showed that it had forked, and nobody was told, since another one was not known yet.
    "a-fork-of-the-last-server-while-another-is-not-recognised": Script(
        items=(
            Item(0, 3 * U - 1, "B", "n", "assign"),
            Item(0, 3 * U, "C", "b", "exercise"),
            Item(1, 5 * U + 1, "A", "a", "exercise"),
            Item(1, 6 * U + 1, "B", "i", "unassign"),
            Item(1, 7 * U - 1, "A", "f", "exercise"),
            Item(1, 11 * U + 1, "B", "c", "exercise"),
        ),
        servers=2,
        faults=(
            "offbeat",
            "migrations",
            "late",
            "edge",
            "lagging",
            "catching-up",
            "busy",
            "long-settle",
            "windows",
            "fork-all",
        ),
        choices={
            "busy": [0, 0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 3],
            "clock": [1, 0, 3],
            "commit": [0, 1],
            "fork": [1, 1],
            "moves": [*map(int, "51011001001011100020100011000310010011000111210000200120201")],
            "plan": [2],
            "reader": [0, 0, 0, 0, 0, 1],
            "sync": [2, 2, 0, 1, 0, 0, 1, 2, 0, 2],
            "window": [3, 1, 1, 1, 9, 0, 0, 8, 1],
        },
        branch=(
            Item(0, 3 * U, "C", "bx", "exercise"),
            Item(0, 4 * U - 1, "B", "nx", "assign"),
            Item(1, 6 * U - 1, "A", "fx", "exercise"),
            Item(1, 6 * U + 1, "A", "ax", "exercise"),
            Item(1, 7 * U + 1, "B", "ix", "unassign"),
        ),
        cut=1 * U,
    ),
    # Two servers of one network were taken for two: the first page of one was cut off before what the other began with.
    "a-first-page-that-is-cut-off-before-what-another-server-shows": Script(
        items=(
            Item(0, 8 * U, "A", "a"),
            Item(0, 9 * U, "A", "p"),
            Item(1, 5 * U, "A", "o"),
        ),
        servers=2,
        faults=("lagging", "catching-up", "low-maximum"),
        choices={
            "moves": [0, 2, 0, 1, 2],
        },
    ),
    # No fault of the code: a kill left a row of a branch that is gone in one table, and that row was lost.
    "a-row-that-no-reader-saw-is-lost": Script(
        items=(
            Item(0, 3 * U, "B", "k", "assign"),
            Item(0, 12 * U, "B", "h"),
        ),
        faults=("overlap", "late", "servers-change", "low-maximum", "long-settle", "kill", "fork"),
        choices={
            "check": [1],
            "clock": [1, 0, 2],
            "fork": [0, 1],
            "kill-before": [0, 0, 0, 1, 0, 1],
            "moves": [2, 1, 1, 4, 1, 3],
            "plan": [2],
            "reader": [0, 0, 1],
            "rot": [2],
            "sync": [2, 0, 1, 1, 1, 2, 1, 0, 2, 0, 1],
        },
        branch=(
            Item(0, 3 * U, "B", "k", "assign"),
            Item(0, 11 * U, "B", "hx"),
        ),
        cut=7 * U,
    ),
    # No fault of the code: a kill left one table, whose rows no reader saw, and that table was lost.
    "a-table-that-no-reader-saw-is-lost": Script(
        items=(Item(0, 23 * U, "A", "a"),),
        faults=("kill", "fork-all"),
        choices={"check": [1], "fork": [1], "kill-before": [0, 1], "moves": [1, 1], "plan": [2]},
    ),
    # An item that pages and objects spell in another order was put into rejects twice.
    "an-item-that-pages-and-objects-spell-differently": Script(
        items=(
            Item(0, 1 * U, "A", "a"),
            Item(0, 2 * U, "A", "b", "broken"),
            Item(0, 3 * U, "A", "c"),
            Item(0, 4 * U, "A", "d"),
            Item(0, 20 * U, "A", "w"),
        ),
        choices={"moves": [4, 1, 1, 1, 1, 1], "plan": [1], "source": [2]},
        objects=True,
    ),
    # What a server of another network had listed before it was left out was read under the name of the one that stayed.
    "objects-of-a-server-that-is-left-out": Script(
        items=(
            Item(0, 4 * U, "A", "k", "unassign"),
            Item(0, 5 * U, "A", "l", "unassign"),
            Item(0, 6 * U, "A", "m", "unassign"),
            Item(0, 7 * U, "A", "o", "unassign"),
            Item(0, 21 * U, "A", "u", "unassign"),
        ),
        servers=2,
        faults=("lagging", "other-network"),
        choices={"moves": [3, 1, 1, 1, 1, 1, 1], "objects": [4]},
        branch=(
            Item(0, 2 * U, "nA", "np"),
            Item(0, 3 * U, "nA", "ng"),
            Item(0, 6 * U + 5, "nA", "nq"),
            Item(0, 21 * U, "nA", "nu"),
        ),
        objects=True,
    ),
    # A page that lacked a late first update, which a second page of the same place had, was taken for another scan's.
    "a-late-first-update-between-two-pages": Script(
        items=(
            Item(0, 1 * U, "A", "a"),
            Item(0, 2 * U, "B", "d"),
            Item(0, 11 * U, "A", "p"),
        ),
        servers=2,
        faults=("late", "lagging", "catching-up", "damaged"),
        choices={
            "damaged": [0, 0, 1],
            "moves": [0, 0, 0, 4, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 2, 1, 1],
            "plan": [1],
            "sync": [0, 0, 1],
        },
    ),
    # The proof that a server lacks a stored update came after the look at it, and before the read that made it final.
    "a-fork-that-is-proven-while-a-sync-reads": Script(
        items=(Item(0, 1 * U + 7200000000, "A", "q"), Item(2, 10 * U + 7200000000, "A", "r")),
        faults=("catching-up", "fork"),
        choices={"fork": [1], "moves": [1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2], "plan": [1]},
        branch=(
            Item(0, 1 * U + 7200000000, "A", "q"),
            Item(1, 6 * U - 7200000000, "A", "t"),
            Item(1, 8 * U - 3600000001, "A", "y"),
            Item(1, 12 * U + 10800000000, "A", "bx", "unassign"),
            Item(1, 13 * U + 10799999999, "A", "nx", "exercise"),
        ),
        cut=10 * U,
        objects=True,
    ),
    # Likewise where nothing is read again, because the server seems to be behind there.
    "a-fork-that-is-proven-by-another-migration": Script(
        items=(
            Item(0, 1 * U, "A", "q"),
            Item(0, 1 * U + 1, "A", "p"),
            Item(2, 2 * U, "A", "w"),
            Item(2, 5 * U + 1, "A", "r"),
        ),
        faults=("fork", "silent-cap"),
        choices={"fork": [1], "moves": [4, 1, 1, 1, 1, 4, 4], "plan": [1]},
        branch=(
            Item(0, 1 * U, "A", "q"),
            Item(0, 1 * U + 1, "A", "p"),
            Item(0, 9 * U, "A", "z"),
            Item(2, 2 * U, "A", "w"),
        ),
        cut=5 * U,
    ),
    # What objects show is proven by the server that listed them; a read went back for ever for the proof of another.
    "objects-of-a-server-that-nothing-proves": Script(
        items=(Item(0, 11 * U, "A", "u"), Item(0, 11 * U + 3600000000, "A", "n", "broken"), Item(0, 18 * U, "A", "i")),
        servers=2,
        faults=("silent-cap", "damaged"),
        choices={"damaged": [0, 0, 1], "moves": [32, 1, 1, 1]},
        objects=True,
    ),
    # A page of objects that one tie filled was taken for all that servers have pruned.
    "a-tie-that-fills-a-page-of-objects": Script(
        items=(
            Item(0, 1 * U + 3600000000, "A", "c"),
            Item(0, 1 * U + 3600000000, "B", "v"),
            Item(0, 3 * U, "A", "s"),
            Item(0, 8 * U, "A", "l"),
            Item(0, 18 * U, "A", "f"),
        ),
        faults=("pruned",),
        choices={"moves": [0, 1, 3], "plan": [2], "prune": [0] * 12 + [1]},
        objects=True,
    ),
    # One that had been left out was to be confirmed; another one was asked in its place, and its answer refused it.
    "a-server-that-is-confirmed-after-it-was-left-out": Script(
        items=(
            Item(0, 5 * U, "A", "o"),
            Item(0, 8 * U, "A", "j"),
            Item(0, 9 * U, "B", "c"),
            Item(0, 12 * U, "A", "l"),
        ),
        servers=2,
        faults=("late", "lagging", "pruned"),
        choices={"moves": [4, 1, 0, 1, 0, 0, 1, 0, 0, 4, 1, 1, 1], "plan": [2], "prune": [0, 0, 1]},
    ),
    # A maximum that one server had named was forgotten: every sync, and every page of a first one, was refused again.
    "a-maximum-that-a-server-names": Script(
        items=(Item(0, 5 * U, "A", "b"), Item(1, 7 * U, "A", "k"), Item(1, 7 * U, "C", "m"), Item(1, 11 * U, "A", "j")),
        faults=("low-maximum",),
        choices={"setup": [1]},
    ),
    # All of a late lake's first migration was read by every sync, since servers may have had something before it.
    "a-lake-that-begins-late-and-is-not-settled": Script(
        items=(Item(0, 6 * U, "A", "k"), Item(1, 3 * U, "A", "b"), Item(1, 4 * U, "A", "d"), Item(1, 9 * U, "A", "p")),
    ),
    # Every sync asked every server for its first updates, where nothing shows that the ledger begins with them.
    "a-lake-of-which-nobody-knows-where-it-begins": Script(
        items=(Item(0, 1 * U, "A", "a"), Item(0, 2 * U, "A", "b"), Item(0, 3 * U, "A", "c"), Item(0, 12 * U, "A", "d")),
    ),
    # Its row was stored before the place from which on the shard was covered, and stored again by the next sync.
    "a-late-update-before-what-a-shard-had-shown-first": Script(
        items=(Item(0, 1 * U, "A", "h"), Item(0, 4 * U - 1, "C", "e")),
        servers=3,
        faults=("late", "lagging", "catching-up"),
        choices={"moves": [0, 1, 0, 1, 1, 2, 1, 0, 1, 2]},
    ),
    "a-late-update-that-one-of-two-replicas-shows-first": Script(
        items=(Item(0, 1 * U, "A", "l"), Item(0, 2 * U, "B", "n"), Item(1, 12 * U, "A", "c")),
        faults=("late", "catching-up", "replicas"),
        choices={"moves": [0, 1, 1, 0, 0, 0, 0, 0, 0, 2], "replica": [0, 0, 0, 0, 1, 0, 1]},
    ),
    # A gap was taken for the end of a migration, and its end was asked of the server that had pruned the gap.
    "a-gap-before-a-migration-that-is-not-settled": Script(
        items=(
            Item(0, 1 * U, "A", "i", "genesis"),
            Item(1, 6 * U, "A", "b"),
            Item(1, 7 * U, "A", "c"),
            Item(1, 10 * U, "A", "a"),
        ),
        servers=2,
        faults=("catching-up", "pruned"),
        choices={"moves": [0, 2, 2], "prune": [0, 0, 0, 0, 0, 0, 1]},
    ),
    # What was pruned between a page and its commit was said to have lain before the page.
    "a-first-update-that-is-pruned-before-it-is-committed": Script(
        items=(Item(0, 1 * U, "A", "h"), Item(0, 9 * U, "A", "e")),
        faults=("catching-up", "pruned"),
        choices={"moves": [0, 1, 1], "prune": [0, 1, 0, 1, 0, 1]},
    ),
    # Only the preferred server was looked at, which had pruned what another one could make final.
    "a-tail-that-only-the-other-server-still-has": Script(
        items=(Item(0, 2 * U, "A", "o", "broken"), Item(2, 11 * U, "A", "c", "broken")),
        servers=2,
        faults=("pruned",),
        choices={"moves": [5, 1, 1], "prune": [0, 1]},
    ),
    # Objects told how long the server's own pages may be, where one item was left: a read without end.
    "objects-before-a-server's-last-item": Script(
        items=(Item(0, 2 * U, "A", "d"), Item(1, 18 * U, "A", "h")),
        objects=True,
    ),
    # An item of a later migration ended the one before, though objects did not reach so far.
    "objects-that-end-inside-overlapping-migrations": Script(
        items=(
            Item(0, 7 * U, "A", "t"),
            Item(0, 11 * U, "A", "i"),
            Item(1, 8 * U - 7200000000, "A", "v"),
            Item(2, 18 * U - 3600000000, "C", "z", "unassign"),
        ),
        faults=("pruned",),
        choices={"moves": [28, 1, 1, 1, 1], "prune": [0, 0, 0, 1]},
        objects=True,
    ),
    # The newest migration had ended and began late: its beginning was looked at, and never what follows it.
    "a-kill-behind-a-migration-that-begins-late-and-has-ended": Script(
        items=(
            Item(0, 2 * U, "A", "d"),
            Item(0, 3 * U, "A", "e"),
            Item(0, 4 * U, "A", "f"),
            Item(1, 8 * U, "A", "h"),
            Item(1, 20 * U, "A", "z"),
        ),
        faults=("kill",),
        choices={"kill-after": [0] * 11 + [1], "moves": [5, 1, 1, 1, 1, 1]},
    ),
    # A kill behind a migration that had ended; the next sync looked for a later one on a page full of equal times.
    "the-next-migration-after-a-kill-behind-ties": Script(
        items=(
            Item(0, 1 * U, "A", "e"),
            Item(0, 1 * U, "B", "d"),
            Item(0, 1 * U, "C", "g"),
            Item(1, 2 * U, "A", "f"),
            Item(1, 11 * U, "A", "l"),
        ),
        faults=("catching-up", "kill"),
        choices={"kill-after": [0, 0, 1], "moves": [3, 1, 1, 1, 2]},
    ),
    # What was stored was looked for on a server that had pruned it, though others could have settled it.
    "settled-by-another-than-the-pruned-server": Script(
        items=(Item(0, 4 * U, "A", "a"), Item(1, 8 * U, "C", "b", "unassign")),
        servers=3,
        faults=("lagging", "catching-up", "pruned"),
        choices={
            "moves": [3, 1, 1, 1, 2, 1, 1, 1, 0, 0, 0, 0, 1, 2, 0, 0, 1],
            "prune": [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
        },
    ),
    # A page that went back to the first item there was taken for one before which something had been pruned.
    "a-page-again-before-the-first-item-there-is": Script(
        items=(Item(0, 4 * U, "A", "k"), Item(0, 5 * U, "A", "a"), Item(0, 12 * U, "A", "p")),
        faults=("low-maximum",),
    ),
    # The end of a migration was read before another worker was shown what settles it, and stayed open.
    "the-end-of-a-migration-before-what-settles-it": Script(
        items=(Item(0, 3 * U, "A", "g"), Item(1, 4 * U, "A", "i"), Item(1, 9 * U, "A", "p")),
        faults=("silent-cap",),
    ),
    # A page that joined nothing that was settled settled nothing, though what it lacked was proven by then.
    "a-page-that-does-not-join-what-is-settled": Script(
        items=(Item(0, 2 * U, "A", "g"), Item(0, 4 * U, "A", "p"), Item(0, 5 * U + 1, "A", "o")),
        faults=("silent-cap",),
    ),
    # One server sent a damaged answer, and the other did not show anything yet: nothing is wrong.
    "a-damaged-answer-and-an-empty-server": Script(
        items=(Item(0, 8 * U, "C", "k", "exercise"), Item(0, 9 * U, "A", "d", "assign")),
        servers=2,
        faults=("ties", "migrations", "overlap", "late", "lagging", "damaged", "kill"),
        choices={
            "damaged": [0, 0, 1, 1],
            "kill-after": [1],
            "moves": [2, 1, 0, 0, 1],
            "plan": [1],
            "sync": [1, 1, 0, 2, 1, 1, 2],
        },
    ),
    # It came behind the group that a page held back, and was pruned before the next page, which began with that group.
    "a-late-update-pruned-before-the-group-that-was-held-back": Script(
        items=(
            Item(0, 2 * U, "A", "b"),
            Item(0, 3 * U, "A", "h"),
            Item(0, 4 * U, "B", "m"),
            Item(0, 9 * U - 1, "A", "d"),
            Item(0, 10 * U, "C", "g"),
            Item(0, 12 * U, "A", "l"),
        ),
        faults=("late", "catching-up", "pruned", "workers"),
        choices={"moves": [0, 1, 0, 1, 0, 2, 1, 2], "prune": [0, 0, 0, 1], "sync": [0, 2]},
    ),
    # Nothing was stored yet, and the first page of what the scan still has names neither synchronizer nor DSO.
    "a-killed-first-sync-of-which-a-scan-prunes-all-that-it-had-seen": Script(
        items=(
            Item(0, 5 * U, "B", "a", "assign"),
            Item(1, 6 * U, "C", "n"),
            Item(1, 7 * U, "B", "h", "unassign"),
            Item(1, 8 * U, "C", "f"),
            Item(1, 11 * U, "A", "c"),
            Item(1, 12 * U, "B", "o"),
        ),
        faults=("late", "catching-up", "low-maximum", "pruned", "kill"),
        choices={
            "kill-request": [0, 0, 0, 0, 1],
            "moves": [0, 0, 2, 0, 1, 1, 1, 2],
            "prune": [0, 0, 0, 0, 1, 0, 2],
        },
    ),
    # The server that had pruned what is not final was read for it again and again, though another one still had that.
    "a-server-that-has-pruned-what-is-not-final-is-asked-first": Script(
        items=(Item(0, 1 * U, "B", "i"), Item(0, 3 * U, "C", "b", "exercise"), Item(0, 10 * U, "C", "g", "unassign")),
        servers=2,
        faults=("late", "lagging", "catching-up", "pruned", "kill"),
        choices={
            "kill-after": [1],
            "kill-request": [0] * 19 + [1],
            "moves": [1, 1, 1, 0, 0, 1, 0, 0, 4, 1, 1],
            "plan": [1],
            "prune": [0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1],
            "sync": [0, 2, 1, 1],
        },
    ),
    # A kill between two tables, behind a sync of a part; the next sync left one commit to the one after it.
    "a-killed-sync-behind-a-sync-of-a-part": Script(
        items=(Item(0, 8 * U, "A", "e"), Item(1, 4 * U, "A", "p")),
        faults=("windows", "kill"),
        choices={
            "kill-after": [0] * 8 + [1],
            "kill-before": [1],
            "moves": [0, 2],
            "plan": [2],
            "window": [0, 0, 0, 1, 9],
        },
    ),
    # Asked how long a page of the server may be, it showed one item: all others had been pruned since.
    "a-group-that-is-pruned-while-it-is-probed": Script(
        items=(Item(0, 3 * U, "A", "m"), Item(1, 6 * U, "A", "n"), Item(1, 11 * U, "A", "k")),
        servers=3,
        faults=("lagging", "catching-up", "pruned"),
        choices={"moves": [1, 1, 1, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 2, 1], "prune": [0] * 10 + [1, 1]},
    ),
    # What a look at the first items showed was not compared: a server that was restored twice had shown its other way.
    "a-fork-that-the-first-items-show": Script(
        items=(
            Item(0, 2 * U, "A", "l", "unassign"),
            Item(0, 6 * U, "A", "o"),
            Item(0, 8 * U, "A", "h"),
            Item(1, 11 * U, "A", "g"),
        ),
        faults=("catching-up", "fork-all"),
        choices={
            "fork": [1],
            "moves": [3, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 2, 0, 1, 1],
            "plan": [2],
            "sync": [2, 1],
        },
        branch=(
            Item(0, 2 * U, "A", "l", "unassign"),
            Item(0, 3 * U, "B", "p", "assign"),
            Item(0, 6 * U, "B", "ox", "exercise"),
            Item(0, 7 * U, "C", "hx", "exercise"),
            Item(1, 11 * U, "A", "gx", "exercise"),
        ),
        cut=5 * U,
    ),
    # Only the end of a migration was read again within a sync once its proof came, not what lies before a part of it.
    "a-late-update-before-a-part-that-is-stored": Script(
        items=(
            Item(0, 5 * U, "A", "e"),
            Item(0, 7 * U, "B", "g"),
            Item(0, 8 * U, "A", "i"),
            Item(0, 11 * U, "A", "d"),
        ),
        servers=2,
        faults=("late", "lagging", "silent-cap"),
        choices={"moves": [1, 1, 0, 1]},
    ),
    # Pages of an earlier migration showed what had come since the look at the newest one, left to the next sync.
    "a-late-update-that-an-earlier-migration-shows": Script(
        items=(
            Item(0, 10 * U, "A", "e"),
            Item(1, 11 * U, "A", "i"),
            Item(2, 11 * U, "A", "g"),
            Item(2, 12 * U, "B", "k"),
        ),
        faults=("late", "catching-up"),
        choices={"moves": [0, 1, 3, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1], "plan": [2], "sync": [0, 1, 1]},
    ),
    # Objects that held a later migration's first item that a server has were taken to hold all of the one before.
    "objects-by-time-end-before-an-overlap-does": Script(
        items=(
            Item(0, 8 * U, "A", "h"),
            Item(0, 9 * U, "A", "d"),
            Item(1, 7 * U, "A", "r"),
            Item(1, 18 * U, "A", "k"),
        ),
        faults=("pruned",),
        choices={"moves": [15, 1, 1, 1, 1], "prune": [0, 0, 0, 1, 0, 1]},
        objects=True,
    ),
    # A migration between two stored ones was not looked for where the end of the one before it was pruned.
    "a-migration-behind-one-whose-end-was-pruned": Script(
        items=(
            Item(0, 4 * U + 1, "C", "k"),
            Item(0, 6 * U, "C", "h"),
            Item(1, 12 * U, "C", "o", "assign"),
            Item(1, 12 * U + 1, "B", "n", "assign"),
            Item(2, 9 * U - 1, "C", "a", "unassign"),
            Item(2, 10 * U, "A", "e", "assign"),
        ),
        faults=(
            "ties",
            "offbeat",
            "migrations",
            "overlap",
            "late",
            "catching-up",
            "servers-change",
            "damaged",
            "genesis",
            "pruned",
            "workers",
            "kill",
        ),
        choices={
            "clock": [0, 2],
            "damaged": [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1],
            "kill-request": [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
            "moves": [*map(int, "111111000210222000110111120102202211001")],
            "plan": [1],
            "probe": [2],
            "prune": [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 3, 0, 0, 0, 1, 0, 3, 1, 0, 3, 0, 0, 0, 0, 0, 1, 0, 4],
            "quiet": [1],
            "reader": [0, 0, 1, 1],
            "sync": [0, 0, 2, 2, 0, 1, 1, 0, 2],
            "worker": [0, 1, 2, 0, 0, 1, 2, 2, 1, 0, 2, 1, 0, 1, 2, 2, 2, 0, 0, 1, 2, 0, 1],
        },
    ),
    # A late update pushed a shown one off the page; the server was taken to have withdrawn it, and the page not stored.
    "a-late-update-that-pushes-a-tie-off-the-page": Script(
        items=(Item(0, 4 * U, "A", "e"), Item(0, 5 * U, "A", "n"), Item(0, 5 * U, "B", "b")),
        faults=("late", "catching-up", "low-maximum"),
        choices={"moves": [0, 0, 1, 1, 0, 0, 0, 2]},
    ),
    # Parts of workers whose pages went on with a later migration covered nothing, though they held what lies behind.
    "parts-of-a-migration-that-overlaps-another": Script(
        items=(
            Item(0, 2 * U, "A", "n"),
            Item(0, 2 * U + 1, "A", "g"),
            Item(0, 5 * U, "A", "o"),
            Item(0, 6 * U, "A", "i"),
            Item(1, 5 * U, "A", "m"),
        ),
        faults=("workers",),
        choices={"sync": [0, 0, 0, 2, 1]},
    ),
    # What a server shows first was asked for, and then the same items once more to be compared.
    "what-begins-within-settle": Script(
        items=(
            Item(0, 8 * U, "A", "c"),
            Item(1, 5 * U, "A", "m"),
            Item(1, 6 * U, "A", "g"),
            Item(1, 10 * U, "A", "e"),
        ),
    ),
    # A scan that had pruned all but its newest minutes was asked for its first items by every sync, beside the look.
    "a-scan-that-begins-within-settle-of-its-newest": Script(
        items=(
            Item(0, 1 * U, "A", "h"),
            Item(0, 5 * U, "A", "b"),
            Item(0, 7 * U, "A", "o"),
            Item(0, 11 * U, "A", "l"),
        ),
        faults=("pruned",),
        choices={"moves": [6, 1, 1, 1, 1], "prune": [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]},
    ),
    # What a killed sync had left was taken back by every sync without news, and by each a version was written.
    "what-a-killed-sync-left-is-taken-back-once": Script(
        items=(Item(0, 3 * U, "B", "a"), Item(1, 12 * U, "A", "e", "unassign")),
        faults=("catching-up", "pruned", "kill"),
        choices={"kill-after": [0, 0, 0, 0, 0, 0, 0, 1], "moves": [0, 0, 0, 1, 2], "plan": [1], "prune": [0, 0, 0, 1]},
    ),
    # Its history went on in an earlier migration, so it showed nothing where the store's is, and no more was compared.
    "a-fork-into-an-earlier-migration": Script(
        items=(Item(1, 3 * U, "A", "e", "unassign"),),
        faults=("catching-up", "fork"),
        choices={"fork": [1], "moves": [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 1], "plan": [1]},
        branch=(
            Item(0, 1 * U, "C", "c", "unassign"),
            Item(0, 4 * U, "B", "f", "exercise"),
            Item(0, 5 * U + 1, "B", "gx"),
            Item(0, 8 * U, "C", "lx", "exercise"),
        ),
        cut=5 * U,
    ),
    # A server that showed its first item later than settle allows went unnamed, since nobody missed it where it began.
    "a-first-item-that-is-too-late": Script(
        items=(
            Item(0, 8 * U, "A", "i"),
            Item(1, 10 * U, "A", "n"),
            Item(2, 11 * U, "A", "p"),
            Item(2, 11 * U, "C", "b"),
            Item(2, 12 * U, "B", "k"),
        ),
        servers=2,
        faults=("late", "lagging", "catching-up", "servers-change", "down", "too-late", "fork"),
        choices={
            "down": [0, 0, 1],
            "fork": [1],
            "moves": [*map(int, "002101200021001010300110021002001")],
            "plan": [2],
            "servers": [0, 1, 1, 1],
            "sync": [0, 2],
        },
        branch=(Item(0, 7 * U, "B", "ix", "assign"), Item(2, 11 * U, "A", "hx")),
        cut=1 * U,
    ),
    # A look could not tell whether a tie that fills its page had been cut, so a sync without news read it again.
    "a-tie-that-fills-the-page-of-a-look": Script(
        items=(
            Item(0, 5 * U, "A", "f"),
            Item(1, 7 * U - 1, "A", "m"),
            Item(1, 10 * U + 1, "A", "j"),
            Item(1, 12 * U, "A", "d"),
            Item(1, 12 * U, "B", "k"),
        ),
        servers=2,
        faults=("late", "lagging", "catching-up"),
        choices={
            "moves": [2, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 2],
            "sync": [0, 2, 1],
        },
    ),
    # What lies between two parts, and is not final yet, was read again by every sync.
    "a-gap-between-parts-that-is-not-final": Script(
        items=(Item(0, 1 * U, "A", "c"), Item(0, 2 * U, "A", "e"), Item(1, 3 * U, "A", "b"), Item(2, 8 * U, "A", "g")),
        faults=("windows",),
        choices={"moves": [3, 1, 1, 1], "window": [3, 8]},
    ),
    # A page after a cursor showed that a server lacked what is stored; only whole migrations were compared.
    "a-fork-between-two-cursors": Script(
        items=(
            Item(1, 4 * U, "B", "m", "assign"),
            Item(1, 9 * U - 1, "C", "f", "unassign"),
            Item(1, 10 * U, "A", "c", "unassign"),
        ),
        faults=("late", "catching-up", "windows", "interrupt", "fork"),
        choices={
            "fork": [1, 1],
            "interrupt": [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
            "moves": [5, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 0, 1, 1, 0, 0, 0, 2],
            "plan": [2],
            "window": [0, 3, 3, 0, 5, 4, 1, 5, 5],
            "window-migration": [1, 2, 4],
        },
        branch=(Item(1, 3 * U + 1, "B", "mx", "assign"), Item(1, 8 * U - 1, "C", "fx", "unassign")),
        cut=3 * U,
    ),
    # A server that ignored where a page begins left a worker's part done without a page, and nobody to ask about it.
    "a-part-that-no-page-proved": Script(
        items=(Item(1, 7 * U, "A", "m"), Item(1, 12 * U, "A", "g")),
        servers=2,
        faults=("catching-up", "workers", "ignores-after"),
        choices={"moves": [0, 0, 1, 0, 0, 0, 0, 0, 0, 3], "plan": [1], "sync": [0, 0, 2, 2]},
    ),
    # What lay between two parts was pruned before the second was final: every sync read it again, and asked a server
    # twice in a row what it has first.
    "a-hole-that-is-pruned-before-what-follows-is-final": Script(
        items=(Item(0, 1 * U, "A", "b"), Item(0, 4 * U, "A", "d"), Item(0, 5 * U, "A", "i"), Item(0, 10 * U, "A", "h")),
        faults=("catching-up", "busy", "pruned"),
        choices={
            "busy": [0, 0, 0, 0, 0, 0, 0, 0, 3],
            "moves": [3, 1, 1, 1, 1],
            "prune": [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
        },
    ),
    "such-a-hole-before-later-migrations": Script(
        items=(Item(0, 4 * U, "A", "o"), Item(0, 12 * U, "A", "k"), Item(1, 8 * U, "A", "i"), Item(2, 8 * U, "A", "g")),
        faults=("pruned", "kill"),
        choices={
            "kill-before": [0, 0, 0, 0, 0, 0, 0, 0, 1],
            "moves": [4, 1, 1, 1, 1],
            "prune": [0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
        },
    ),
    # A late update came between the look at its migration and the look at an earlier one, which showed it.
    "a-late-update-that-a-look-at-an-earlier-migration-shows": Script(
        items=(
            Item(0, 2 * U, "C", "n", "genesis"),
            Item(1, 9 * U, "B", "i", "unassign"),
            Item(1, 10 * U, "A", "j"),
        ),
        faults=(
            "ties",
            "migrations",
            "overlap",
            "late",
            "lagging",
            "catching-up",
            "servers-change",
            "genesis",
            "long-settle",
            "kill",
        ),
        choices={
            "clock": [1, 0, 3],
            "commit": [0, 1, 1],
            "kill-request": [0] * 15 + [1],
            "moves": [2, 1, 1, 1, *([0] * 13), 2, 0, 0, 0, 1],
            "plan": [2],
            "quiet": [1],
            "sync": [1, 2, 0, 2, 1, 2, 0, 2, 1, 0, 2],
        },
    ),
    # The invariants took for reads: a page that recognises a network, where a server caps it at what a read asks for;
    # and what a server showed that did not show to be of the store's network, so nothing of it may be stored.
    "a-page-that-recognises-no-longer-than-a-read": Script(
        items=(
            Item(0, 2 * U, "A", "f", "unassign"),
            Item(0, 3 * U, "A", "p", "assign"),
            Item(0, 9 * U, "A", "j", "unassign"),
            Item(0, 11 * U, "B", "n", "unassign"),
        ),
        servers=2,
        faults=("ties", "late", "edge", "lagging", "servers-change", "low-maximum", "genesis", "pruned", "kill"),
        choices={
            "clock": [0, 0, 2],
            "commit": [0, 1, 0, 1],
            "kill-before": [0, 0, 0, 0, 0, 1],
            "kill-request": [0] * 28 + [1],
            "moves": [4, 1, 1, 1, 0, 1, 0, 1, 1, 3, 1, 0, 0, 1, 1, 3, 0, 0, 1],
            "plan": [2],
            "prune": [1, 0, 2, *([0] * 10), 1, 1, *([0] * 9), 1, 0, 3, *([0] * 10), 1, 1],
            "quiet": [1],
            "servers": [1, 0, 1, 1],
            "setup": [1, 1],
            "sync": [2, 2, 1, 2, 0, 0, 2, 1],
        },
    ),
    "news-of-a-server-that-is-not-recognised": Script(
        items=(
            Item(0, 4 * U - 1, "B", "b", "exercise"),
            Item(0, 5 * U, "C", "k", "unassign"),
            Item(0, 6 * U, "B", "n", "unassign"),
            Item(0, 7 * U + 1, "C", "d"),
            Item(0, 9 * U - 1, "B", "i", "unassign"),
        ),
        servers=3,
        faults=("offbeat", "migrations", "overlap", "late", "lagging", "low-maximum", "genesis"),
        choices={
            "clock": [2, 2],
            "moves": [4, 1, 1, 0, 1, 1, 1, 1, 0, 0, 1, 2, 1],
            "plan": [1],
            "reader": [0, 0, 0, 0, 0, 0, 0, 0, 1],
            "setup": [1, 0, 2],
            "sync": [2, 1, 2, 1, 1, 2, 2, 1],
        },
    ),
    # The last group of a page was pruned before the next page: held back, it was taken twice, as a server that
    # contradicts itself had sent it.
    "a-pruned-group-that-was-sent-twice": Script(
        items=(Item(0, 3 * U, "A", "f"), Item(0, 4 * U, "A", "l"), Item(1, 6 * U, "A", "o"), Item(1, 11 * U, "A", "c")),
        faults=("catching-up", "pruned", "contradiction"),
        choices={"contradiction": [0, 0, 2], "moves": [0, 1, 2, 0, 0, 0, 1], "prune": [0, 0, 0, 0, 0, 1, 0, 1]},
    ),
    # The invariants took a page of one item for all that a restored server has; the next sync asks on, and says it.
    "a-short-first-page-of-a-fork": Script(
        items=(Item(0, 9 * U, "A", "p"), Item(1, 6 * U, "A", "k")),
        servers=2,
        faults=("catching-up", "windows", "fork-all"),
        choices={
            "fork": [1],
            "moves": [0, 0, 2, *([0] * 11), 2],
            "plan": [2],
            "window": [0, 0, 0, 3],
        },
        branch=(Item(0, 10 * U, "A", "px"),),
        cut=3 * U,
    ),
    # Pruned during the first sync, the beginning of a later migration stays a gap, and the invariants gave no price to
    # the question whether anybody has it after all.
    "a-later-migration-that-begins-late": Script(
        items=(
            Item(0, 2 * U, "A", "e"),
            Item(0, 2 * U + 1, "A", "c"),
            Item(1, 4 * U, "A", "d"),
            Item(1, 12 * U, "A", "k"),
        ),
        faults=("pruned",),
        choices={"moves": [4, 1, 1, 1, 1], "prune": [*([0] * 10), 1, 0, 1, 0, 1]},
    ),
    # All of the first migration is pruned within the day by which it may overlap the next one, so that the server may
    # still show more of it; the invariants gave no price to the question.
    "a-first-migration-that-is-pruned-at-once": Script(
        items=(
            Item(0, 5 * U, "A", "h", "assign"),
            Item(0, 5 * U, "B", "l"),
            Item(1, 3 * U, "C", "n", "exercise"),
            Item(1, 4 * U, "C", "d", "unassign"),
            Item(1, 11 * U, "B", "e", "unassign"),
        ),
        faults=(
            "ties",
            "migrations",
            "overlap",
            "late",
            "catching-up",
            "servers-change",
            "busy",
            "genesis",
            "pruned",
            "workers",
        ),
        choices={
            "busy": [*([0] * 9), 2],
            "clock": [3, 3, 2],
            "commit": [1],
            "moves": [1, 1, 2, 0, 2, 2, 1, 2, 2, 1, 2, 0, 1, 0, 1, 1, 0, 2, 1, 0, 0, 1, 0, 0, 0, 0, 0, 2],
            "plan": [2],
            "prune": [*([0] * 7), 1, 0, 4, *([0] * 9), 1, *([0] * 7), 1, 0, 4],
            "reader": [0, 0, 0, 1, 0, 1],
            "sync": [1, 2, 2, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1],
        },
    ),
    # One look asked a server up to three times in a row where its history begins, if it had pruned a tail that is not
    # final; one answer, requested after the pages, proves as much.
    "a-tail-that-is-pruned-before-it-is-final": Script(
        items=(
            Item(0, 2 * U, "A", "l", "genesis"),
            Item(0, 6 * U, "A", "g"),
            Item(1, 3 * U, "A", "h"),
            Item(1, 5 * U, "A", "k"),
            Item(1, 10 * U, "A", "i"),
        ),
        faults=("low-maximum", "pruned", "workers"),
        choices={
            "moves": [5, 1, 1, 1, 1, 1],
            "prune": [*([0] * 12), 1, 0, 3, *([0] * 10), 1],
            "setup": [2],
            "sync": [1, 1],
        },
    ),
    # One scan had pruned a migration up to its last update, another that lagged began it earlier. What the first had
    # proven was taken to hold from where the second begins, and an update between the two was lost.
    "two-servers-begin-a-migration-apart": Script(
        items=(
            Item(1, 2 * U + 1, "A", "f"),
            Item(1, 3 * U, "C", "k", "exercise"),
            Item(2, 4 * U, "B", "m", "unassign"),
            Item(2, 8 * U, "C", "b", "assign"),
            Item(2, 12 * U, "A", "l", "unassign"),
        ),
        servers=2,
        faults=("late", "lagging", "pruned", "kill"),
        choices={
            "kill-before": [*([0] * 8), 1],
            "moves": [4, 1, 0, 0, 1, 0, 0, 1, 0, 1, 1, 0, 4, 1, 0, 0, 1],
            "plan": [2],
            "prune": [*([0] * 15), 1, *([0] * 13), 3],
            "sync": [0, 1, 0, 1],
        },
    ),
    # A restored scan, which had pruned all that is stored and was known by its DSO alone, was asked once more where it
    # begins. That answer showed that a stored update is missing, and nobody was told.
    "a-fork-that-the-last-answer-shows": Script(
        items=(
            Item(0, 3 * U + 3600000001, "A", "i", "assign"),
            Item(0, 4 * U + 7199999999, "A", "q", "unassign"),
            Item(0, 8 * U - 10800000000, "B", "g", "exercise"),
            Item(0, 8 * U + 1, "A", "h", "assign"),
            Item(0, 9 * U - 7200000000, "B", "j", "assign"),
            Item(0, 9 * U - 3600000000, "A", "o", "unassign"),
            Item(0, 11 * U + 1, "C", "y"),
            Item(0, 14 * U - 7200000000, "C", "n", "assign"),
            Item(0, 14 * U - 3600000000, "C", "t", "exercise"),
            Item(0, 14 * U + 3600000001, "B", "z"),
            Item(0, 16 * U - 10800000000, "B", "b", "unassign"),
            Item(0, 16 * U - 7200000000, "B", "l", "assign"),
            Item(0, 17 * U - 7200000000, "C", "u", "exercise"),
        ),
        faults=("late", "catching-up", "pruned", "fork-all"),
        choices={
            "fork": [0, 1],
            "moves": [15, *map(int, "00111010101011111111000000001100000002000022020010001010101102110011000101")],
            "objects": [4],
            "plan": [2],
            "prune": [*([0] * 9), 1, 0, 0, 0, 0, 1, 0, 1, 1, 0, 2, *([0] * 10), 1, 0, 3, *([0] * 31), 1, 0, 4],
        },
        branch=(
            Item(0, 1 * U + 7199999999, "C", "d", "assign"),
            Item(0, 3 * U + 3600000001, "A", "i", "assign"),
            Item(0, 4 * U + 7199999999, "A", "q", "unassign"),
            Item(0, 8 * U - 10800000000, "B", "g", "exercise"),
            Item(0, 8 * U + 1, "A", "h", "assign"),
            Item(0, 9 * U - 7200000000, "B", "j", "assign"),
            Item(0, 9 * U - 3600000000, "A", "o", "unassign"),
            Item(0, 11 * U + 1, "C", "y"),
            Item(0, 12 * U, "A", "s", "unassign"),
            Item(0, 14 * U - 3600000000, "C", "tx", "exercise"),
            Item(0, 14 * U + 3600000001, "B", "zx"),
            Item(0, 15 * U - 7200000000, "C", "nx", "assign"),
            Item(0, 16 * U - 7200000000, "C", "ux", "exercise"),
            Item(0, 16 * U + 10799999999, "C", "ax"),
            Item(0, 16 * U + 10800000000, "B", "bx", "unassign"),
            Item(0, 17 * U - 7200000000, "B", "lx", "assign"),
            Item(0, 18 * U - 7199999999, "A", "fx", "exercise"),
        ),
        cut=13 * U,
        objects=True,
    ),
    # A server pruned its first items before it was asked again for what another one shows there: of another network.
    "a-server-that-prunes-while-servers-are-told-apart": Script(
        items=(
            Item(0, 8 * U + 7199999999, "B", "h", "unassign"),
            Item(0, 9 * U - 7199999999, "B", "k", "exercise"),
            Item(1, 6 * U, "A", "b", "unassign"),
            Item(1, 6 * U + 7200000000, "A", "m"),
            Item(1, 7 * U - 3600000000, "B", "z", "assign"),
            Item(1, 7 * U + 7200000000, "A", "d"),
            Item(1, 12 * U + 7200000000, "C", "u", "assign"),
            Item(2, 10 * U - 10800000000, "B", "s"),
            Item(2, 13 * U + 7200000000, "C", "x", "assign"),
        ),
        servers=2,
        faults=("late", "lagging", "silent-cap", "pruned"),
        choices={
            "moves": [34, *map(int, "10112112110011010010210112101101100121121111101110122101111")],
            "prune": [*map(int, "12200101001221000000000000000000011112400000000101")],
            "source": [2],
        },
        objects=True,
    ),
    # Of three forked servers the last one was believed: the page with its first items ended with an unknown update
    # where the store is final, and was compared only for what it lacks.
    "a-fork-that-a-first-page-shows-at-its-end": Script(
        items=(
            Item(0, 3 * U, "A", "o", "unassign"),
            Item(1, 4 * U, "A", "m", "unassign"),
            Item(1, 11 * U, "A", "l", "exercise"),
        ),
        servers=3,
        faults=("lagging", "catching-up", "low-maximum", "silent-cap", "pruned", "fork-all"),
        choices={
            "clock": [3, 2, 2],
            "fork": [1],
            "moves": [
                *map(int, "51111111210122220000201120000011022202221102200222120022100020002010001012012011"),
                *map(int, "0100000021032120221111001001000222"),
            ],
            "plan": [1],
            "prune": [*map(int, "0000000000000000011200000001120101000000")],
            "setup": [0, 1, 2, 2, 0],
            "sync": [1, 2, 1],
        },
        branch=(
            Item(0, 3 * U, "A", "o", "unassign"),
            Item(1, 4 * U, "A", "mx", "unassign"),
            Item(1, 12 * U, "A", "lx", "exercise"),
        ),
        cut=3 * U,
    ),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_nothing_is_lost_by(name):
    outcome = run(SCRIPTS[name])

    assert not outcome.problems, "\n".join([*outcome.log, *(problem.text for problem in outcome.problems)])
