"""The compiled decoder and the Python path say the same of every page, item by item."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from ledgerframes.decoding.pages import read_compiled
from ledgerframes.errors import DecodeError
from ledgerframes.interfaces.paged_histories import UPDATE_HISTORY, HistoryPage
from tests.decoding.items import assignment, created, decoded, exercised, page_of, transaction, unassignment
from tests.decoding.test_pages import BROKEN, CASES
from tests.fuzz.corpus import gather
from tests.fuzz.decoders import LONGEST, case, compare

pytestmark = [pytest.mark.usefixtures("decoder"), pytest.mark.parametrize("decoder", ["compiled"], indirect=True)]


#: The items whose page the compiled decoder leaves to the Python path; all else needs no Python.
LEFT = {
    "other zone", "own event id differs", "own event id absent", "unknown kind", "both halves in one",
    "null created event", "another event type in the contract", "no event type in the contract", "event null",
    "reassignment with a migration id", "many unknown members", "an event that no root reaches",
    "a number of nineteen digits",
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_both_say_the_same_of_an_item_between_others_whoever_reads_it(name):
    odd, last = CASES[name], transaction(update_id="last")
    body = page_of(transaction(update_id="first"), odd, assignment(unassign_id=...), odd, last)
    assert (read_compiled(body) is None) == (name in LEFT)
    compare(body)


@pytest.mark.parametrize("item", [item for item, _, _ in BROKEN.values()], ids=BROKEN)
def test_both_refuse_a_broken_item_in_the_same_words(item):
    compare(page_of(transaction(), item, assignment()), rng=random.Random(1))


TEXTS = {
    "blanks everywhere": page_of(transaction(), unassignment()).replace(b",", b" ,\r\n\t").replace(b":", b" : "),
    "a member twice": page_of(transaction()).replace(b'"workflow_id"', b'"workflow_id":"w","workflow_id"'),
    "a member twice that is noted": page_of(transaction(offset=None)).replace(b'"offset"', b'"offset":"1","offset"'),
    "templates without a name": page_of(
        *(transaction(events={"u:1": {"template_id": name}}) for name in ("", "a", "a:", ":a", ":", "a:b:c"))
    ),
    "an unknown member twice": page_of(transaction(a=1, b=2)).replace(b'"b"', b'"a"'),
    "an empty id": page_of(transaction(), transaction(update_id="")),
    "the last control character": page_of(transaction(), transaction()).replace(b'"alice"', b'"\x1f"', 1),
    "an event twice": page_of(transaction()).replace(b'"u:1":{', b'"u:1":{},"u:1":{'),
    "a name with escapes": page_of(transaction()).replace(b'"workflow_id"', b'"workflow\\u005fid"'),
    "a lone surrogate": page_of(transaction(), transaction()).replace(b'"alice"', b'"\\ud800"', 1),
    "a control character": page_of(transaction(), transaction()).replace(b'"alice"', b'"\x01"', 1),
    "an escape that JSON does not have": page_of(transaction()).replace(b'"alice"', b'"\\x41"', 1),
    "NaN": page_of(transaction(), transaction()).replace(b'"10.0000000000"', b"NaN", 1),
    "a leading zero": page_of(transaction()).replace(b'"10.0000000000"', b"010", 1),
    "an open fraction": page_of(transaction()).replace(b'"10.0000000000"', b"1.", 1),
    "a comma too many": page_of(transaction()).replace(b"}", b",}", 1),
    "a colon too few": page_of(transaction()).replace(b":", b" ", 1),
    "a page twice": page_of(transaction()) * 2,
    "the items twice": page_of(transaction())[:-1] + b',"transactions":[]}',
    "more members": b'{"before":[{"a":"\\u0041"}],' + page_of(transaction())[1:-1] + b',"after":null}',
    "a broken item beside members": page_of(transaction()).replace(b'"alice"', b'"\x01"', 1)[:-1] + b',"x":1,"x":2}',
    "a broken member beside the items": page_of(transaction())[:-1] + b',"next":"\\ud800"}',
    "an item that is no object": page_of(transaction(), 1, transaction()),
    "deep values": page_of(transaction()).replace(b'"10.0000000000"', b"[" * 300 + b"]" * 300, 1),
    "very deep values": page_of(transaction(), transaction()).replace(b'"10.0000000000"', b"[" * 5000 + b"]" * 5000, 1),
    "no items": b' {"transactions" : [ ] } ',
    "nothing": b"",
    "a null": b"null",
    "an end too soon": page_of(transaction())[:-40],
}  # fmt: skip


@pytest.mark.parametrize("body", TEXTS.values(), ids=TEXTS)
def test_both_say_the_same_of_texts_that_are_not_plain(body):
    compare(body, rng=random.Random(1))


#: The ends of each range that UTF-8 has, and what lies right beyond them.
UTF8 = [
    *(b"\xc2\x80", b"\xdf\xbf", b"\xe0\xa0\x80", b"\xed\x9f\xbf", b"\xee\x80\x80", b"\xf0\x90\x80\x80"),
    *(b"\xf4\x8f\xbf\xbf", b"\x80", b"\xbf", b"\xc0\x80", b"\xc1\xbf", b"\xc2", b"\xc2\xc2", b"\xe0\x9f\xbf"),
    *(b"\xe1\x80", b"\xe1\x80\xc0", b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xf0\x8f\xbf\xbf", b"\xf1\x80\x80"),
    *(b"\xf1\x80\xc0\x80", b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\xf8\x88\x80\x80\x80", b"\xfe", b"\xff"),
]


@pytest.mark.parametrize("text", UTF8, ids=bytes.hex)
def test_both_know_the_same_utf8(text):
    for length in (0, 1, 7):
        compare(page_of(transaction()).replace(b'"owner":"alice"', b'"owner":"%balice%b"' % (b"x" * length, text), 1))


@pytest.mark.parametrize("mark", ['"', "\\", "\n", "é", "\u2028", "\U0001f600"], ids=ascii)
def test_a_sign_is_found_wherever_in_a_block_it_stands(mark):
    for length in (0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65):
        text = "x" * length + mark + "y" * 20
        compare(page_of(transaction(workflow_id=text), transaction(workflow_id=text[:-20])))


def test_every_prefix_of_a_page_is_refused_as_python_does():
    body = page_of(transaction(), assignment())
    for length in range(len(body)):
        assert read_compiled(body[:length]) is None
        with pytest.raises(DecodeError):
            decoded(body[:length])


def test_rows_of_part_of_the_items_in_any_order():
    body = page_of(transaction(), CASES["unknown kind"], unassignment(), assignment())
    for rows in ([], [0], [1], [3, 1, 0], [2, 2]):
        ours, theirs = decoded(body, rows=rows), UPDATE_HISTORY.decode_body(body, rows=rows)
        assert all(ours[name].equals(theirs[name]) for name in theirs)


def test_threads_may_share_a_page():
    page = HistoryPage.read(page_of(*[transaction(update_id=f"u{number}") for number in range(300)], unassignment()))
    want = UPDATE_HISTORY.decode_pages([(page, range(301))])
    with ThreadPoolExecutor(8) as threads:
        for got in threads.map(lambda _: UPDATE_HISTORY.decode_pages([(page, range(301))]), range(100)):
            assert all(got[name].equals(want[name]) for name in want)


def test_large_trees_in_any_order_have_their_preorder():
    ids, rng = [f"u:{number}" for number in range(500)], random.Random(3)
    events = {key: created(key) for key in ids} | {ids[0]: exercised(ids[0], ids[1:])}
    pairs = sorted(events.items())
    rng.shuffle(pairs)
    rng.shuffle(events[ids[0]]["child_event_ids"])
    body = page_of(transaction(root_event_ids=[ids[0]], events_by_id=dict(pairs)))
    assert read_compiled(body) is not None
    compare(body)


@pytest.mark.long
def test_broken_pages_come_out_the_same_by_both():
    corpus = gather()
    met = set()
    for number in range(1_500):
        met.add(case(corpus, random.Random(f"7/{number}")))
    assert met >= {"compiled", "left"}
    assert all(any(len(item) < LONGEST for item in items) for items in corpus.histories)
