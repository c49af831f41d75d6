"""What parties of a participant saw, page by page: none lost, none twice, never two participants in one result."""

import copy

import pytest

import ledgerframes as lf
from tests.loaders.participants import Participant, connected
from tests.sandbox.asking import party_of

PARTY = ["a::1220"]


@pytest.fixture(scope="module")
def net():
    with lf.sandbox(updates=400) as network:
        yield network


@pytest.fixture(scope="module")
def last(net):
    """The offset of the last update: the ledger has more of them than its scan shows."""
    return net.sandbox.world.last_offset


def offsets(history):
    return list(history.transactions.offset)


@pytest.mark.long
def test_every_update_comes_once_in_the_order_of_offsets_whatever_the_size_of_a_page(net, last):
    ids = set(lf.load_updates(net, limit=400, progress=False).update_id)
    for size in (None, 1, 7, 1000):
        history = lf.load_ledger_history(net, None, page_size=size, limit=1000)
        assert offsets(history) == list(range(1, last + 1))
        assert set(history.transactions.update_id) > ids
        assert history.transactions.event_count.sum() == len(history.events)
        assert (history.transactions.attrs["after_offset"], history.transactions.attrs["offset"]) == (0, last)
        assert history.events.attrs["complete"] is True


def test_an_update_of_a_page_is_the_one_that_is_looked_up(net):
    whole = lf.load_ledger_history(net, None, as_="arrow")
    kinds = set(whole.events["kind"].to_pylist())
    assert {"CreatedEvent", "ExercisedEvent", "JsAssignmentEvent", "JsUnassignedEvent"} <= kinds
    for row in whole.transactions.to_pylist()[::37]:
        single = lf.load_ledger_transaction(net, row["update_id"], as_="arrow")
        assert single.transactions.to_pylist() == [row]
        mine = [event for event in whole.events.to_pylist() if event["update_id"] == row["update_id"]]
        assert single.events.to_pylist() == mine


def test_computed_tables_of_a_participants_history_are_those_of_the_scans(net):
    """Times and days too, and where a contract is: a participant says when an update was sequenced, and shows legs."""
    own, shown = lf.load_ledger_history(net, None), lf.load_history(net, progress=False)
    assert (lf.supply(own, opening="nothing") == lf.supply(shown)).all(axis=None)
    for table, key in ((lf.rewards, "contract_id"), (lf.movements, ["update_id", "entry"])):
        rows = table(own, opening="nothing"), table(shown)
        mine, theirs = (found.sort_values(key, ignore_index=True) for found in rows)
        assert len(mine)
        assert mine.equals(theirs)
    daily = [lf.active_parties(history) for history in (own.events, shown)]
    assert list(daily[0].time) == list(daily[1].time)
    assert (daily[0].parties >= daily[1].parties).all()
    active = lf.active_contracts(own.events, opening="nothing").set_index("contract_id")
    told = lf.load_ledger_contracts(net, None).set_index("contract_id")
    assert set(active.index) == set(told.index)
    settled = told[(told.kind == "JsActiveContract") & ~told.index.duplicated(keep=False)]
    same = active.loc[settled.index]
    assert list(same.synchronizer_id) == list(settled.synchronizer_id)
    assert list(same.reassignment_counter) == list(settled.reassignment_counter)
    assert set(active.index[active.in_flight]) == set(told.index[told.kind == "JsIncompleteUnassigned"])


def test_a_party_gets_its_own_view_and_another_ones_is_denied(net, last):
    token, alice = net.sandbox.token("alice"), party_of(net.sandbox, "alice")
    with lf.connect(ledger_url=net.sandbox.ledger_url, token=token) as alone:
        history, everybody = lf.load_ledger_history(alone, [alice]), lf.load_ledger_history(net, None).events
        seen = everybody[[alice in (parties or ()) for parties in everybody.witness_parties]]
        assert 0 < len(history.transactions) < last
        assert set(history.transactions.update_id) == set(seen.update_id)
        assert len(history.events) == len(seen)
        with pytest.raises(lf.errors.NotAuthorizedError):
            lf.load_ledger_history(alone, [party_of(net.sandbox, "bob")])


@pytest.mark.parametrize(
    ("start", "end", "limit", "wanted"),
    [
        (5, 9, None, [5, 6, 7, 8]), (-1, None, None, [-1, 0]), (None, 3, None, [1, 2]), (9, 9, None, []),
        (-10, 5000, None, list(range(-10, 1))),
        (None, None, 4, [1, 2, 3, 4]), (7, 5000, 1, [7]),
    ],
)  # fmt: skip
def test_start_is_inclusive_end_exclusive_and_the_rest_follows_the_offset(net, last, start, end, limit, wanted):
    # Up to 0 they are counted from the last one.
    start, wanted = start and start + last * (start <= 0), [place + last * (place <= 0) for place in wanted]
    history = lf.load_ledger_history(net, None, start=start, end=end, limit=limit, page_size=3)
    assert offsets(history) == wanted
    assert set(history.events.update_id) == set(history.transactions.update_id)
    following = history.transactions.attrs["offset"] + 1
    rest = lf.load_ledger_history(net, None, start=following, limit=2)
    assert offsets(rest) == [place for place in range(following, following + 2) if place <= last]


