"""Arguments in the spellings of numpy and pandas, and what is refused before anything is sent."""

import threading
from datetime import timedelta

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import ledgerframes as lf
from ledgerframes.arguments import duration
from ledgerframes.config.settings import Settings
from ledgerframes.errors import ConfigurationError, InputError
from ledgerframes.timestamps import to_micros

SECOND = 1_000_000
PARTIES = ("alice::1220", "bob::1220")


@pytest.mark.parametrize(
    "spell", [list, set, pd.Series, pd.Index, np.array, iter, pa.array], ids=lambda spell: spell.__name__
)
def test_parties_and_columns_are_taken_from_any_sequence(net, spell):
    parties = list(PARTIES)
    loaded = lf.load_transfer_preapprovals(net, spell(parties), columns=spell(["found", "party"]))
    assert list(loaded.party) == parties
    assert list(loaded.columns) == ["found", "party"]


def test_numbers_and_places_of_a_frame_are_taken(net):
    assert len(lf.load_updates(net, limit=np.int64(7), page_size=np.uint8(7), progress=False)) == 7
    whole = lf.load_updates(net, start="begin", progress=False)
    place = (whole.migration_id.max(), whole.record_time.iloc[-1])
    assert type(place[0]) is np.int64
    assert len(lf.load_updates(net, start=place, progress=False)) >= 1
    with pytest.raises(lf.errors.InputError, match=r"pair \(migration id, time\)"):
        lf.load_updates(net, start=(True, "2026-01-30"))


@pytest.mark.parametrize(
    ("value", "micros"),
    [
        ("1h", 3_600 * SECOND), ("1 day", 86_400 * SECOND), ("90s", 90 * SECOND), ("1 week", 604_800 * SECOND),
        ("5min", 300 * SECOND), ("2 Hours", 7_200 * SECOND), ("1h 30min", 5_400 * SECOND), ("1.5s", 1_500_000),
        (timedelta(minutes=1), 60 * SECOND), (pd.Timedelta("1 day"), 86_400 * SECOND), (60, 60 * SECOND),
        ("500 milliseconds", 500_000), (0.5, 500_000), (np.int64(60), 60 * SECOND), (np.float64(0.5), 500_000),
        (np.timedelta64(5, "s"), 5 * SECOND), (np.timedelta64(5_000_000_000, "ns"), 5 * SECOND),
    ],
    ids=repr,
)  # fmt: skip
def test_a_duration_is_text_a_timedelta_or_seconds(value, micros):
    assert duration(value, "last") == micros


@pytest.mark.parametrize(
    "value",
    [
        "", "h", "1", "1 fortnight", "1h and more", "10000w", 0, float("inf"), 1e300, None, timedelta(0),
        timedelta(-1), np.timedelta64("NaT"), 10**400, "9" * 400 + "s",
    ],
    ids=lambda value: repr(value)[:20],
)  # fmt: skip
def test_what_is_not_a_duration_is_refused(value):
    with pytest.raises(InputError, match=r"^last=.* is not valid: give a duration"):
        duration(value, "last")


def test_settle_last_and_every_take_each_form(store, net):
    now = lf.load_updates(net, start="begin", progress=False).record_time.max() + pd.Timedelta("2min")
    for settle in ("1 min", pd.Timedelta("60s")):
        store.sync(net, settle=settle, now=now, progress=np.False_)
    assert len(store.load("updates", start="begin", allow_partial=True)) > 0
    stop = threading.Event()
    assert next(store.follow(net, every=1, stop=stop, settle=0, last="1 day", progress=False)).complete
    stop.set()


def test_begin_is_ledger_begin_of_a_load_and_a_sync_and_no_end(store, net):
    assert lf.plan(net, start="begin").range.startswith("ledger begin to ")
    assert "ledger begin" in store.plan(net, start="begin").range
    with pytest.raises(lf.errors.InputError, match="end='begin'"):
        lf.load_updates(net, end="begin")


@pytest.mark.parametrize("call", [lf.load_coins, lf.plan, lambda net: lf.open_store("lake").follow(net)])
def test_what_is_not_a_network_is_refused_with_the_line_that_makes_one(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(lf.errors.InputError, match=r"net=.* is not valid: give a network, such as net = lf\.connect"):
        call("http://127.0.0.1:9/api/scan")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("01/02/2026", "write 2026-02-01 or 2026-01-02"), ("31.12.2025", "write 2025-12-31"),
        ("2025-3-3", "write 2025-03-03"), ("2025/03/03", "write 2025-03-03"),
        ("30/30/2025", 'or last="1d" for the latest day'), ("yesterday", 'or last="1d" for the latest day'),
    ],
)  # fmt: skip
def test_a_text_that_is_not_a_time_is_said_once_with_what_to_write(text, said):
    with pytest.raises(lf.errors.InputError) as refused:
        to_micros(text, "start")
    assert str(refused.value).startswith(f"start={text!r} is not a time: write ")
    assert str(refused.value).endswith(said)
    assert str(refused.value).count(text) == 1


@pytest.mark.parametrize(
    "finer", [pd.Timestamp, np.datetime64, str, lambda text: (1, pd.Timestamp(text, tz="UTC"))],
    ids=["Timestamp", "datetime64", "text", "pair"],
)  # fmt: skip
def test_the_bounds_of_a_range_lie_between_microseconds_where_they_were_given(net, finer):
    whole = lf.load_updates(net)
    whole = whole[whole.migration_id == 1].record_time.drop_duplicates(ignore_index=True)
    first, last = (finer(f"{time.isoformat()[:26]}001") for time in (whole[9], whole[19]))
    found = lf.load_updates(net, start=first, end=last)
    assert lf.plan(net, end="9999-12-31T23:59:59.999999999Z").range.endswith("59.999999Z")  # there is none after it
    assert [*found[found.migration_id == 1].record_time.drop_duplicates()] == [*whole[10:20]]
    opening = lf.load_opening(net, at=(1, f"{whole[19].isoformat()[:26]}001"))
    assert opening.cursor == (1, to_micros(whole[19], "at"))


class Full:
    """A frame that is too large for the memory there is, wherever it is looked at."""

    settings = Settings(scan_url=("http://127.0.0.1:1",), registry_url=("http://127.0.0.1:1",))  # a network, too

    def __init__(self, said=""):
        self.said = said

    def __getattr__(self, name):
        raise MemoryError(self.said)


NEEDING = {
    "load_users": lf.load_users, "supply": lf.supply, "export": lambda frame: lf.export(frame, "out.parquet"),
    "expand": lambda frame: lf.expand(frame, template="Splice.Amulet:Amulet"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "call"), NEEDING.items(), ids=NEEDING)
def test_a_function_says_that_the_memory_does_not_suffice_and_what_to_do(name, call):
    with pytest.raises(ConfigurationError, match=f"^{name} ran out of memory.*; ") as caught:
        call(Full())
    assert isinstance(caught.value.__cause__, MemoryError)
    with pytest.raises(ConfigurationError, match=rf"^{name} ran out of memory, and .+ is full \(TMPDIR .*; "):
        call(Full("This limit was set by the 'max_temp_directory_size' setting."))  # in DuckDB's words
