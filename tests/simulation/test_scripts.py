"""Histories that once lost, repeated or tore rows, or raised a false alarm, shrunk by `python -m tests.simulation`."""

import pytest

from tests.simulation.history import run
from tests.simulation.script import told

SCRIPTS = {
    # Any item of a later migration was taken for proof that the earlier range was complete; a clock closed it.
    "a-server-that-is-behind-while-migrations-overlap": told("j 1/1U A, k 1/8U A, l 2/7U A", "", "clock 3, moves 211"),
    # What a table was ahead by was skipped by its time; late items lie anywhere in it.
    "a-kill-between-two-tables-and-a-late-item": told(
        "g 1/6U A, d 1/8U C, b 1/10U A",
        "late lagging kill",
        "kill-after 0000001, kill-before 1, moves 2100101, plan 1",
        servers=2,
    ),
    # Settling counted from the wall clock, and the first update appeared late: the store refused its own network.
    "a-first-update-that-is-late": told("d 1/8U C, b 1/10U A", "late lagging", "clock 3, moves 2101", servers=2),
    # A server that was left out of the first sync was asked for its beginning in the second one, and then read.
    "another-network-where-nothing-is-stored": told(
        "o 0/5U A unassign, e 2/5U C unassign",
        "ties migrations overlap late lagging pruned workers windows other-network",
        "clock 13, commit 1, moves 21211114012011, plan 1, prune 1021010000000000111101000001, reader 000000000100001,"
        " sync 122022111, window 33323, window-migration 13, worker 0001111110100110111000111110000111",
        servers=3,
        branch="nc 0/1U nA exercise, nb 0/1U nB, nn 0/2U nB exercise, ng 0/3U nB assign, nx 0/4U nB exercise",
    ),
    "a-first-update-tied-with-a-late-one-and-a-kill": told(
        "o 1/4U A, c 1/4U B", "kill", "clock 2, kill-before 01, moves 11"
    ),
    # A page of one item, after a 413, went past the rest of a tie: a false alarm of a fork.
    "a-tie-cut-by-a-smaller-page": told("d 1/2U A, m 1/2U C, i 2/12U A", "busy", "busy 00000031, moves 3111, plan 2"),
    "a-tie-larger-than-a-page": told("i 1/1U A, d 1/1U B, a 1/1U C, h 2/10U A"),
    # Rows were committed by a sync that covered nothing, and added again by the next one.
    "replicas-and-a-window": told(
        "n 1/7U A exercise, m 1/8U B assign, a 1/9U+1 C assign",
        "windows replicas",
        "moves 2111, plan 2, replica 11000011111, window 00000219",
    ),
    # One new item beyond a group was taken for a cap of the page.
    "a-server-that-catches-up-while-its-page-size-is-learnt": told(
        "o 2/7U A, h 2/9U A", "lagging catching-up", "moves 0100110001", servers=2
    ),
    # A stored update was called one that the store lacks.
    "windows-beside-what-is-settled": told("o 0/4U A, j 0/11U A", "windows", "moves 111, plan 2, window 00032325"),
    "rejects-that-are-settled": told("e 0/7U A, p 0/8U A broken, h 2/12U A broken", "", "moves 021, plan 2"),
    # One probe answered by half a page ended a sync that had another server.
    "a-damaged-answer-to-a-probe": told(
        "o 0/3U A, i 0/8U A, e 0/11U A", "catching-up damaged", "damaged 000001, moves 021", servers=2
    ),
    # Two servers began differently, and the answer that would have told why was half a page.
    "a-damaged-answer-while-servers-are-told-apart": told(
        "h 0/8U A", "lagging damaged", "damaged 001, moves 11", servers=2
    ),
    # A server that showed nothing at first showed another network's history when it was read.
    "a-server-of-another-network-that-begins-late": told(
        "b 0/11U A",
        "lagging catching-up servers-change other-network",
        "moves 00212, servers 12",
        servers=3,
        branch="ng 0/1U nA assign",
    ),
    # Where nothing but a rejected item lay, nothing was ever settled.
    "a-migration-of-a-rejected-item": told("o 0/4U A broken, f 2/12U A", "", "moves 11"),
    # After a server was left out, the same page was asked for for ever: it lay before the new reader's window.
    "a-server-that-is-left-out-after-its-first-page": told(
        "d 0/3U B, b 0/4U C exercise, p 0/9U B unassign",
        "late lagging catching-up contradiction",
        "contradiction 0001, moves 211110020121",
        servers=2,
    ),
    # A sync without news made a new version each time.
    "rejects-at-the-end": told("h 0/4U A broken"),
    # Late updates filled the page by which a server is recognised: the store never knew its network again.
    "late-updates-of-an-earlier-migration-fill-the-first-page": told(
        "c 0/7U A, a 0/8U A broken, h 1/5U A", "silent-cap kill", "kill-before 01, moves 31"
    ),
    "late-updates-fill-the-first-page-after-a-kill": told(
        "i 1/11U A, e 1/12U A, b 2/9U A", "catching-up silent-cap kill", "kill-request 001, moves 001, plan 1"
    ),
    "late-updates-of-the-same-migration-fill-the-first-page": told(
        "n 0/2U B, g 0/2U+1 A, o 0/3U C", "late silent-cap", "moves 012, plan 1"
    ),
    # A server that showed nothing but a rejected item where the store is settled was called another network's.
    "a-server-that-shows-only-what-was-rejected": told(
        "c 0/4U A broken, j 1/10U A", "lagging", "moves 510111, plan 1", servers=2
    ),
    # A fork below the first update was taken for a server that lags.
    "a-fork-below-the-first-update": told(
        "e 1/4U A, h 2/8U A",
        "fork-all",
        "fork 1, moves 4001102, plan 1",
        branch="ex 1/5U A assign, hx 2/8U A exercise",
        cut="1U",
    ),
    "a-fork-that-has-no-update-of-the-first-migration": told(
        "o 0/5U A, l 2/10U A", "fork-all", "fork 1, moves 301101, plan 1", branch="px 2/9U-1 C assign", cut="3U"
    ),
    # A page of one heavy item may have been cut by its bytes, so a sync without news has to ask what follows it.
    "a-tail-heavier-than-half-the-largest-page": told(
        "a 0/1U A unassign, h 0/3U A unassign, n 0/5U A unassign, k 0/12U A exercise"
    ),
    # A part of the newest migration was stored, then a sync of all was killed behind the oldest one.
    "a-migration-between-two-stored-ones-after-a-kill": told(
        "e 0/7U A, b 1/4U A, j 2/12U A",
        "windows kill",
        "kill-before 000000000001, moves 04, plan 2, window 1003, window-migration 04",
    ),
    # After a kill the tables can have their first slots under different numbers; then one of them was lost unseen.
    "a-lost-table-that-alone-had-the-first-slot": told(
        "l 0/5U A, c 0/7U A, j 0/8U A", "kill replicas", "check 1, kill-before 00001, moves 4111, sync 2"
    ),
    # The page by which a server was to be recognised showed its fork, and was looked at for the name alone.
    "a-fork-that-only-the-search-for-the-name-shows": told(
        "n 0/3U A",
        "catching-up fork-all",
        "fork 1, moves 010000000002010001, plan 2",
        branch="bx 0/3U C exercise, nx 0/4U-1 B assign, fx 1/6U-1 A exercise, ax 1/6U+1 A exercise",
        cut="1U",
    ),
    # Two servers of one network were taken for two: the first page of one was cut off before what the other began with.
    "a-first-page-that-is-cut-off-before-what-another-server-shows": told(
        "a 0/8U A, p 0/9U A, o 1/5U A", "lagging catching-up low-maximum", "moves 02012", servers=2
    ),
    # An item that pages and objects spell in another order was put into rejects twice.
    "an-item-that-pages-and-objects-spell-differently": told(
        "a 0/1U A, b 0/2U A broken, c 0/3U A, d 0/4U A, w 0/20U A", "", "moves 411111, plan 1, source 2", objects=True
    ),
    # What a server of another network had listed before it was left out was read under the name of the one that stayed.
    "objects-of-a-server-that-is-left-out": told(
        "k 0/4U A unassign, l 0/5U A unassign, m 0/6U A unassign, o 0/7U A unassign, u 0/21U A unassign",
        "lagging other-network",
        "moves 3111111, objects 4",
        servers=2,
        branch="np 0/2U nA, ng 0/3U nA, nq 0/6U+5 nA, nu 0/21U nA",
        objects=True,
    ),
    # A page that lacked a late first update, which a second page of the same place had, was taken for another scan's.
    "a-late-first-update-between-two-pages": told(
        "a 0/1U A, d 0/2U B, p 0/11U A",
        "late lagging catching-up damaged",
        "damaged 001, moves 00040011000000211, plan 1, sync 001",
        servers=2,
    ),
    # The proof that a server lacks a stored update came after the look at it, and before the read that made it final.
    "a-fork-that-is-proven-while-a-sync-reads": told(
        "q 0/1U+7200000000 A, r 2/10U+7200000000 A",
        "catching-up fork",
        "fork 1, moves 1100010000000022, plan 1",
        branch="q 0/1U+7200000000 A, t 1/6U-7200000000 A, y 1/8U-3600000001 A, bx 1/12U+10800000000 A unassign, "
        "nx 1/13U+10799999999 A exercise",
        cut="10U",
        objects=True,
    ),
    # Likewise where nothing is read again, because the server seems to be behind there.
    "a-fork-that-is-proven-by-another-migration": told(
        "q 0/1U A, p 0/1U+1 A, w 2/2U A, r 2/5U+1 A",
        "fork silent-cap",
        "fork 1, moves 4111144, plan 1",
        branch="q 0/1U A, p 0/1U+1 A, z 0/9U A, w 2/2U A",
        cut="5U",
    ),
    # What objects show is proven by the server that listed them; a read went back for ever for the proof of another.
    "objects-of-a-server-that-nothing-proves": told(
        "u 0/11U A, n 0/11U+3600000000 A broken, i 0/18U A",
        "silent-cap damaged",
        "damaged 001, moves w111",
        servers=2,
        objects=True,
    ),
    # A page of objects that one tie filled was taken for all that servers have pruned.
    "a-tie-that-fills-a-page-of-objects": told(
        "c 0/1U+3600000000 A, v 0/1U+3600000000 B, s 0/3U A, l 0/8U A, f 0/18U A",
        "pruned",
        "moves 013, plan 2, prune 0000000000001",
        objects=True,
    ),
    # One that had been left out was to be confirmed; another one was asked in its place, and its answer refused it.
    "a-server-that-is-confirmed-after-it-was-left-out": told(
        "o 0/5U A, j 0/8U A, c 0/9U B, l 0/12U A",
        "late lagging pruned",
        "moves 4101001004111, plan 2, prune 001",
        servers=2,
    ),
    # A maximum that one server had named was forgotten: every sync, and every page of a first one, was refused again.
    "a-maximum-that-a-server-names": told("b 0/5U A, k 1/7U A, m 1/7U C, j 1/11U A", "low-maximum", "setup 1"),
    # All of a late lake's first migration was read by every sync, since servers may have had something before it.
    "a-lake-that-begins-late-and-is-not-settled": told("k 0/6U A, b 1/3U A, d 1/4U A, p 1/9U A"),
    # Every sync asked every server for its first updates, where nothing shows that the ledger begins with them.
    "a-lake-of-which-nobody-knows-where-it-begins": told("a 0/1U A, b 0/2U A, c 0/3U A, d 0/12U A"),
    # Its row was stored before the place from which on the shard was covered, and stored again by the next sync.
    "a-late-update-before-what-a-shard-had-shown-first": told(
        "h 0/1U A, e 0/4U-1 C", "late lagging catching-up", "moves 0101121012", servers=3
    ),
    "a-late-update-that-one-of-two-replicas-shows-first": told(
        "l 0/1U A, n 0/2U B, c 1/12U A", "late catching-up replicas", "moves 0110000002, replica 0000101"
    ),
    # A gap was taken for the end of a migration, and its end was asked of the server that had pruned the gap.
    "a-gap-before-a-migration-that-is-not-settled": told(
        "i 0/1U A genesis, b 1/6U A, c 1/7U A, a 1/10U A", "catching-up pruned", "moves 022, prune 0000001", servers=2
    ),
    # What was pruned between a page and its commit was said to have lain before the page.
    "a-first-update-that-is-pruned-before-it-is-committed": told(
        "h 0/1U A, e 0/9U A", "catching-up pruned", "moves 011, prune 010101"
    ),
    # Only the preferred server was looked at, which had pruned what another one could make final.
    "a-tail-that-only-the-other-server-still-has": told(
        "o 0/2U A broken, c 2/11U A broken", "pruned", "moves 511, prune 01", servers=2
    ),
    # Objects told how long the server's own pages may be, where one item was left: a read without end.
    "objects-before-a-server's-last-item": told("d 0/2U A, h 1/18U A", "", "", objects=True),
    # An item of a later migration ended the one before, though objects did not reach so far.
    "objects-that-end-inside-overlapping-migrations": told(
        "t 0/7U A, i 0/11U A, v 1/8U-7200000000 A, z 2/18U-3600000000 C unassign",
        "pruned",
        "moves s1111, prune 0001",
        objects=True,
    ),
    # The newest migration had ended and began late: its beginning was looked at, and never what follows it.
    "a-kill-behind-a-migration-that-begins-late-and-has-ended": told(
        "d 0/2U A, e 0/3U A, f 0/4U A, h 1/8U A, z 1/20U A", "kill", "kill-after 000000000001, moves 511111"
    ),
    # A kill behind a migration that had ended; the next sync looked for a later one on a page full of equal times.
    "the-next-migration-after-a-kill-behind-ties": told(
        "e 0/1U A, d 0/1U B, g 0/1U C, f 1/2U A, l 1/11U A", "catching-up kill", "kill-after 001, moves 31112"
    ),
    # What was stored was looked for on a server that had pruned it, though others could have settled it.
    "settled-by-another-than-the-pruned-server": told(
        "a 0/4U A, b 1/8U C unassign",
        "lagging catching-up pruned",
        "moves 31112111000012001, prune 000000000001",
        servers=3,
    ),
    # A page that went back to the first item there was taken for one before which something had been pruned.
    "a-page-again-before-the-first-item-there-is": told("k 0/4U A, a 0/5U A, p 0/12U A", "low-maximum"),
    # The end of a migration was read before another worker was shown what settles it, and stayed open.
    "the-end-of-a-migration-before-what-settles-it": told("g 0/3U A, i 1/4U A, p 1/9U A", "silent-cap"),
    # A page that joined nothing that was settled settled nothing, though what it lacked was proven by then.
    "a-page-that-does-not-join-what-is-settled": told("g 0/2U A, p 0/4U A, o 0/5U+1 A", "silent-cap"),
    # One server sent a damaged answer, and the other did not show anything yet: nothing is wrong.
    "a-damaged-answer-and-an-empty-server": told(
        "k 0/8U C exercise, d 0/9U A assign",
        "late lagging damaged kill",
        "damaged 0011, kill-after 1, moves 21001, plan 1, sync 1102112",
        servers=2,
    ),
    # It came behind the group that a page held back, and was pruned before the next page, which began with that group.
    "a-late-update-pruned-before-the-group-that-was-held-back": told(
        "b 0/2U A, h 0/3U A, m 0/4U B, d 0/9U-1 A, g 0/10U C, l 0/12U A",
        "late catching-up pruned workers",
        "moves 01010212, prune 0001, sync 02",
    ),
    # Nothing was stored yet, and the first page of what the scan still has names neither synchronizer nor DSO.
    "a-killed-first-sync-of-which-a-scan-prunes-all-that-it-had-seen": told(
        "a 0/5U B assign, n 1/6U C, h 1/7U B unassign, f 1/8U C, c 1/11U A, o 1/12U B",
        "late catching-up low-maximum pruned kill",
        "kill-request 00001, moves 00201112, prune 0000102",
    ),
    # The server that had pruned what is not final was read for it again and again, though another one still had that.
    "a-server-that-has-pruned-what-is-not-final-is-asked-first": told(
        "i 0/1U B, b 0/3U C exercise, g 0/10U C unassign",
        "late lagging catching-up pruned kill",
        "kill-after 1, moves 11100100411, plan 1, prune 00010100000011, sync 0211",
        servers=2,
    ),
    # A kill between two tables, behind a sync of a part; the next sync left one commit to the one after it.
    "a-killed-sync-behind-a-sync-of-a-part": told(
        "e 0/8U A, p 1/4U A", "windows kill", "kill-after 000000001, kill-before 1, moves 02, plan 2, window 00019"
    ),
    # Asked how long a page of the server may be, it showed one item: all others had been pruned since.
    "a-group-that-is-pruned-while-it-is-probed": told(
        "m 0/3U A, n 1/6U A, k 1/11U A",
        "lagging catching-up pruned",
        "moves 1110000002100021, prune 000000000011",
        servers=3,
    ),
    # Only the end of a migration was read again within a sync once its proof came, not what lies before a part of it.
    "a-late-update-before-a-part-that-is-stored": told(
        "e 0/5U A, g 0/7U B, i 0/8U A, d 0/11U A", "late lagging silent-cap", "moves 1101", servers=2
    ),
    # Pages of an earlier migration showed what had come since the look at the newest one, left to the next sync.
    "a-late-update-that-an-earlier-migration-shows": told(
        "e 0/10U A, i 1/11U A, g 2/11U A, k 2/12U B", "late catching-up", "moves 01301000010001, plan 2, sync 011"
    ),
    # Objects that held a later migration's first item that a server has were taken to hold all of the one before.
    "objects-by-time-end-before-an-overlap-does": told(
        "h 0/8U A, d 0/9U A, r 1/7U A, k 1/18U A", "pruned", "moves f1111, prune 000101", objects=True
    ),
    # A migration between two stored ones was not looked for where the end of the one before it was pruned.
    "a-migration-behind-one-whose-end-was-pruned": told(
        "k 0/4U+1 C, h 0/6U C, o 1/12U C assign, n 1/12U+1 B assign, a 2/9U-1 C unassign, e 2/10U A assign",
        "late catching-up damaged pruned workers kill",
        "damaged 0000000010000000000101, kill-request 000000000001, moves 1111110002, plan 1, "
        "prune 000000001, quiet 1, sync 0022011, worker 012001221",
    ),
    # A late update pushed a shown one off the page; the server was taken to have withdrawn it, and the page not stored.
    "a-late-update-that-pushes-a-tie-off-the-page": told(
        "e 0/4U A, n 0/5U A, b 0/5U B", "late catching-up low-maximum", "moves 00110002"
    ),
    # Parts of workers whose pages went on with a later migration covered nothing, though they held what lies behind.
    "parts-of-a-migration-that-overlaps-another": told(
        "n 0/2U A, g 0/2U+1 A, o 0/5U A, i 0/6U A, m 1/5U A", "workers", "sync 00021"
    ),
    # What a server shows first was asked for, and then the same items once more to be compared.
    "what-begins-within-settle": told("c 0/8U A, m 1/5U A, g 1/6U A, e 1/10U A"),
    # A scan that had pruned all but its newest minutes was asked for its first items by every sync, beside the look.
    "a-scan-that-begins-within-settle-of-its-newest": told(
        "h 0/1U A, b 0/5U A, o 0/7U A, l 0/11U A", "pruned", "moves 61111, prune 00000000000001"
    ),
    # What a killed sync had left was taken back by every sync without news, and by each a version was written.
    "what-a-killed-sync-left-is-taken-back-once": told(
        "a 0/3U B, e 1/12U A unassign",
        "catching-up pruned kill",
        "kill-after 00000001, moves 00012, plan 1, prune 0001",
    ),
    # Its history went on in an earlier migration, so it showed nothing where the store's is, and no more was compared.
    "a-fork-into-an-earlier-migration": told(
        "e 1/3U A unassign",
        "catching-up fork",
        "fork 1, moves 0100000000211, plan 1",
        branch="c 0/1U C unassign, f 0/4U B exercise, gx 0/5U+1 B, lx 0/8U C exercise",
        cut="5U",
    ),
    # A look could not tell whether a tie that fills its page had been cut, so a sync without news read it again.
    "a-tie-that-fills-the-page-of-a-look": told(
        "f 0/5U A, m 1/7U-1 A, j 1/10U+1 A, d 1/12U A, k 1/12U B",
        "late lagging catching-up",
        "moves 21001100100000000001110000002, sync 021",
        servers=2,
    ),
    # What lies between two parts, and is not final yet, was read again by every sync.
    "a-gap-between-parts-that-is-not-final": told(
        "c 0/1U A, e 0/2U A, b 1/3U A, g 2/8U A", "windows", "moves 3111, window 38"
    ),
    # A page after a cursor showed that a server lacked what is stored; only whole migrations were compared.
    "a-fork-between-two-cursors": told(
        "m 1/4U B assign, f 1/9U-1 C unassign, c 1/10U A unassign",
        "late catching-up windows interrupt fork",
        "fork 11, interrupt 000000000001, moves 500000100011000001110110002, plan 2, window 03305415, "
        "window-migration 124",
        branch="mx 1/3U+1 B assign, fx 1/8U-1 C unassign",
        cut="3U",
    ),
    # A server that ignored where a page begins left a worker's part done without a page, and nobody to ask about it.
    "a-part-that-no-page-proved": told(
        "m 1/7U A, g 1/12U A", "catching-up workers ignores-after", "moves 0010000003, plan 1, sync 0022", servers=2
    ),
    # What lay between two parts was pruned before the second was final: every sync read it again, and asked a server
    # twice in a row what it has first.
    "a-hole-that-is-pruned-before-what-follows-is-final": told(
        "b 0/1U A, d 0/4U A, i 0/5U A, h 0/10U A",
        "catching-up busy pruned",
        "busy 000000003, moves 31111, prune 00000000001",
    ),
    "such-a-hole-before-later-migrations": told(
        "o 0/4U A, k 0/12U A, i 1/8U A, g 2/8U A", "pruned kill", "kill-before 000000001, moves 41111, prune 0000000001"
    ),
    # A late update came between the look at its migration and the look at an earlier one, which showed it.
    "a-late-update-that-a-look-at-an-earlier-migration-shows": told(
        "n 0/2U C genesis, i 1/9U B unassign, j 1/10U A",
        "late catching-up long-settle kill",
        "kill-request 0000000000000001, moves 211100000000000002, plan 2, quiet 1, sync 120212021",
    ),
    # The last group of a page was pruned before the next page: held back, it was taken twice, as a server that
    # contradicts itself had sent it.
    "a-pruned-group-that-was-sent-twice": told(
        "f 0/3U A, l 0/4U A, o 1/6U A, c 1/11U A",
        "catching-up pruned contradiction",
        "contradiction 002, moves 0120001, prune 00000101",
    ),
    # One look asked a server up to three times in a row where its history begins, if it had pruned a tail that is not
    # final; one answer, requested after the pages, proves as much.
    "a-tail-that-is-pruned-before-it-is-final": told(
        "l 0/2U A genesis, g 0/6U A, h 1/3U A, k 1/5U A, i 1/10U A",
        "low-maximum pruned workers",
        "moves 511111, prune 00000000000010300000000001, setup 2, sync 11",
    ),
    # One scan had pruned a migration up to its last update, another that lagged began it earlier. What the first had
    # proven was taken to hold from where the second begins, and an update between the two was lost.
    "two-servers-begin-a-migration-apart": told(
        "f 1/2U+1 A, k 1/3U C exercise, m 2/4U B unassign, b 2/8U C assign, l 2/12U A unassign",
        "late lagging pruned kill",
        "kill-before 000000001, moves 41001001011041001, plan 2, prune 000000000000000100000000000003, sync 0101",
        servers=2,
    ),
    # A restored scan, which had pruned all that is stored and was known by its DSO alone, was asked once more where it
    # begins. That answer showed that a stored update is missing, and nobody was told.
    "a-fork-that-the-last-answer-shows": told(
        "i 0/3U+3600000001 A assign, q 0/4U+7199999999 A unassign, g 0/7U+10800000000 B exercise, "
        "h 0/8U+1 A assign, j 0/9U-7200000000 B assign, o 0/9U-3600000000 A unassign, y 0/11U+1 C, "
        "n 0/14U-7200000000 C assign, t 0/14U-3600000000 C exercise, z 0/14U+3600000001 B, "
        "b 0/15U+10800000000 B unassign, l 0/16U-7200000000 B assign, u 0/17U-7200000000 C exercise",
        "late catching-up pruned fork-all",
        "fork 01, moves f00111010101011111111000000001100000002000022020010001010101102110011000101, "
        "objects 4, plan 2, prune 00000000010000101102000000000010300000000000000000000000000000001",
        branch="d 0/1U+7199999999 C assign, i 0/3U+3600000001 A assign, q 0/4U+7199999999 A unassign, "
        "g 0/7U+10800000000 B exercise, h 0/8U+1 A assign, j 0/9U-7200000000 B assign, "
        "o 0/9U-3600000000 A unassign, y 0/11U+1 C, s 0/12U A unassign, tx 0/14U-3600000000 C exercise, "
        "zx 0/14U+3600000001 B, nx 0/15U-7200000000 C assign, ux 0/16U-7200000000 C exercise, "
        "ax 0/16U+10799999999 C, bx 0/16U+10800000000 B unassign, lx 0/17U-7200000000 B assign, "
        "fx 0/18U-7199999999 A exercise",
        cut="13U",
        objects=True,
    ),
    # A page had shown a stored update, and a later page made it final: its server seemed to lack it.
    "a-page-that-settles-what-another-one-has-shown": told(
        "n 0/2U A, p 1/12U A", "lagging", "moves 1111011, plan 2", servers=2
    ),
    # A server pruned its first items before it was asked again for what another one shows there: of another network.
    "a-server-that-prunes-while-servers-are-told-apart": told(
        "h 0/8U+7199999999 B unassign, k 0/9U-7199999999 B exercise, b 1/6U A unassign, "
        "m 1/6U+7200000000 A, z 1/7U-3600000000 B assign, d 1/7U+7200000000 A, "
        "u 1/12U+7200000000 C assign, s 2/9U+10800000000 B, x 2/13U+7200000000 C assign",
        "late lagging silent-cap pruned",
        "moves y1011211211001101001021011210110110012112111110111012210111, "
        "prune 122001010012210000000000000000000111124000000001, source 2",
        servers=2,
        objects=True,
    ),
    # A server whose first page named nobody of the store's first page was left out, though it had shown what is stored.
    "a-server-known-by-what-it-shows-and-not-by-its-first-page": told(
        "u 0/1U+10800000000 A, z 0/2U A, q 1/15U C assign",
        "silent-cap pruned",
        "moves 6111, prune 001",
        servers=2,
        objects=True,
    ),
    # The store had no row yet, and the short first page of its server named nobody known: no sync read anything.
    "a-first-page-that-names-nobody-known": told(
        "c 0/7U A, b 1/5U A, n 1/5U+1 B unassign", "late silent-cap windows", "moves 112, window 16"
    ),
    # That nothing of a migration follows was forgotten where nothing more was settled: every sync read it again.
    "a-migration-of-which-nothing-more-is-settled": told(
        "h 0/1U A, f 0/2U A, e 0/2U+1 A, d 1/8U A", "lagging", "moves 5111111111, sync 2", servers=2
    ),
    # A server pruned its first item before it was read, and was busy when asked again: the item's place was covered.
    "pruned-before-a-first-read-that-is-broken-off": told(
        "i 1/8U A, f 2/12U A",
        "low-maximum busy damaged pruned",
        "busy 00002000032, damaged 001, moves 511, plan 1, prune 000000010000000000100001000011",
        servers=2,
    ),
    # Sixty migrations that a server had made up were looked into on three servers: more requests than are bounded.
    "migrations-that-are-made-up-while-a-window-is-read": told(
        "l 1/4U-3600000001 A, r 1/18U A",
        "lagging windows never-ending busy-objects",
        "list 2, moves z11, plan 1, window 0003",
        servers=3,
        objects=True,
    ),
    # Two servers began with different updates, and the page that was to show whether they are one network was damaged.
    "a-damaged-page-while-networks-are-compared": told(
        "k 0/1U A unassign, l 0/1U B", "late lagging damaged", "damaged 00001, moves 0211, plan 1", servers=2
    ),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_nothing_is_lost_by(name):
    outcome = run(SCRIPTS[name])

    assert not outcome.problems, "\n".join([*outcome.log, *(problem.text for problem in outcome.problems)])


def test_a_page_is_stored_also_if_its_server_ignores_the_cursor_of_the_search_for_an_end():
    """Its new updates were dropped, and their part was covered: another server then seemed to be wrong."""
    outcome = run(
        told(
            "m 1/7U A, n 1/8U A, g 1/20U A",
            "catching-up workers ignores-after",
            "moves 00100000055555, plan 1, sync 002210",
            servers=2,
        )
    )

    assert outcome.syncs["ended"] == 3, "\n".join(outcome.log)