@pytest.mark.parametrize("part", [{"limit": 30}, {"end": 31}, {"end": 31, "limit": 30}], ids=str)
def test_a_state_after_the_end_of_a_part_is_refused(net, last, part):
    """A part says where it ends, as one of a scan does; what the participant showed last is no end."""
    history, whole = lf.load_ledger_history(net, None, **part), lf.load_ledger_history(net, None)
    assert offsets(history) == list(range(1, 31))
    at = whole.transactions.record_time.max()
    assert len(lf.active_contracts(whole, at=at, opening="nothing")) > 0
    with pytest.raises(lf.errors.PartialResultError, match="events reach up to"):
        lf.active_contracts(history, at=at, opening="nothing")
    lf.active_contracts(history, at=history.transactions.record_time.max(), opening="nothing")
    assert "end" not in lf.load_ledger_history(net, None, end=last + 2).events.attrs
    assert "end" not in lf.load_ledger_history(net, None, start=last, end=last).events.attrs


def test_offsets_that_the_participant_has_not_reached_are_said(net, last):
    assert lf.load_ledger_history(net, None, start=last, end=last + 1).events.attrs["complete"] is True
    assert lf.load_ledger_history(net, None, start=last, end=last + 2).events.attrs["complete"] is False
    nothing = lf.load_ledger_history(net, None, start=last + 1).events
    assert (len(nothing), nothing.attrs["offset"], nothing.attrs["complete"]) == (0, last, True)
    with pytest.raises(lf.errors.InputError, match=f"start={last + 2} is after .* {last}: give {last + 1} or less"):
        lf.load_ledger_history(net, None, start=last + 2)


def test_updates_that_arrive_meanwhile_are_left_to_the_next_load():
    with lf.sandbox(updates=30) as net:
        first = lf.load_ledger_history(net, None, page_size=4)
        net.sandbox.advance(updates=10)
        second = lf.load_ledger_history(net, None, start=first.events.attrs["offset"] + 1)
        last = net.sandbox.world.last_offset
    assert offsets(first) + offsets(second) == list(range(1, last + 1))
    assert 0 < len(offsets(first)) < last


def test_a_participant_that_dies_between_two_pages_is_replaced_from_the_beginning():
    dying, other = Participant("one", dies_at=3), Participant("two", offsets=list(range(3, 20, 2)))
    with connected(dying, Participant("new", dies_at=2), other) as net:
        history = lf.load_ledger_history(net, PARTY)
    assert offsets(history) == other.offsets
    assert {update[4:7] for update in history.transactions.update_id} == {"two"}
    assert len(history.events) == len(other.offsets)
    assert len(history.transactions.attrs["source"].split(", ")) == 1
    assert [asked.get("pageToken") for asked in other.asked] == [None, "two:7", "two:13"]
    assert history.transactions.attrs["offset"] == 19


def test_where_no_other_participant_is_left_the_error_is_raised_or_a_part_of_one_is_kept():
    with connected(Participant(dies_at=3)) as net, pytest.raises(lf.errors.ServerError):
        lf.load_ledger_history(net, PARTY)
    with connected(Participant(dies_at=3)) as net:
        part = lf.load_ledger_history(net, PARTY, allow_partial=True)
    assert offsets(part) == [1, 2, 3, 4, 5, 6]
    assert part.events.attrs["complete"] is False
    assert part.events.attrs["offset"] == 6


def test_a_token_that_its_giver_refuses_is_an_error_that_says_why():
    refused = r"refuses the page token.*to another participant.*one participant"
    forgetful = Participant(spoil=lambda _, made: made | {"nextPageToken": "another:3"})
    with connected(forgetful, Participant("two")) as net, pytest.raises(lf.errors.PagingError, match=refused):
        lf.load_ledger_history(net, PARTY)


def moved(page_number, name, by):
    """Answers whose page of this number has one member changed."""

    def spoil(number, made):
        return made | {name: made[name] + by} if number == page_number else made

    return spoil


def doubled(number, made):
    return made | {"updates": [*made["updates"], made["updates"][-1]]} if number == 2 else made


def from_before(number, made):
    made = copy.deepcopy(made)
    if number == 2:
        made["updates"][0]["update"]["Transaction"]["value"]["offset"] = 3
    return made


