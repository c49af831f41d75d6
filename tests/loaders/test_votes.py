"""Votes as a scan has them are those of its history, page by page and id by id."""

import json

import pandas as pd
import pytest

import ledgerframes as lf
from tests.asking import forwarded, reply
from tests.transport.hostile_server import HostileServer


@pytest.fixture(scope="module")
def net():
    with lf.sandbox(seed=4, updates=5_000) as opened:
        yield opened


@pytest.fixture(scope="module")
def whole(net):
    return lf.load_votes(net)


def test_loaded_votes_are_those_of_the_history(net, whole):
    computed = lf.votes(lf.load_history(net, start="begin", as_="arrow", progress=False))
    loaded, wanted = (votes.sort_values("reason_url").reset_index(drop=True) for votes in (whole, computed))

    same = [name for name in wanted if name not in {"request", "party", "opened_at"}]
    pd.testing.assert_frame_equal(loaded[same], wanted[same])
    assert len(loaded) > 5
    assert loaded.outcome.isin(["open"]).any()
    # What a scan does not state is null.
    for name in ("request", "opened_at"):
        known = loaded[name].notna()
        assert loaded[name][known].tolist() == wanted[name][known].tolist()
    assert loaded.attrs["not_understood"] == {}
    assert loaded.attrs["source"] == net.sandbox.scan_url
    pd.testing.assert_frame_equal(lf.load_votes(net, page_size=3), whole)


def test_some_requests_are_asked_for_by_their_ids(net, whole):
    wanted = whole.request.dropna().tolist()
    open_one = whole[whole.outcome == "open"].request.item()

    assert {*lf.load_votes(net, requests=[*wanted[:2], "nothing"]).request} == {*wanted[:2]}
    before = net.stats.requests
    many = lf.load_votes(net, requests=[open_one, *(f"no {number}" for number in range(2_000))])
    assert many.request.tolist() == [open_one]
    assert net.stats.requests - before == 4
    assert lf.load_votes(net, limit=1).shape[0] == 1


@pytest.fixture
def older(net):
    """A scan of a release whose results of votes have no pages."""

    def without_tokens(heard):
        answer = forwarded(net.sandbox.url, heard)
        body = json.loads(answer.body)
        return reply({name: value for name, value in body.items() if name != "next_page_token"})

    with HostileServer(without_tokens) as server:
        yield lf.connect(scan_url=f"{server.url}/api/scan")


def test_a_full_page_of_a_scan_without_pages_may_not_be_all(net, whole, older):
    closed = int((whole.outcome != "open").sum())
    assert len(lf.load_votes(older, page_size=closed + 1)) == len(whole)
    for size in (closed, closed - 1, 1):
        assert len(lf.load_votes(net, page_size=size)) == len(whole)
        with pytest.raises(lf.errors.PartialResultError, match=f"{size} results of votes.* a larger page_size="):
            lf.load_votes(older, page_size=size)
        part = lf.load_votes(older, page_size=size, allow_partial=True)
        assert ((part.outcome != "open").sum(), part.attrs["complete"]) == (size, False)
    assert lf.load_votes(older, page_size=closed, limit=2).attrs["complete"]
