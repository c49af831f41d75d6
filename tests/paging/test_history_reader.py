"""Reading a history page by page never loses and never repeats an update."""

from bisect import bisect_right
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgerframes.errors import PagingError
from ledgerframes.paging.cursor import Cursor, PageIndex, Window
from ledgerframes.paging.history import HistoryReader
from ledgerframes.paging.modes import Outcome


@dataclass
class Server:
    """A scan of the contract: strictly after, ascending, at most page_size; and its habits."""

    places: list[Cursor]
    name: str = "a"
    maximum: int = 1000
    cap: int = 10**9
    lag: int = 0
    asked: list[int] = field(default_factory=list)

    def page(self, after, page_size):
        self.asked.append(page_size)
        visible = self.places[: len(self.places) - self.lag]
        first = 0 if after is None else bisect_right(visible, after)
        rows = range(first, min(first + min(page_size, self.cap), len(visible)))
        return PageIndex([visible[row] for row in rows], [f"u{row}" for row in rows])


def read(reader, servers, picks=()):
    """Drive the reader as a loader does: a lowered maximum is learnt, a server that lags is left."""
    got, current, picks = [], 0, list(picks)
    for _ in range(10_000):
        current = picks.pop(0) if picks else current
        server = servers[current]
        asked = reader.query()
        if asked.page_size > server.maximum:
            reader.lower(server.maximum)
            continue
        page = server.page(asked.after, asked.page_size)
        taken = reader.take(page, server.name, asked)
        got += [page.update_ids[row] for row in taken.rows]
        if taken.outcome is Outcome.BEHIND:
            current = (current + 1) % len(servers)
        elif taken.outcome is not Outcome.MORE:
            return got, taken.outcome
    raise AssertionError("never ends")


@st.composite
def histories(draw, most=60):
    """Ascending places over three migrations whose record times overlap, many of them equal."""
    raw = draw(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 25)), max_size=most))
    return [Cursor(migration, micros) for migration, micros in sorted(raw)]


def largest_tie(places):
    return max((places.count(place) for place in set(places)), default=0)


@pytest.mark.long
@settings(max_examples=600, deadline=None)
@given(places=histories(), page_size=st.integers(1, 30), maximum=st.integers(1, 40))
def test_everything_is_read_once_whatever_the_page_size_and_the_maximum(places, page_size, maximum):
    reader = HistoryReader(Window(), page_size=page_size)
    try:
        got, outcome = read(reader, [Server(places, maximum=maximum)])
    except PagingError:
        assert largest_tie(places) >= maximum
        return
    assert outcome is Outcome.END
    assert got == [f"u{row}" for row in range(len(places))]


@settings(max_examples=600, deadline=None)
@given(places=histories(), page_size=st.integers(1, 30), cap=st.integers(1, 40))
def test_a_server_that_caps_pages_silently_loses_nothing_or_is_refused(places, page_size, cap):
    reader = HistoryReader(Window(), page_size=page_size)
    try:
        got, _ = read(reader, [Server(places, cap=cap)])
    except PagingError:
        assert largest_tie(places) >= cap
        return
    assert got == [f"u{row}" for row in range(len(places))] or one_instant_is_all(places)


def one_instant_is_all(places):
    """Then no page can tell a cap from the end of the history."""
    return len(set(places)) == 1


@settings(max_examples=600, deadline=None)
@given(
    places=histories(),
    lag=st.integers(1, 20),
    picks=st.lists(st.integers(0, 1), max_size=30),
    size=st.integers(1, 20),
)
def test_failover_to_a_lagging_server_gives_a_gapless_beginning_of_the_history(places, lag, picks, size):
    reader = HistoryReader(Window(), page_size=size)
    servers = [Server(places, name="ahead"), Server(places, name="behind", lag=min(lag, len(places)))]
    got, _ = read(reader, servers, picks)
    assert got == [f"u{row}" for row in range(len(got))]
    assert len(got) >= len(places) - lag


@settings(max_examples=600, deadline=None)
@given(places=histories(), since=st.integers(0, 26), length=st.integers(1, 26), size=st.integers(1, 20))
def test_a_bare_time_window_takes_its_part_of_every_migration(places, since, length, size):
    window = Window(since=since, until=since + length)
    got, _ = read(HistoryReader(window, page_size=size), [Server(places)])
    assert got == [f"u{row}" for row, place in enumerate(places) if since <= place.micros < since + length]


