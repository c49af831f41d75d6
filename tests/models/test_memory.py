"""What models take of memory and disk, and what of the machine their connection may touch."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from random import Random

import duckdb
import pyarrow as pa
import pytest

import ledgerframes as lf
from ledgerframes.models.engine import VARIABLE, Engine, text_of
from ledgerframes.models.inputs import inputs_of


def test_what_does_not_fit_the_memory_goes_to_a_folder_that_is_gone_afterwards(history, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv(VARIABLE, "100MB")
    with Engine(inputs_of(history).gives) as engine:
        engine._run(
            engine._connection.execute,
            "create temp table large as select i, repeat('x', 200) || i as text from range(900000) as t(i)",
        )
        (folder,) = tmp_path.iterdir()
        assert folder.stat().st_mode & 0o077 == 0
        assert list(folder.iterdir())
    assert not list(tmp_path.iterdir())


def test_memory_beside_frames_is_bounded_as_told_and_grows_where_it_is_not_enough(history, monkeypatch):
    limit = "select current_setting('memory_limit')"
    monkeypatch.setenv(VARIABLE, "123MB")
    with Engine(inputs_of(history).gives) as engine:
        engine.rows("first_place")
        database = engine._database
        assert engine._connection.sql(limit).fetchall() == [("117.3 MiB",)]
        assert engine._connection.sql("select current_setting('threads')").fetchall() == [(1,)]
    monkeypatch.delenv(VARIABLE)
    with Engine(inputs_of(history).gives) as engine:
        engine.rows("first_place")
        assert engine._database is database
        assert engine._connection.sql(limit).fetchall() == [("244.1 MiB",)]
        engine._run(
            engine._connection.execute,
            "create temp table wide as select list(repeat('x', 200) || i) as texts from range(1500000) as t(i)",
        )
        assert engine._connection.sql(limit).fetchall() != [("244.1 MiB",)]
    monkeypatch.setenv(VARIABLE, "much")
    with pytest.raises(lf.errors.ConfigurationError, match="LEDGERFRAMES_MEMORY_LIMIT='much' is not valid"):
        lf.template_activity(history)


TOO_MUCH = "select list(repeat('x', 200) || i) from range(1500000) as t(i)"


def test_steps_that_have_been_read_make_room_once(history, monkeypatch):
    monkeypatch.setenv(VARIABLE, "123MB")
    with Engine(inputs_of(history).gives) as engine:
        engine.rows("license_growth")
        engine.rows("transfers")
        assert "license_contracts" in engine._built
        tried = []
        for tries in (2, 3):  # the second time nothing is left to make room
            with pytest.raises(duckdb.OutOfMemoryException):
                engine._run(lambda query: [tried.append(query), engine._connection.execute(query)], TOO_MUCH)
            assert len(tried) == tries
        assert engine._built.keys() == {"coin_outputs"}


def test_whatever_step_does_not_fit_the_models_are_the_same(history, monkeypatch):
    names, random, run = ["rewards", "network_daily", "mart_party_daily", "dim_party"], Random(1), Engine._run
    with Engine(inputs_of(history).gives) as engine:
        expected = [engine.rows(name) for name in names]

    def tight(engine, call, statement):
        fits = iter([random.random() < 0.8, True])

        def attempt(query):
            if not next(fits):
                raise duckdb.OutOfMemoryException
            return call(query)

        return run(engine, attempt, statement)

    monkeypatch.setattr(Engine, "_run", tight)
    with Engine(inputs_of(history).gives) as engine:
        for name, rows in zip(names, expected, strict=True):
            assert engine.rows(name).equals(rows), name


def test_a_path_of_parquet_is_all_that_a_connection_may_read(history, tmp_path):
    lf.export({"events": history.events}, tmp_path)
    path = tmp_path / "events.parquet"
    other = tmp_path / "other.parquet"
    other.write_bytes(path.read_bytes())

    assert lf.template_activity(path, as_="arrow").equals(lf.template_activity(history.events, as_="arrow"))
    with Engine(inputs_of(path).gives) as engine:
        engine.rows("first_place")
        for statement in (
            f"select * from read_parquet('{other}')", f"copy (select 1) to '{tmp_path / 'new.csv'}'",
            f"attach '{tmp_path / 'new.db'}'", "install spatial", "load httpfs", "set allowed_paths = ['/']",
        ):  # fmt: skip
            with pytest.raises(duckdb.Error, match=r"disabled|Cannot access"):
                engine._connection.execute(statement)


def test_a_store_is_read_once_where_it_fits_and_else_by_each_step(filled):
    expected = lf.template_activity(filled.load("events"), as_="arrow")
    for room in (0, 1_000_000_000):
        with Engine(inputs_of(filled).gives) as engine:
            engine._room = room
            found = engine.rows("template_activity").select(expected.column_names)
            assert found.cast(expected.schema).equals(expected)
            assert isinstance(engine._inputs["events"]({"payload"}, set(), room), pa.Table) == bool(room)
            # Rows that are not counted yet are taken for few, of which each could be compared with each.
            engine._build("coupon_ends")
            assert "Asof Join" in engine._connection.sql(f"explain {text_of('above')}").fetchall()[0][1]
            chosen = "from exercises semi join coupon_kinds using (template_name)"
            assert "RIGHT_SEMI" not in engine._connection.sql(f"explain {chosen}").fetchall()[0][1]


@pytest.mark.skipif("jemalloc" not in pa.supported_memory_backends(), reason="this Arrow has mimalloc alone")
@pytest.mark.long(quick=1)
@pytest.mark.parametrize(("chosen", "allocator"), [("", "jemalloc"), ("mimalloc", "mimalloc")])
def test_arrow_allocates_with_jemalloc_unless_told_otherwise(tmp_path, chosen, allocator):
    program = f"import ledgerframes as lf, pyarrow as pa; lf.open_store({str(tmp_path)!r})"
    environment = {name: value for name, value in os.environ.items() if name != "ARROW_DEFAULT_MEMORY_POOL"}
    environment |= {"ARROW_DEFAULT_MEMORY_POOL": chosen} if chosen else {}
    program += "; print(pa.default_memory_pool().backend_name)"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, env=environment)
    assert done.stdout.strip() == allocator


def test_a_file_without_a_column_or_with_lists_as_text_is_refused_by_its_name(history, tmp_path):
    lf.export({"events": history.events.drop_columns(["payload"])}, tmp_path)
    with pytest.raises(lf.errors.InputError, match="the files have no column payload"):
        lf.rewards(Path(tmp_path) / "events.parquet")
    lf.export({"events": history.events}, tmp_path, profile="bi", overwrite=True)
    with pytest.raises(lf.errors.InputError, match="column 'acting_parties' does not hold list"):
        lf.active_parties(tmp_path)


def test_a_running_query_ends_soon_after_an_interrupt(history):
    # A shell's background job ignores SIGINT, and so would Python.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with Engine(inputs_of(history).gives) as engine:
        timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
        timer.start()
        begun = time.thread_time()
        with pytest.raises(KeyboardInterrupt):
            engine.interruptible(
                lambda: engine._connection.execute(
                    "select sum(i * j) from range(10000000) t(i), range(100000) u(j)"
                ).fetchall(),
                "numbers",
            )
        assert time.thread_time() - begun < 2
    signal.signal(signal.SIGINT, before)
