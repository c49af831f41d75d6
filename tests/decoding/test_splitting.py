"""A page cut into its items by its brackets alone."""

import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgerframes.decoding.splitting import NotWholeError, members_of, place_of, raws_of

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.long
@settings(max_examples=200, deadline=None)
@given(items=st.lists(JSON, max_size=6), indent=st.sampled_from([None, 1]), ascii_only=st.booleans())
def test_a_page_with_an_unreadable_item_is_cut_where_its_items_end(items, indent, ascii_only):
    texts = [json.dumps(item, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "replace") for item in items]
    texts.insert(len(texts) // 2, b'{"x": NaN}')
    assert raws_of(b' { "more" : [1, {}] , "transactions" : [\n%b ] }\n' % b" , ".join(texts)) == texts


WRONG = {
    "cut": b'{"transactions":[{"x":NaN},{"a":1}',
    "cut in a text": b'{"transactions":[{"x":NaN},{"a":"1]}',
    "brackets crossed": b'{"transactions":[{"x":[NaN}]}]}',
    "no comma": b'{"transactions":[{"x":NaN} {"a":1}]}',
    "two commas": b'{"transactions":[{"x":NaN},,{"a":1}]}',
    "a comma at the end": b'{"transactions":[{"x":NaN},]}',
    "more behind it": b'{"transactions":[{"x":NaN}]} x',
    "more before it": b'\x0b{"transactions":[{"x":NaN}]}',
    "another member unreadable": b'{"x":NaN,"transactions":[{"a":1}]}',
    "no items": b'{"transaction":[{"x":NaN}]}',
    "items twice": b'{"transactions":[{"x":NaN}],"transactions":[]}',
    "items as an object": b'{"transactions":{"x":NaN}}',
    "a list": b"[NaN]",
    "nothing": b"",
}


@pytest.mark.parametrize("body", WRONG.values(), ids=WRONG)
def test_what_is_no_whole_page_is_not_cut(body):
    with pytest.raises(msgspec.DecodeError):
        raws_of(body)


def test_the_members_of_an_item_are_found_whatever_their_values_are():
    deep = b"[" * 50_000 + b"]" * 50_000
    item = b'{"a":"}\\"]","update_id":"1","record_time":"t","event":{"migration_id":4,"x":%b},"y":NaN}' % deep
    assert members_of(item)[b'"y"'] == b"NaN"
    assert place_of(item) == b'{"update_id":"1","record_time":"t","event":{"migration_id":4}}'


@pytest.mark.parametrize("text", [b"NaN", b"[]", b'{"a" 1}', b'{"a":1,"a":2}', b"{1:2}", b"{"])
def test_what_is_no_object_has_no_members(text):
    with pytest.raises(NotWholeError):
        members_of(text)
