"""Members of payloads: the compiled scanner gives exactly what the Python path gives, or leaves the texts to it."""

import random

import pyarrow as pa
import pytest

from ledgerframes.decoding.pages import COMPILED, choice, members_of
from ledgerframes.errors import InputError
from ledgerframes.models.payloads.columns import leaves
from tests.fuzz import members
from tests.fuzz.corpus import gather

COLUMNS = {
    "members in another order": [b'{"a":1,"b":2}', b'{"b":3,"a":4}'],
    "a member twice": [b'{"a":1,"a":2}'],
    "a member that comes later": [b'{"a":1}', b'{"a":1,"z":2}'],
    "no members": [b"{}", b'{"a":1}'],
    "missing objects": [None, b"null", b'{"a":1}', None],
    "amounts with many digits": [b'{"a":"0.1000000000","b":1E-30,"c":12345678901234567890.123}'],
    "objects in objects": [b'{"a":{"b":{"c":[1, 2]}}}', b'{"a":{"b":null}}'],
    "names with escapes": [rb'{"\u0061":1,"a":2}'],
    "names beyond ASCII": ['{"é":"ü"}'.encode()],
    "no name": [b'{"":1}'],
    "a dot in a name": [b'{"a.b":1,"a":2}'],
    "blanks": [b'{ "a" : [ 1 , 2 ] }', b'{"a":1} ', b' {"a":1}'],
    "line feeds": [b'{"a":\n1}', b'{"a":2}'],
    "two objects in a text": [b'{"a":1}{"a":2}'],
    "a text that the next one would end": [b'{"a":', b'{"a":1}', b"}"],
    "a string that the next one would end": [b'{"a":"', b'{"a":"x"}'],
    "an object without an end": [b'{"a":1'],
    "a list without an end": [b'{"a":[[[['],
    "a zero byte": [b'{"a":"\x00"}'],
    "half a character": [b'{"a":"\xc3"}', b'{"a":"\xa9"}'],
    "half a surrogate pair": [rb'{"a":"\ud800"}'],
    "no number": [b'{"a":NaN}', b'{"a":01}', b'{"a":1.}'],
    "deeper than a parser goes": [b'{"a":' * 2_000 + b"1" + b"}" * 2_000],
    "more members than a struct has": [b"{" + b",".join(b'"m%d":1' % number for number in range(600)) + b"}"],
}


@pytest.mark.parametrize("texts", COLUMNS.values(), ids=COLUMNS)
def test_both_ways_split_payloads_alike(texts):
    cells = pa.array(texts, pa.binary()).view(pa.string())
    for wanted in (None, ["a"], ["b", "a", "absent"], ["a.b"], ["a.b.c"]):
        for first in range(len(texts)):
            members.compare(pa.chunked_array([cells.slice(first)]), wanted)


@pytest.mark.long
def test_both_ways_split_broken_payloads_alike():
    histories = gather().histories
    for number in range(300):
        rng = random.Random(number)
        members.case(rng.choice(histories), rng)


@pytest.mark.skipif(choice().name != COMPILED, reason="without the compiled decoder there is one way only")
def test_values_are_what_was_sent_to_the_byte():
    cells = pa.array(['{"a":1.50,"b":{"c": "x"}}', None, '{"b":"\\u00e9","a":1E400}'])
    a, b = members_of(cells, ["a", "b"], closed=True) or ()
    assert a.to_pylist() == ["1.50", None, "1E400"]
    assert b.to_pylist() == ['{"c": "x"}', None, '"\\u00e9"']
    for first in range(3):
        (sliced,) = members_of(cells.slice(first), ["a"], closed=False) or ()
        assert sliced.to_pylist() == a.to_pylist()[first:]
    assert members_of(cells, ["a"], closed=True) is None
    assert (members_of(cells, ["a"], closed=False) or [None])[0].equals(a)
    assert members_of(cells, ["\ud800"], closed=False) is None
    assert members_of(cells.cast(pa.large_string()), ["a"], closed=False) is None


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ('{"a":', r"payload '\{\"a\":' is not JSON"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "is nested too deep to be read; leave its row out"),
    ],
    ids=["cut", "too deep"],
)
def test_a_broken_payload_is_named_among_others(broken, said):
    with pytest.raises(InputError, match=said):
        leaves(pa.chunked_array([['{"a":1}', broken, '{"a":1}', '{"b":1}']]), None)
