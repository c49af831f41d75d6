"""What parties of a participant saw: nothing lost or twice, whatever its pages do, never two participants in one."""

import copy
import json
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import pytest

import ledgerframes as lf
from tests.asking import network
from tests.sandbox.asking import party_of
from tests.transport.hostile_server import HostileServer, answer, text

PARTY = ["a::1220"]
WHEN = "2026-01-01T00:00:00Z"
NEXT = "nextPageToken"


@dataclass
class Participant:
    """A participant that numbers updates in its own way; each creates a contract.

    Attributes:
        name: makes its tokens and its events differ from another participant's.
        offsets: the offsets of its updates.
        page: how many updates or contracts a page has.
        dies_at: the number of the page request, from 1, from which every answer is 503; 0 never.
        spoil: changes an answer before it is sent, by the number of the page request.
        pruned: the offset up to which it has pruned its updates …
        prunes_at: … from this page request on, from 1.
        names_pruned: whether its error names that offset.
        asked: the bodies of page requests.
    """

    name: str = "one"
    offsets: list[int] = field(default_factory=lambda: list(range(1, 11)))
    page: int = 3
    dies_at: int = 0
    spoil: Any = None
    pruned: int = 0
    prunes_at: int = 1
    names_pruned: bool = True
    asked: list[dict[str, Any]] = field(default_factory=list)

    def answer(self, heard):
        paged = heard.path != "/v2/state/ledger-end"
        self.asked += [heard.json] if paged else []
        if self.dies_at and len(self.asked) >= self.dies_at:
            return text("gone", 503)
        if not paged:
            return answer({"offset": max(self.offsets)})
        body = self.asked[-1]
        giver, _, place = (body.get("pageToken") or f"{self.name}:").partition(":")
        if giver != self.name:
            return refused("INVALID_ARGUMENT", "pageToken belongs to another participant", 8)
        low, at = int(place or body.get("beginOffsetExclusive", 0)), body.get("activeAtOffset")
        pruned = self.pruned if len(self.asked) >= self.prunes_at else 0
        # A history from 0 begins where it is whole; any other offset before that is refused.
        if 0 < (low if at is None else at) < pruned:
            context = {"earliest_offset": str(pruned)} if self.names_pruned else {}
            cause = f"the request precedes pruned offset {pruned}"
            return refused("PARTICIPANT_PRUNED_DATA_ACCESSED", cause, 9, **context)
        made = self.contracts(at, low) if at is not None else self.updates(max(low, pruned), body["endOffsetInclusive"])
        return answer(self.spoil(len(self.asked), made) if self.spoil else made)

    def updates(self, low, end):
        left = [place for place in self.offsets if low < place <= end]
        high = left[self.page - 1] if len(left) > self.page else end
        shown = [
            {
                "updateId": f"1220{self.name}{place}", "offset": place, "synchronizerId": "s::1220",
                "recordTime": WHEN, "effectiveAt": WHEN, "events": [{"CreatedEvent": self.creation(place)}],
            }
            for place in left[: self.page]
        ]  # fmt: skip
        updates = [{"update": {"Transaction": {"value": one}}} for one in shown]
        bounds = {"lowestPageOffsetExclusive": low, "highestPageOffsetInclusive": high}
        return {"updates": updates, **bounds, **({NEXT: f"{self.name}:{high}"} if high < end else {})}

    def contracts(self, at, first):
        left = [place for place in self.offsets if place <= at]
        shown = [
            {"createdEvent": self.creation(place), "synchronizerId": "s::1220", "reassignmentCounter": 0}
            for place in left[first : first + self.page]
        ]
        entries = [{"workflowId": "", "contractEntry": {"JsActiveContract": one}} for one in shown]
        more = {NEXT: f"{self.name}:{first + self.page}"} if len(left) > first + self.page else {}
        return {"activeContracts": entries, "activeAtOffset": at, **more}

    def creation(self, place):
        return {
            "offset": place, "nodeId": 0, "contractId": f"00{self.name}{place}",
            "templateId": f"{'ab' * 32}:Some:Template", "packageName": "some", "createArgument": {"of": self.name},
            "createdAt": WHEN, "signatories": PARTY, "observers": [], "witnessParties": PARTY,
        }  # fmt: skip


