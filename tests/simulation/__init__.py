"""The whole sync under simulation: many histories per second in one process, without sockets, each from one seed.

A history is a small ledger, the servers that show it, a lake, and two to five syncs of that lake with trouble between
and within them. What is simulated lies outside of our code; what runs is ours, unpatched: paging, planning, fetching,
decoding, committing, reading, checking.

Simulated:
    world       a ledger of two to six updates: synchronizers with clocks of their own, ties, migrations whose record
                times overlap. Time runs from 0 to 12 units of six hours; `settle` is three units, the day by which
                migrations may overlap is four.
    stored_as   what a store makes of an item: rows of the update history, or verdicts (`--verdicts`), where some items
                have no row.
    servers     each shows a growing part of the ledger: an item may be late by less than `settle`. They catch up
                between two requests, lag, step back, fork, hide replicas, cap pages.
    net         `PageSource` over them, with the retries and the failover that transport does; real pages of JSON.
    objects     what servers write of their history as objects, by a plan and with damage of their own (`--objects`);
                `object_net` lists and downloads them under the real `Scan`, `spool` is the disk that they lie on.
    storage     Delta tables in memory. Every write may be the last: a kill ends the machine, and all that is called
                afterwards raises. `mirrored` makes the same writes on real deltalake and compares.
    scheduling  `SeededScheduler`: workers and commits are steps, and the seed says whose turn it is.
    clock       one clock, which may be wrong.
    faults      the table of all that can go wrong: which assumption each fault breaks, which invariants are left.
    rot         what storage can do to a finished lake; `check()` must see it.

Judged:
    invariants  after every commit and every run, from the numbers in the tables' logs and the rows themselves.

Reproduced:
    choices     every free choice comes from a stream of its component, and is written down.
    history     one history, from a seed or from a script: world, faults and choices as plain data.
    scripts     a failing seed becomes a script, is shrunk by item, server, fault and choice, and printed as Python to
                be pasted into `test_scripts.py`. Seeds die with the generator; scripts stay.
    mutants     each rule of DESIGN 4 and 5 taken back, by patching one function of ours in place; the tests fail if a
                mutant survives.

`make simulate MINUTES=10 SEED=0` runs seeds on all cores; `python -m tests.simulation --help` shows, shrinks and hunts.
"""
