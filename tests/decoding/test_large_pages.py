"""Pages at the limits of size: both decoders read them, and say the same."""

import pytest

from ledgerframes.decoding import history
from ledgerframes.decoding.compiled.choice import VARIABLE
from ledgerframes.decoding.pages import ParsedPage, batches_of, decode_page, page_index_of, parse_page
from ledgerframes.decoding.splitting import raws_of
from tests.decoding.items import created, exercised, page_of, page_of_texts, to_json, transaction

pytestmark = pytest.mark.soak


def check(body):
    page = parse_page(body)
    assert isinstance(page, ParsedPage)
    assert page.left == {}
    ours, theirs = decode_page(page).batches, history.decode_page(body).batches
    for name, batch in theirs.items():
        ours[name].validate(full=True)
        assert ours[name].equals(batch, check_metadata=True), name
    return ours


def test_a_page_of_256_megabytes(monkeypatch):
    monkeypatch.setenv(VARIABLE, "compiled")
    (item,) = raws_of(page_of(transaction(events={"u:1": {"create_arguments": {"text": "x" * 20_000}}})))
    count = 256_000_000 // len(item)
    body = b'{"transactions":[' + b",".join(item.replace(b'"u"', b'"u%d"' % at) for at in range(count)) + b"]}"
    assert len(body) > 255_000_000
    assert check(body)["updates"].num_rows == count
    assert len(page_index_of(parse_page(body)).cursors) == count


def test_a_transaction_of_a_million_events(monkeypatch):
    monkeypatch.setenv(VARIABLE, "compiled")
    count = 1_000_000
    leaf, middle = (to_json(event).replace("u:1", "u:%d") for event in (created("u:1"), exercised("u:1", ["LIST"])))
    root = to_json(exercised("u:0", [f"u:{at}" for at in range(1, count, 2)]))
    # Every second event has the next one as its child, and the map is sorted as text, as servers send it.
    events = {"u:0": root}
    for at in range(1, count):
        own = middle.replace("LIST", f"u:{at + 1}") if at % 2 and at + 1 < count else leaf
        events[f"u:{at}"] = own % ((at,) * own.count("%d"))
    text = ",".join(f'"{key}":{events[key]}' for key in sorted(events))
    body = page_of(transaction(root_event_ids=["u:0"], events_by_id={})).replace(
        b'"events_by_id":{}', f'"events_by_id":{{{text}}}'.encode()
    )
    batch = check(body)["events"]
    assert batch.num_rows == count
    assert batch["event_id"].to_pylist()[:3] == ["u:0", "u:1", "u:2"]


def test_columns_beyond_the_offsets_of_arrow_are_left_to_python(monkeypatch):
    monkeypatch.setenv(VARIABLE, "compiled")
    # The update's id stands in every row of its events: 40,000 times 60,000 bytes are more than 2 GB.
    leaf = to_json(created("u:1"))
    text = ",".join(f'"u:{at}":{leaf.replace("u:1", f"u:{at}")}' for at in range(40_000))
    ids = [f"u:{at}" for at in range(40_000)]
    item = to_json(transaction(update_id="u" * 60_000, root_event_ids=ids, events_by_id={}))
    page = parse_page(page_of_texts([item.replace('"events_by_id":{}', f'"events_by_id":{{{text}}}')]))
    assert isinstance(page, ParsedPage)
    assert batches_of([(page, [0])], ["events"]) is None
    assert (batches_of([(page, [0])], ["updates"]) or {})["updates"]["event_count"].to_pylist() == [40_000]
