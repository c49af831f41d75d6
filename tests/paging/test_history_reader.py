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
from ledgerframes.paging.proofs import NOTHING, Proofs


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


@settings(max_examples=200, deadline=None)
@given(places=histories(), page_size=st.integers(1, 30), most=st.integers(1, 40), silent=st.booleans())
def test_everything_is_read_once_or_refused_whatever_the_page_size_and_how_it_is_bounded(
    places, page_size, most, silent
):
    server = Server(places, **{"cap" if silent else "maximum": most})
    try:
        got, outcome = read(HistoryReader(Window(), page_size=page_size), [server])
    except PagingError:
        assert max(map(places.count, places)) >= most
        return
    assert silent or outcome is Outcome.END
    # Where one instant is all, no page can tell a cap from the end of the history.
    assert got == [f"u{row}" for row in range(len(places))] or (silent and len(set(places)) == 1)


@settings(max_examples=200, deadline=None)
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


@st.composite
def windows(draw):
    """Bare times, or places; each half open."""
    if draw(st.booleans()):
        since, length = draw(st.integers(0, 26)), draw(st.integers(1, 26))
        return Window(since=since, until=since + length), lambda place: since <= place.micros < since + length
    low, high = (Cursor(draw(st.integers(0, most)), draw(st.integers(0, 25))) for most in (2, 3))
    return Window(start=low, end=high), lambda place: low <= place < high


@settings(max_examples=200, deadline=None)
@given(places=histories(), window=windows(), size=st.integers(1, 20))
def test_a_window_takes_its_part_of_every_migration(places, window, size):
    taken, inside = window
    got, _ = read(HistoryReader(taken, page_size=size), [Server(places)])
    assert got == [f"u{row}" for row, place in enumerate(places) if inside(place)]


@settings(max_examples=100, deadline=None)
@given(places=histories(), limit=st.integers(1, 70), size=st.integers(1, 20))
def test_a_limit_gives_the_first_ones(places, limit, size):
    got, _ = read(HistoryReader(Window(), limit=limit, page_size=size), [Server(places)])
    assert got == [f"u{row}" for row in range(min(limit, len(places)))]


@pytest.mark.parametrize(
    ("habit", "said"), [("maximum", "largest page is 3; they cannot be read without loss"), ("cap", "cannot be known")]
)
def test_more_updates_at_one_instant_than_the_largest_page_are_refused(habit, said):
    places = [*[Cursor(0, 1)] * 5, Cursor(0, 2)]
    with pytest.raises(PagingError, match=said):
        read(HistoryReader(Window(), page_size=4), [Server(places, **{habit: 3})])


@pytest.mark.parametrize("pages", [[[5, 4]], [[1, 2, 3], [1, 2, 3]]], ids=["within a page", "the cursor is ignored"])
def test_what_is_out_of_order_is_refused(pages):
    reader = HistoryReader(Window(), page_size=3)
    *before, last = [PageIndex([Cursor(0, at) for at in page], [f"u{at}" for at in page]) for page in pages]
    for page in before:
        reader.take(page, "a", reader.query())
    with pytest.raises(PagingError, match="not in order"):
        reader.take(last, "a", reader.query())


@pytest.mark.parametrize("end", [{"until": 2}, {"end": Cursor(0, 2)}], ids=["a time", "a cursor"])
def test_an_end_is_only_passed_when_an_item_at_or_after_it_was_seen(end):
    reader = HistoryReader(Window(**end))
    read(reader, [Server([Cursor(0, 1), Cursor(0, 2)])])
    assert reader.beyond
    reader = HistoryReader(Window(**end))
    read(reader, [Server([Cursor(0, 0), Cursor(0, 1)])])
    assert not reader.beyond


def test_an_empty_page_of_a_server_that_lags_is_no_end_and_the_last_tie_is_asked_of_another_server_too():
    reader = HistoryReader(Window(), page_size=3)
    reader.take(PageIndex([Cursor(0, 1), Cursor(0, 2)], ["a", "b"]), "a", reader.query())
    assert reader.take(PageIndex([], []), "b", reader.query()).outcome is Outcome.BEHIND
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


def test_a_server_proves_its_own_pages_until_it_shows_less_than_before():
    proofs = Proofs(settle=10)
    proofs.saw("one", [Cursor(0, 100), Cursor(1, 70), Cursor(0, 130)])
    proofs.saw("one", [Cursor(1, 60)])
    proofs.saw("two", [])
    before = proofs.now()
    assert [before.of("one"), before.of("one", [Cursor(0, 140)]), before.of("two")] == [119, 129, NOTHING - 11]
    places = (None, Cursor(1, 69), Cursor(1, 70))
    assert [proofs.contradicts("one", after) for after in places] == [True, True, False]
    assert not proofs.contradicts("two", None)
    assert proofs.proves_ahead("one")
    proofs.lose("one")
    assert not proofs.proves_ahead("one")
    assert proofs.now().of("one", [Cursor(0, 140)]) == 129  # by the page alone
    assert proofs.now().of("one") == NOTHING - 11
    assert not proofs.contradicts("one", None)
    assert proofs.proves_ahead("two")