def refused(code, cause, category, **context):
    return answer({"code": code, "cause": cause, "context": context, "errorCategory": category}, 400)


@contextmanager
def connected(*participants):
    """A network whose ledger interface has these participants, the first one preferred."""
    with ExitStack() as stack:
        urls = tuple(stack.enter_context(HostileServer(one.answer)).url for one in participants)
        yield stack.enter_context(network(ledger_url=urls, ledger_token="t0ken-of-the-test", attempts=2))


def offsets(history):
    return list(history.transactions.offset)


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
    assert {frame.attrs["range"] for frame in history} == {"offsets 1 to 19"}


def test_where_no_other_participant_is_left_the_error_is_raised_or_a_part_of_one_is_kept():
    with connected(Participant(dies_at=3)) as net, pytest.raises(lf.errors.ServerError):
        lf.load_ledger_history(net, PARTY)
    with connected(Participant(dies_at=3)) as net:
        part = lf.load_ledger_history(net, PARTY, allow_partial=True)
    assert offsets(part) == [1, 2, 3, 4, 5, 6]
    assert part.events.attrs["complete"] is False
    assert part.events.attrs["offset"] == 6


def second(change):
    """Answers whose second page is changed."""
    return lambda number, made: change(copy.deepcopy(made)) if number == 2 else made


def moved(name, by):
    return second(lambda made: made | {name: made[name] + by})


def doubled(name, place):
    """The second page has an item twice."""
    return second(lambda made: made | {name: [*made[name], made[name][place]]})


@second
def from_before(made):
    made["updates"][0]["update"]["Transaction"]["value"]["offset"] = 3
    return made


CONTRADICTIONS = {
    "gap": ("history", moved("lowestPageOffsetExclusive", 1), "begins after offset 4.*ended at 3.*missing"),
    "end moved back": ("history", moved("highestPageOffsetInclusive", -4), "ends at offset 2"),
    "end beyond the range": ("history", moved("highestPageOffsetInclusive", 90), "ends at offset 96"),
    "an update twice": ("history", doubled("updates", -1), "offset 6, which is not after 6"),
    "an update of the page before": ("history", from_before, "offset 3, which is not after 3"),
    "a token again": ("history", lambda _, made: made | {NEXT: "one:3"}, "repeats a page token|not after"),
    "a token that its giver refuses": (
        "history", lambda _, made: made | {NEXT: "another:3"}, "refuses the page token.*to another.*one participant",
    ),
    "a later snapshot": ("contracts", moved("activeAtOffset", 1), "snapshot at offset 11, not 10"),
    "a contract twice": ("contracts", doubled("activeContracts", 0), "00one4 comes twice"),
}  # fmt: skip


def load(what, net, **options):
    return getattr(lf, f"load_ledger_{what}")(net, PARTY, **options)


