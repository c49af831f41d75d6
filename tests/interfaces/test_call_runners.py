"""`net.scan.preview` and `net.scan.raw` have the methods of `net.scan`, run without sending or without decoding."""

from __future__ import annotations

import inspect

import pytest

import ledgerframes as lf
from ledgerframes.interfaces.catalogue import CALLS, NEIGHBOURS
from ledgerframes.interfaces.ledger import Ledger
from tests.interfaces.served_answers import Reply, far, nowhere


@pytest.fixture(scope="module")
def net():
    with lf.sandbox(updates=60) as network:
        yield network


def test_a_preview_is_the_request_unsent(net):
    before = net.stats.requests

    seen = net.scan.preview.updates(page_size=10)

    assert seen == net.scan.preview("updates", page_size=10)
    assert (seen.method, seen.body) == ("POST", b'{"page_size":10}')
    assert net.stats.requests == before


def test_a_raw_answer_is_the_body_that_the_call_decodes(net):
    answer = net.scan.raw.updates(page_size=10)

    assert answer is not None
    assert answer.value == net.scan.updates(page_size=10).raw
    assert answer.value == net.scan.raw("updates", page_size=10).value


def test_a_preview_checks_its_arguments_like_the_call(net):
    with pytest.raises(lf.InputError, match="page_size=0"):
        net.scan.preview.updates(page_size=0)
    with pytest.raises(TypeError, match="pagesize"):
        net.scan.preview.updates(pagesize=3)


@pytest.mark.parametrize("call", [served.call for served in (*CALLS, *NEIGHBOURS)])
def test_every_call_has_the_same_signature_whichever_way_it_runs(net, call):
    interface, _, name = call.partition(".")
    calls = getattr(net, interface)
    signatures = [inspect.signature(getattr(way, name)) for way in (calls, calls.preview, calls.raw)]

    assert signatures[0] == signatures[1] == signatures[2]
    assert "self" not in signatures[0].parameters
    assert getattr(calls, name).__doc__


def test_a_raw_answer_is_none_where_a_404_stands_for_nothing():
    absent = Reply({"error": "no preapproval"}, 404)

    with far(**{"bob%3A%3A1": absent, "all": absent}) as there:
        assert there.validator.transfer_preapproval("bob::1") is None
        assert there.validator.raw.transfer_preapproval("bob::1") is None
        with pytest.raises(lf.NotFoundError):
            there.validator.raw.name_entries()


def test_a_preview_knows_whether_there_is_a_token_to_take_the_user_from():
    with pytest.raises(lf.InputError, match="user_id=None"):
        Ledger(nowhere(), has_token=False).preview.submit_reassignment([], command_id="c", submitter="a::1")
