"""Pages by tokens: those without end are refused within a hundred requests, and a token goes only to its giver."""

import itertools

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.config.settings import INTERFACES
from tests.asking import asking_one, network
from tests.loaders.snapshot_scan import created, history_of_one, scan
from tests.transport.hostile_server import HostileServer, answer, text

#: What a page shows, by its number.
KINDS = {
    "the same page": lambda _number: [0, 1],
    "empty pages": lambda _number: [],
    "three pages in turn": lambda number: [2 * (number % 3), 2 * (number % 3) + 1],
    "nothing new after forty": lambda number: [min(number, 40)],
}
ITEMS = {
    "validator_licenses": lambda number: {
        "contract_id": f"00{number}", "template_id": "ab:Splice.ValidatorLicense:ValidatorLicense",
        "payload": {"validator": f"v{number}", "sponsor": "s", "dso": "d"}, "created_event_blob": "",
        "created_at": "2026-01-30T05:00:00Z",
    },
    "instruments": lambda number: {
        "id": f"i{number}", "name": "n", "symbol": "s", "decimals": 10, "supportedApis": {},
    },
    "users": lambda number: {"id": f"u{number}", "isDeactivated": False},
}  # fmt: skip
LICENSES, INSTRUMENTS, USERS = (*ITEMS,)
FOLLOWING = {LICENSES: "next_page_token", INSTRUMENTS: "nextPageToken", USERS: "nextPageToken"}
LISTS = {
    "load_licenses": (LICENSES, lf.load_licenses),
    "load_instruments": (INSTRUMENTS, lf.load_instruments),
    "load_users": (USERS, lf.load_users),
}
SNAPSHOTS = {"load_active_contracts": lf.load_active_contracts, "load_coins": lambda net: lf.load_coins(net, ["o"])}


def endless(member, shown):
    """Replies with one page after another, each with a token of its own."""
    pages, item, following = itertools.count(), ITEMS[member], FOLLOWING[member]

    def reply(_heard):
        number = next(pages)
        token = number + 1 if following == "next_page_token" else f"token-{number + 1}"
        about = {"adminId": "issuer::1", "supportedApis": {}}  # a registry says it of itself
        return answer({member: [item(one) for one in shown(number)], following: token, **about})

    return reply


def snapshots(shown):
    numbers = itertools.count()

    def page(after):
        number = next(numbers)
        return {
            "created_events": [created(one) for one in shown(number)], "next_page_token": (after or 0) + 1 + number % 2,
        }  # fmt: skip

    return scan(page)


@pytest.mark.parametrize(
    ("load", "shown"),
    [*((load, KINDS["the same page"]) for load in LISTS), *(("load_users", shown) for shown in [*KINDS.values()][1:])],
)
def test_a_list_without_end_is_refused(load, shown):
    member, call = LISTS[load]
    with HostileServer(endless(member, shown)) as server, asking_one(server.url) as net:
        with pytest.raises(lf.errors.PagingError, match=r"(?s)nothing new.*Ask another server"):
            call(net)
        assert len(server.heard) <= 140 if shown is KINDS["nothing new after forty"] else len(server.heard) <= 100


def test_what_a_partial_result_holds_comes_once():
    with HostileServer(endless(USERS, KINDS["three pages in turn"])) as server, asking_one(server.url) as net:
        users = lf.load_users(net, allow_partial=True)
    assert users.user_id.tolist() == [f"u{number}" for number in range(6)]
    assert users.attrs["complete"] is False


def numbered(numbers, first, member, dies_at=0):
    """Replies with pages of two items, by a token that is a number of this server's own, as a row of its database."""
    asked, following = itertools.count(1), FOLLOWING[member]

    def reply(heard):
        if next(asked) == dies_at:
            reply.dead = True
        if reply.dead:
            return text("gone", 503)
        token = heard.query.get("after") or heard.query.get("pageToken") or first
        place = max(0, int(token) - first)
        more = {following: (following == "next_page_token" and first + place + 2) or str(first + place + 2)}
        items = [ITEMS[member](number) for number in numbers[place : place + 2]]
        return answer({member: items, **(more if place + 2 < len(numbers) else {})})

    reply.dead = False
    return reply


@pytest.mark.parametrize("load", [name for name in LISTS if name != "load_instruments"])
def test_a_token_is_not_sent_to_another_server_than_the_one_that_gave_it(load):
    member, call = LISTS[load]
    scripts = [numbered(range(7), 100, member, dies_at=3), numbered([*range(6, -1, -1)], 103, member)]
    with HostileServer(scripts[0]) as dying, HostileServer(scripts[1]) as other:
        urls = {f"{interface}_url": (dying.url, other.url) for interface in INTERFACES}
        with network(**urls, ledger_token="t0ken-of-the-test", attempts=3) as net:
            frame = call(net)
    assert [*frame.iloc[:, 0].str[-1]] == [*map(str, range(6, -1, -1))]
    assert (frame.attrs["source"], frame.attrs["complete"]) == (other.url, True)


@pytest.mark.parametrize(
    ("load", "kind"), [("load_coins", "the same page"), *(("load_active_contracts", kind) for kind in [*KINDS][:3])]
)
def test_a_snapshot_without_end_is_refused(load, kind):
    with HostileServer(snapshots(KINDS[kind])) as server, asking_one(f"{server.url}/api/scan") as net:
        with pytest.raises(lf.errors.PagingError, match="Ask another"):
            SNAPSHOTS[load](net)
        assert len(server.heard) <= 100


@pytest.mark.parametrize(("start", "apart"), [("begin", "1us"), ("2020-01-01", "3h")])
def test_snapshots_without_end_are_refused(apart, start):
    def reply(heard):
        if heard.target.endswith("/v2/updates"):
            return history_of_one(heard)
        before = pd.Timestamp(heard.query["before"])
        return answer({"record_time": f"{before - pd.Timedelta(apart):%Y-%m-%dT%H:%M:%S.%fZ}"})

    with HostileServer(reply) as server, asking_one(server.url) as net:
        with pytest.raises(lf.errors.PagingError, match=r"nothing new|more than any network"):
            lf.snapshot_times(net, start=start)
        assert len(server.heard) <= 100


@pytest.mark.parametrize(("load", "token"), [("load_licenses", 5), ("load_instruments", "5"), ("load_users", 5)])
def test_a_token_is_sent_back_whether_it_came_as_a_number_or_as_text(load, token):
    member, call = LISTS[load]
    numbers = itertools.count()

    def reply(heard):
        if heard.target.endswith("/info"):
            return answer({"adminId": "issuer::1", "supportedApis": {}})
        number = next(numbers)
        return answer({member: [ITEMS[member](number)], FOLLOWING[member]: None if number else token})

    with HostileServer(reply) as server, asking_one(server.url) as net:
        assert len(call(net)) == 2
    assert server.heard[-1].query["after" if load == "load_licenses" else "pageToken"] == "5"
