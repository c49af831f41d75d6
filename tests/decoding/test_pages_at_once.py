"""Several pages decoded together give the rows that they give one by one."""

import pyarrow as pa
import pytest

from ledgerframes.decoding.paged_histories import EVENT_HISTORY
from ledgerframes.decoding.pages import decode_page, decode_pages, parse_page
from ledgerframes.errors import DecodeError
from tests.decoding.items import assignment, page_of, transaction, unassignment

pytestmark = pytest.mark.usefixtures("decoder")
FIRST = page_of(transaction(update_id="a"), unassignment(), transaction(update_id="b"))
SECOND = page_of(assignment(), transaction(update_id="c", external_transaction_hash=None))
ODD = page_of(transaction(update_id="d", migration_id=10**18), unassignment())
TABLES = ("updates", "events", "reassignments")


@pytest.mark.parametrize("bodies", [[FIRST], [FIRST, SECOND], [SECOND, ODD, FIRST], [page_of(), FIRST]])
@pytest.mark.parametrize("parsed", [True, False], ids=["parsed", "as sent"])
def test_pages_decoded_together_give_the_rows_of_each_in_turn(bodies, parsed):
    rows = [None, [0], None][: len(bodies)]
    pages = [parse_page(body) if parsed else body for body in bodies]
    together = decode_pages(list(zip(pages, rows, strict=True))).batches
    one_by_one = [decode_page(body, rows=chosen).batches for body, chosen in zip(bodies, rows, strict=True)]
    for name in TABLES:
        assert together[name].equals(pa.concat_batches([batches[name] for batches in one_by_one]), check_metadata=True)


def test_a_broken_page_among_others_is_refused_in_its_own_words():
    broken = page_of(transaction(update_id=""))
    with pytest.raises(DecodeError) as alone:
        decode_page(broken)
    with pytest.raises(DecodeError) as among:
        decode_pages([(FIRST, None), (broken, None), (SECOND, None)])
    assert str(among.value) == str(alone.value)


def test_pages_of_events_can_be_decoded_together_too():
    together = EVENT_HISTORY.decode_pages([(b'{"events":[]}', None), (b'{"events":[]}', None)])
    assert {name: batch.num_rows for name, batch in together.batches.items()} == dict.fromkeys(EVENT_HISTORY.tables, 0)