@pytest.mark.parametrize(("what", "spoil", "said"), CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_pages_that_contradict_each_other_are_refused(what, spoil, said):
    with (
        connected(Participant(spoil=spoil), Participant("two")) as net,
        pytest.raises(lf.errors.PagingError, match=said),
    ):
        load(what, net)


ENTRIES = [{"JsActiveContract": one} for one in ({}, {"createdEvent": {}}, 5)] + [{"A": {}, "B": {}}]


@pytest.mark.parametrize(
    ("what", "broken", "column"),
    [
        ("history", {"updates": [{"update": {}}]}, None),
        ("history", {"updates": [{"update": {"Transaction": {"value": {}}}}]}, "offset"),
        ("history", {"updates": [{"update": {"Transaction": {"value": {"offset": 1}}}}]}, "update_id"),
        ("history", {"updates": 5}, None),
        ("history", {"highestPageOffsetInclusive": None}, None),
        ("history", {NEXT: 5}, None),
        *(("contracts", {"activeContracts": [{"contractEntry": entry}]}, ...) for entry in ENTRIES),
    ],
    ids=str,
)
def test_a_page_that_breaks_the_interface_is_a_decode_error(what, broken, column):
    page = "active-contracts-page" if what == "contracts" else "get-updates-page"
    spoiled = Participant(spoil=lambda _, made: made | broken)
    with connected(spoiled) as net, pytest.raises(lf.errors.DecodeError, match=page) as caught:
        load(what, net)
    assert column in (caught.value.column, ...)


def test_a_last_page_that_ends_early_leaves_the_rest_to_be_asked_for():
    def cut(number, made):
        return {name: value for name, value in made.items() if name != NEXT} if number == 1 else made

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


def test_contracts_at_an_offset_that_was_pruned_are_refused_with_the_first_that_is_there():
    with connected(Participant(pruned=8)) as net:
        with pytest.raises(lf.errors.PartialResultError, match=r"offset 8, and at=5 .*: give at=8 or a later one"):
            load("contracts", net, at=5)
        assert len(load("contracts", net, at=8)) == 8
    said = pytest.raises(lf.errors.PartialResultError, match="has pruned its updates while they were read")
    with connected(Participant(pruned=11, prunes_at=2, names_pruned=False)) as net, said:
        load("contracts", net)


def test_an_update_of_an_unknown_kind_is_kept_and_what_is_no_update_or_contract_is_no_row():
    def other_kinds(number, made):
        if number == 1:
            value = {"updateId": "1220new", "offset": 2, "recordTime": WHEN, "who": "knows"}
            kinds = ({"OffsetCheckpoint": {"value": {"offset": 1}}}, {"Later": {"value": value}})
            made = made | {"updates": [*({"update": one} for one in kinds), *made.get("updates", ())[2:]]}
            made |= {"activeContracts": [{"contractEntry": {"JsEmpty": {}}}, {}]}
        return made

    with connected(Participant(spoil=other_kinds)) as net:
        transactions, _ = load("history", net)
    assert list(transactions.offset) == list(range(2, 11))
    assert "knows" in transactions.extra[0]
    with connected(Participant(spoil=other_kinds)) as net:
        assert len(load("contracts", net)) == 7


@pytest.mark.parametrize(("what", "given"), [("history", "start"), ("history", "end"), ("contracts", "at")])
def test_an_offset_means_nothing_to_several_participants(what, given):
    with connected(Participant(), Participant("two")) as net:
        with pytest.raises(lf.errors.InputError, match=r"=5 is an offset.*2 of them: connect with the one"):
            load(what, net, **{given: 5})
        assert net.stats.requests == 0


def test_many_pages_want_a_bound_and_a_limit_stops_the_requests():
    participant = Participant(offsets=list(range(1, 103)), page=1)
    with connected(participant) as net:
        for what, bounds in (("history", "start=, end= or limit=.*102"), ("contracts", "limit=")):
            with pytest.raises(lf.errors.InputError, match=f"more than 100 rows, 100 pages: give {bounds}"):
                load(what, net)
        assert len(load("history", net, limit=102).transactions) == 102
        asked = len(participant.asked)
        assert len(load("contracts", net, limit=2, page_size=1)) == 2
        assert [body.get("maxPageSize") for body in participant.asked[asked - 1 :]] == [None, 1, 1]


@pytest.fixture(scope="module")
def last(small):
    """The offset of the last update: the ledger has more of them than its scan shows."""
    return small.sandbox.world.last_offset


@pytest.fixture(scope="module")
def whole(small):
    return lf.load_ledger_history(small, None)


@pytest.fixture(scope="module")
def contracts(small):
    return lf.load_ledger_contracts(small, None)


@pytest.mark.long
def test_every_update_comes_once_in_the_order_of_offsets_whatever_the_size_of_a_page(small, last):
    ids = set(lf.load_updates(small, limit=200, progress=False).update_id)
    for size in (None, 1, 7, 1000):
        history = lf.load_ledger_history(small, None, page_size=size, limit=1000)
        assert offsets(history) == list(range(1, last + 1))
        assert set(history.transactions.update_id) > ids
        assert history.transactions.event_count.sum() == len(history.events)
        assert (history.transactions.attrs["after_offset"], history.transactions.attrs["offset"]) == (0, last)
        assert history.events.attrs["complete"] is True


def test_an_update_of_a_page_is_the_one_that_is_looked_up(small, whole):
    assert {"CreatedEvent", "ExercisedEvent", "JsAssignmentEvent", "JsUnassignedEvent"} <= set(whole.events.kind)
    for row in whole.transactions.to_dict("records")[::37]:
        single = lf.load_ledger_transaction(small, row["update_id"])
        for found, seen in zip(single, whole, strict=True):
            mine = seen[seen.update_id == row["update_id"]].reset_index(drop=True)
            pd.testing.assert_frame_equal(found, mine, check_dtype=False)


def test_computed_tables_of_a_participants_history_are_those_of_the_scans(small, whole, contracts):
    """Times and days too, and where a contract is: a participant says when an update was sequenced, and shows legs."""
    own, shown = whole, lf.load_history(small, progress=False)
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
    told = contracts.set_index("contract_id")
    assert contracts.attrs["offset"] == small.sandbox.world.last_offset
    assert set(active.index) == set(told.index)
    settled = told[(told.kind == "JsActiveContract") & ~told.index.duplicated(keep=False)]
    same = active.loc[settled.index]
    assert list(same.synchronizer_id) == list(settled.synchronizer_id)
    assert list(same.reassignment_counter) == list(settled.reassignment_counter)
    assert set(active.index[active.in_flight]) == set(told.index[told.kind == "JsIncompleteUnassigned"])


def test_a_party_gets_its_own_view_and_another_ones_is_denied(small, last, whole, contracts):
    token, alice = small.sandbox.token("alice"), party_of(small.sandbox, "alice")
    with lf.connect(ledger_url=small.sandbox.ledger_url, token=token) as alone:
        history, mine = lf.load_ledger_history(alone, [alice]), lf.load_ledger_contracts(alone, [alice])
        seen = whole.events[[alice in (parties or ()) for parties in whole.events.witness_parties]]
        assert 0 < len(history.transactions) < last
        assert set(history.transactions.update_id) == set(seen.update_id)
        assert len(history.events) == len(seen)
        with pytest.raises(lf.errors.NotAuthorizedError):
            lf.load_ledger_history(alone, [party_of(small.sandbox, "bob")])
    stake = [alice in {*row.signatories, *row.observers} for row in contracts.itertuples()]
    assert 0 < len(mine) < len(contracts)
    assert set(mine.contract_id) == set(contracts.contract_id[stake])


@pytest.mark.parametrize(
    ("start", "end", "limit", "wanted"),
    [
        (5, 9, None, [5, 6, 7, 8]), (-1, None, None, [-1, 0]), (None, 3, None, [1, 2]), (9, 9, None, []),
        (-10, 5000, None, list(range(-10, 1))),
        (None, None, 4, [1, 2, 3, 4]), (7, 5000, 1, [7]),
    ],
)  # fmt: skip
def test_start_is_inclusive_end_exclusive_and_the_rest_follows_the_offset(small, last, start, end, limit, wanted):
    # Up to 0 they are counted from the last one.
    start, wanted = start and start + last * (start <= 0), [place + last * (place <= 0) for place in wanted]
    history = lf.load_ledger_history(small, None, start=start, end=end, limit=limit, page_size=3)
    assert offsets(history) == wanted
    assert set(history.events.update_id) == set(history.transactions.update_id)
    following = history.transactions.attrs["offset"] + 1
    rest = lf.load_ledger_history(small, None, start=following, limit=2)
    assert offsets(rest) == [place for place in range(following, following + 2) if place <= last]


@pytest.mark.parametrize("part", [{"limit": 30}, {"end": 31}, {"end": 31, "limit": 30}], ids=str)
def test_a_state_after_the_end_of_a_part_is_refused(small, whole, part):
    """A part says where it ends, as one of a scan does; what the participant showed last is no end."""
    history = lf.load_ledger_history(small, None, **part)
    assert offsets(history) == list(range(1, 31))
    at = whole.transactions.record_time.max()
    assert len(lf.active_contracts(whole, at=at, opening="nothing")) > 0
    with pytest.raises(lf.errors.PartialResultError, match="events reach up to"):
        lf.active_contracts(history, at=at, opening="nothing")
    lf.active_contracts(history, at=history.transactions.record_time.max(), opening="nothing")


def test_offsets_that_the_participant_has_not_reached_are_said(small, last):
    ends = (last, last + 1, last + 2)
    shown = [lf.load_ledger_history(small, None, start=last, end=end).events.attrs for end in ends]
    assert [attrs["complete"] for attrs in shown] == [True, True, False]
    assert ["end" in attrs for attrs in shown] == [False, True, False]
    nothing = lf.load_ledger_history(small, None, start=last + 1).events
    assert (len(nothing), nothing.attrs["offset"], nothing.attrs["complete"]) == (0, last, True)
    with pytest.raises(lf.errors.InputError, match=f"start={last + 2} is after .* {last}: give {last + 1} or less"):
        lf.load_ledger_history(small, None, start=last + 2)
    with pytest.raises(lf.errors.InputError, match=f"at={last + 1} is after the participant's newest offset {last}"):
        lf.load_ledger_contracts(small, None, at=last + 1)


def test_updates_that_arrive_meanwhile_are_left_to_the_next_load():
    with lf.sandbox(updates=30) as net:
        first = lf.load_ledger_history(net, None, page_size=4)
        net.sandbox.advance(updates=10)
        second = lf.load_ledger_history(net, None, start=first.events.attrs["offset"] + 1)
        last = net.sandbox.world.last_offset
    assert offsets(first) + offsets(second) == list(range(1, last + 1))
    assert 0 < len(offsets(first)) < last


@pytest.mark.parametrize("at", [137, 0])
def test_the_active_contracts_are_those_that_the_history_leaves(small, at):
    contracts = lf.load_ledger_contracts(small, None, at=at, page_size=50)
    history = lf.load_ledger_history(small, None, end=at + 1)
    left = lf.active_contracts(history, opening="nothing")
    active = contracts[contracts.kind == "JsActiveContract"]
    assert set(active.contract_id) == set(left.contract_id[~left.in_flight])
    assert (contracts.attrs["offset"], contracts.attrs["complete"]) == (at, True)
    assert active.synchronizer_id.notna().all()


def test_a_contract_is_as_its_creation_or_assignment_has_it(whole, contracts):
    # A contract that has arrived before it was seen leaving has two entries.
    contracts = contracts[~contracts.contract_id.duplicated(keep=False)].set_index("contract_id")
    events = whole.events
    creations = events[events.kind.isin(["CreatedEvent", "JsAssignmentEvent"])].groupby("contract_id").last()
    both = contracts.join(creations.add_suffix("_event"), how="inner")
    assert len(both) == len(contracts)
    for name in ("offset", "node_id", "template_id", "package_name", "created_at", "signatories", "payload"):
        assert (both[name] == both[f"{name}_event"]).all(), name


@pytest.mark.long
def test_a_contract_in_flight_is_told_with_its_way(hour):
    states = [lf.load_ledger_contracts(hour, None, at=at) for at in (None, *range(20, 600, 20))]
    rows = [row for frame in states for row in frame[frame.kind != "JsActiveContract"].itertuples()]
    assert {row.kind for row in rows} >= {"JsIncompleteUnassigned"}
    for row in rows:
        assert row.source_synchronizer
        assert row.target_synchronizer
        assert row.reassignment_counter >= 1
        assert row.reassignment_id
        if row.kind == "JsIncompleteUnassigned":
            assert json.loads(row.extra)["/unassignedEvent"]["offset"] > row.offset


def test_an_update_shows_the_views_of_the_interfaces_asked_for(small):
    holding = "#splice-api-token-holding-v1:Splice.Api.Token.HoldingV1:Holding"
    shown = lf.load_events(small, progress=False)
    wanted = shown[(shown.template_name == "Splice.Amulet:Amulet") & (shown.event_type == "created_event")].iloc[0]
    for interfaces in ([holding], []):
        events = lf.load_ledger_transaction(small, wanted.update_id, interfaces=interfaces).events
        # The same update may archive the coin, too.
        event, *others = events[events.contract_id == wanted.contract_id].itertuples()
        views = json.loads(event.interface_views)
        assert all(pd.isna(other.interface_views) for other in others)
        assert [one.partition(":")[2] for one in event.view_interfaces] == [holding.partition(":")[2]] * len(views)
        assert "interfaceViews" not in (event.extra or "")
        assert len(views) == len(interfaces)
        payload = json.loads(wanted.payload)
        for view in views:
            assert (view["viewStatus"]["code"], view["viewValue"]["owner"]) == (0, payload["owner"])
            assert view["viewValue"]["amount"] == payload["amount"]["initialAmount"]