def repeating(_number, made):
    return made | {"nextPageToken": "one:3"}


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        pytest.param(moved(2, "lowestPageOffsetExclusive", 1), "begins after offset 4.*ended at 3.*missing", id="gap"),
        pytest.param(moved(2, "highestPageOffsetInclusive", -4), "ends at offset 2", id="end moved back"),
        pytest.param(moved(2, "highestPageOffsetInclusive", 90), "ends at offset 96", id="end beyond the range"),
        pytest.param(doubled, "offset 6, which is not after 6", id="an update twice"),
        pytest.param(from_before, "offset 3, which is not after 3", id="an update of the page before"),
        pytest.param(repeating, "repeats a page token|not after", id="a token again"),
    ],
)  # fmt: skip
def test_pages_that_contradict_each_other_are_refused(spoil, said):
    with connected(Participant(spoil=spoil)) as net, pytest.raises(lf.errors.PagingError, match=said):
        lf.load_ledger_history(net, PARTY)


def test_a_last_page_that_ends_early_leaves_the_rest_to_be_asked_for():
    def cut(number, made):
        return {name: value for name, value in made.items() if name != "nextPageToken"} if number == 1 else made

    participant = Participant(spoil=cut)
    with connected(participant) as net:
        assert offsets(lf.load_ledger_history(net, PARTY)) == participant.offsets
    assert participant.asked[1]["beginOffsetExclusive"] == 3
    assert "pageToken" not in participant.asked[1]


def test_a_pruned_participant_says_from_where_its_history_is_whole():
    with connected(Participant(pruned=4)) as net:
        history = lf.load_ledger_history(net, PARTY)
        assert offsets(history) == list(range(5, 11))
        assert history.transactions.attrs["after_offset"] == 4
        for start in (1, 2, 4):
            with pytest.raises(lf.errors.PartialResultError, match=r"pruned .* up to offset 4, .*: give start=5"):
                lf.load_ledger_history(net, PARTY, start=start)
        assert offsets(lf.load_ledger_history(net, PARTY, start=5)) == list(range(5, 11))
        part = lf.load_ledger_history(net, PARTY, start=2, allow_partial=True).events
        assert (len(part), part.attrs["complete"]) == (0, False)


def test_a_participant_that_prunes_while_it_is_read_is_no_other_participant():
    with connected(Participant(pruned=8, prunes_at=2)) as net:
        said = r"pruned its updates up to offset 8 while they were read: load again"
        with pytest.raises(lf.errors.PartialResultError, match=said):
            lf.load_ledger_history(net, PARTY)
    with connected(Participant(pruned=8, prunes_at=3, names_pruned=False)) as net:
        part = lf.load_ledger_history(net, PARTY, start=2, allow_partial=True)
        assert (offsets(part), part.transactions.attrs["complete"]) == ([2, 3, 4, 5, 6, 7], False)
        with pytest.raises(lf.errors.PartialResultError, match=r"its updates, and start=2 .*: give a later one"):
            lf.load_ledger_history(net, PARTY, start=2)


def test_an_update_of_an_unknown_kind_is_kept_and_a_checkpoint_is_no_update():
    def other_kinds(number, made):
        made = copy.deepcopy(made)
        if number == 1:
            made["updates"][0] = {"update": {"OffsetCheckpoint": {"value": {"offset": 1}}}}
            value = {"updateId": "1220new", "offset": 2, "recordTime": "2026-01-01T00:00:00Z", "who": "knows"}
            made["updates"][1] = {"update": {"Later": {"value": value}}}
        return made

    with connected(Participant(spoil=other_kinds)) as net:
        transactions, _ = lf.load_ledger_history(net, PARTY)
    assert list(transactions.offset) == list(range(2, 11))
    assert "knows" in transactions.extra[0]


@pytest.mark.parametrize(
    ("broken", "column"),
    [
        ({"updates": [{"update": {}}]}, None),
        ({"updates": [{"update": {"Transaction": {"value": {}}}}]}, "offset"),
        ({"updates": [{"update": {"Transaction": {"value": {"offset": 1}}}}]}, "update_id"),
        ({"updates": 5}, None),
        ({"highestPageOffsetInclusive": None}, None),
        ({"nextPageToken": 5}, None),
    ],
    ids=str,
)
def test_a_page_that_breaks_the_interface_is_a_decode_error(broken, column):
    spoiled = Participant(spoil=lambda _, made: made | broken)
    with connected(spoiled) as net, pytest.raises(lf.errors.DecodeError) as caught:
        lf.load_ledger_history(net, PARTY)
    assert caught.value.column == column


@pytest.mark.parametrize("given", ["start", "end", "at"])
def test_an_offset_means_nothing_to_several_participants(given):
    refused = pytest.raises(lf.errors.InputError, match=r"=5 is an offset.*2 of them: connect with the one")
    with connected(Participant(), Participant("two")) as net:
        with refused:
            (lf.load_ledger_contracts if given == "at" else lf.load_ledger_history)(net, PARTY, **{given: 5})
        assert net.stats.requests == 0


def test_a_long_history_wants_a_bound():
    with connected(Participant(offsets=list(range(1, 103)), page=1)) as net:
        with pytest.raises(
            lf.errors.InputError, match=r"more than 100 rows, 100 pages: give start=, end= or limit=.*102"
        ):
            lf.load_ledger_history(net, PARTY)
        assert len(lf.load_ledger_history(net, PARTY, limit=102).transactions) == 102
