"""Pages at the limits of size: both decoders read them, and say the same."""

import pytest

from ledgerframes.decoding.history import ALL
from ledgerframes.decoding.pages import decode_compiled, read_compiled
from ledgerframes.interfaces.paged_histories import UPDATE_HISTORY
from tests.decoding.items import created, exercised, page_of, to_json, transaction

pytestmark = [
    pytest.mark.soak,
    pytest.mark.usefixtures("decoder"),
    pytest.mark.parametrize("decoder", ["compiled"], indirect=True),
]


def page_with(events, **changes):
    """A page of one transaction with these texts of events by id, sorted as text, as servers send them."""
    text = ",".join(f'"{key}":{events[key]}' for key in sorted(events))
    item = page_of(transaction(events_by_id={}, **changes))
    return item.replace(b'"events_by_id":{}', f'"events_by_id":{{{text}}}'.encode())


def test_a_transaction_of_a_million_events():
    count = 1_000_000
    leaf, middle = (to_json(event).replace("u:1", "u:%d") for event in (created("u:1"), exercised("u:1", ["LIST"])))
    events = {"u:0": to_json(exercised("u:0", [f"u:{at}" for at in range(1, count, 2)]))}
    for at in range(1, count):
        # Every second event has the next one as its child.
        own = middle.replace("LIST", f"u:{at + 1}") if at % 2 and at + 1 < count else leaf
        events[f"u:{at}"] = own % ((at,) * own.count("%d"))
    body = page_with(events, root_event_ids=["u:0"])
    ours = decode_compiled([(read_compiled(body), [0])], ALL)
    for name, batch in UPDATE_HISTORY.decode_body(body).items():
        ours[name].validate(full=True)
        assert ours[name].equals(batch, check_metadata=True), name
    assert ours["events"].num_rows == count
    assert ours["events"]["event_id"].to_pylist()[:3] == ["u:0", "u:1", "u:2"]


def test_columns_beyond_the_offsets_of_arrow_are_left_to_python():
    # The update's id stands in every row of its events: 40,000 times 60,000 bytes are more than 2 GB.
    leaf, ids = to_json(created("u:1")), [f"u:{at}" for at in range(40_000)]
    events = {one: leaf.replace("u:1", one) for one in ids}
    page = read_compiled(page_with(events, update_id="u" * 60_000, root_event_ids=ids))
    assert decode_compiled([(page, [0])], ["events"]) is None
    assert (decode_compiled([(page, [0])], ["updates"]) or {})["updates"]["event_count"].to_pylist() == [40_000]
