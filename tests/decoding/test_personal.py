"""What is taken out of JSON, and that nothing else is changed."""

import json

import pyarrow as pa
import pytest

from ledgerframes.decoding.personal import strip_batch, without_personal
from ledgerframes.errors import DecodeError

WHO = "me@here"
HELD = {
    "in a record": (
        '{"a":1.10,"metadata":{"contactPoint":"me@here","version":"1"}}',
        '{"a":1.10,"metadata":{"version":"1"}}',
    ),
    "at the top": ('{"contactPoint":"me@here"}', "{}"),
    "in a list": ('[1E5,{"contactPoint":"me@here"}]', "[1E5,{}]"),
    "spelt with an underscore": ('{"contact_point":"me@here"}', "{}"),
    "in other letters": ('{"ContactPoint":"me@here"}', "{}"),
    "with an escape in its name": ('{"contact\\u0050oint":"me@here"}', "{}"),
    "with escapes all over its name": ('{"\\u0063\\u006fntact\\u0050oint":"me@here"}', "{}"),
    "of any kind": ('{"contactPoint":{"mail":["me@here"]}}', "{}"),
    "null": ('{"contactPoint":null}', "{}"),
    "twice": ('{"contactPoint":"me@here","contactPoint":"me@here"}', "{}"),
    "in a member that is there twice": ('{"m":{"contactPoint":"me@here"},"m":{"b":1}}', '{"m":{"b":1}}'),
    "as label and value": (
        '{"fields":[{"label":"contactPoint","value":{"text":"me@here"}},{"label":"version","value":{"text":"1"}}]}',
        '{"fields":[{"label":"contactPoint"},{"label":"version","value":{"text":"1"}}]}',
    ),
    "as a pointer of extra": ('{"/metadata/contactPoint":"me@here","/x":1}', '{"/x":1}'),
    "with room around": (' { "a" : { "contactPoint" : "me@here" } } ', '{"a":{}}'),
}
UNTOUCHED = [
    '{"description":"contactPoint"}', '{"a":"\\u0041", "b" : 1.50}', "5", '"contactPoint"', "null", "{}", "[]",
    '{"contactPoints":1}', '[1 , {"contactPoints":1}]', '{"contract":"point"}', "not JSON", "",
]  # fmt: skip
KINDS = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]


@pytest.mark.parametrize(("before", "after"), HELD.values(), ids=HELD)
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_it_is_taken_out_and_the_rest_stays_as_it_was_written(before, after, kind):
    texts = pa.array([None, before, '{"a":1}'], pa.string())
    cells = texts.dictionary_encode() if pa.types.is_dictionary(kind) else texts.cast(kind)
    found = without_personal(cells)
    assert found.type == kind
    assert found.to_pylist() == [None, after, '{"a":1}']
    assert without_personal(pa.chunked_array([cells])).to_pylist() == [None, after, '{"a":1}']
    assert without_personal(cells.slice(1, 1)).to_pylist() == [after]


def test_what_holds_none_is_not_touched():
    assert without_personal(pa.array(UNTOUCHED)).to_pylist() == UNTOUCHED


def test_a_row_says_what_it_lost_beside_what_it_said_before():
    payloads = ['{"metadata":{"contactPoint":"me@here"}}', "{}", '{"contactPoint":""}']
    batch = pa.record_batch({"payload": payloads, "extra": ['{"/x":1.0}', None, None]})
    found, count = strip_batch(batch, ["payload", "extra", "no_such_column"])
    assert count == 2
    notes = found["extra"].to_pylist()
    assert notes[0] == '{"/x":1.0,"left_out":["/payload/metadata/contactPoint"]}'
    assert notes[1] is None
    assert json.loads(notes[2]) == {"left_out": ["/payload/contactPoint"]}
    assert strip_batch(found, ["payload", "extra"]) == (found, 0)


@pytest.mark.parametrize(
    "text", ['{"contactPoint":"me@here"', '{"a":' * 5_000 + '{"contactPoint":"me@here"}' + "}" * 5_000]
)
def test_what_cannot_be_taken_apart_is_an_error_that_does_not_show_it(text):
    with pytest.raises(DecodeError, match="personal data cannot be left out") as caught:
        without_personal(pa.array([text]))
    assert WHO not in str(caught.value)
    assert caught.value.__cause__ is None