@settings(max_examples=300, deadline=None)
@given(
    places=histories(),
    low=st.tuples(st.integers(0, 2), st.integers(0, 25)),
    high=st.tuples(st.integers(0, 3), st.integers(0, 25)),
)
def test_a_window_of_places_is_half_open(places, low, high):
    window = Window(start=Cursor(*low), end=Cursor(*high))
    got, _ = read(HistoryReader(window, page_size=7), [Server(places)])
    assert got == [f"u{row}" for row, place in enumerate(places) if low <= place < high]


@settings(max_examples=300, deadline=None)
@given(places=histories(), limit=st.integers(1, 70), size=st.integers(1, 20))
def test_a_limit_gives_the_first_ones(places, limit, size):
    got, _ = read(HistoryReader(Window(), limit=limit, page_size=size), [Server(places)])
    assert got == [f"u{row}" for row in range(min(limit, len(places)))]


def test_more_updates_at_one_instant_than_the_largest_page_are_refused():
    places = [Cursor(0, 1)] * 5
    with pytest.raises(PagingError, match="largest page is 3; they cannot be read without loss"):
        read(HistoryReader(Window(), page_size=3), [Server(places, maximum=3)])


def test_pages_out_of_order_are_refused():
    reader = HistoryReader(Window())
    with pytest.raises(PagingError, match="not in order"):
        reader.take(PageIndex([Cursor(0, 5), Cursor(0, 4)], ["a", "b"]), "a", reader.query())


def test_a_server_that_ignores_the_cursor_is_refused():
    reader = HistoryReader(Window(), page_size=3)
    first = PageIndex([Cursor(0, 1), Cursor(0, 2), Cursor(0, 3)], ["a", "b", "c"])
    reader.take(first, "a", reader.query())
    with pytest.raises(PagingError, match="not in order"):
        reader.take(first, "a", reader.query())


def test_an_empty_page_of_a_server_that_lags_does_not_end_the_read():
    reader = HistoryReader(Window(), page_size=3)
    reader.take(PageIndex([Cursor(0, 1), Cursor(0, 2)], ["a", "b"]), "a", reader.query())
    taken = reader.take(PageIndex([], []), "b", reader.query())
    assert taken.outcome is Outcome.BEHIND


@pytest.mark.parametrize("end", [{"until": 2}, {"end": Cursor(0, 2)}], ids=["a time", "a cursor"])
def test_an_end_is_only_passed_when_an_item_at_or_after_it_was_seen(end):
    reader = HistoryReader(Window(**end))
    read(reader, [Server([Cursor(0, 1), Cursor(0, 2)])])
    assert reader.beyond
    reader = HistoryReader(Window(**end))
    read(reader, [Server([Cursor(0, 0), Cursor(0, 1)])])
    assert not reader.beyond


def test_the_last_tie_is_asked_of_another_server_too():
    places = [Cursor(0, 1), Cursor(0, 2), Cursor(0, 2)]
    behind, ahead = Server(places, name="behind", lag=1), Server(places, name="ahead")
    reader = HistoryReader(Window())
    assert read(reader, [behind])[0] == ["u0", "u1"]
    reader.reopen()
    assert read(reader, [ahead])[0] == ["u2"]


def test_each_larger_page_that_fails_delays_the_next_attempt():
    reader, server, failed = HistoryReader(Window(), page_size=512), Server([Cursor(0, at) for at in range(33_000)]), []
    while (asked := reader.query()).after is None or asked.after.micros < 32_998:
        if asked.page_size > 256:
            failed.append(len(server.asked))
            reader.shrink()
        else:
            reader.take(server.page(asked.after, asked.page_size), "a", asked)
    assert failed == [0, 4, 12, 28, 60, 124]


def test_pages_stay_usable_while_one_request_in_three_fails():
    reader, server = HistoryReader(Window()), Server([Cursor(0, at) for at in range(9_000)])
    for number in range(200):
        if number % 3 == 0:
            reader.shrink()
        else:
            asked = reader.query()
            reader.take(server.page(asked.after, asked.page_size), "a", asked)
    assert min(server.asked) >= 32
