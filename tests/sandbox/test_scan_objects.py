"""The history as objects: a list and a download write objects, and others are answered meanwhile."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from ledgerframes.sandbox.server import start
from ledgerframes.sandbox.world import objects
from ledgerframes.sandbox.world.objects import compressed
from tests.sandbox.asking import ask

SNAPSHOT = "/v0/history/bulk/acs?at_or_before_record_time=2100-01-01T00:00:00Z"
LIST = "/v0/history/bulk/updates"
ALL = {"start_record_time": "1970-01-01T00:00:00Z", "end_record_time": "2100-01-01T00:00:00Z", "page_size": 1_000}


@pytest.fixture(scope="module")
def sandbox():
    with start(updates=800, migrations=1) as running:
        yield running


def listed(sandbox):
    return [ref["url"] for ref in ask(sandbox.scan_url + LIST, ALL).json["object_refs"]]


def test_a_download_writes_no_other_object(sandbox, monkeypatch):
    monkeypatch.setattr(objects, "OBJECT_ITEMS", 20)
    url, written = next(url for url in listed(sandbox) if url.endswith("_1.zstd")), []
    monkeypatch.setattr(objects, "compressed", lambda items: written.append(items) or compressed(items))

    # Another server over the same ledger has written nothing yet.
    with sandbox.replica() as other:
        assert ask(url.replace(sandbox.url, other.url)).status == 200

    assert len(written) == 1


@pytest.mark.parametrize("route", ["updates", "snapshot", "download"])
def test_others_are_answered_while_an_object_is_written(sandbox, monkeypatch, route):
    writing, answered = threading.Event(), threading.Event()

    def write(items):
        writing.set()
        assert answered.wait(60)
        return compressed(items)

    url, *_ = listed(sandbox)
    with sandbox.replica() as other, ThreadPoolExecutor(1) as pool:
        monkeypatch.setattr(objects, "compressed", write)
        asked = {
            "updates": (other.scan_url + LIST, ALL),
            "snapshot": (other.scan_url + SNAPSHOT, None),
            "download": (url.replace(sandbox.url, other.url), None),
        }
        answer = pool.submit(ask, *asked[route])
        assert writing.wait(60)
        with sandbox.world.lock:
            pass
        assert ask(other.scan_url + "/v2/updates", {"page_size": 1}).status == 200
        answered.set()
        assert answer.result().status == 200


def test_an_object_of_a_snapshot_is_found_though_it_was_not_listed(sandbox):
    url = ask(sandbox.scan_url + SNAPSHOT).json["object_refs"][0]["url"]

    with sandbox.replica() as other:
        assert ask(url.replace(sandbox.url, other.url)).body == ask(url).body
