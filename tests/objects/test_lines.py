"""Objects are read line by line, across frames, in bounded memory, and a damaged one is refused."""

import io

import pyarrow as pa
import pytest

import ledgerframes as lf
from ledgerframes.objects.lines import read_lines
from tests.objects.conftest import object_of


def read(data, *, lines=2, most=1_000, longest=10_000):
    return list(read_lines(pa.PythonFile(io.BytesIO(data), "r"), "an object", lines=lines, most=most, longest=longest))


def test_lines_go_on_across_frames():
    assert read(object_of(b"one\ntw", b"o\nthree\n", b"four\n")) == [[b"one", b"two"], [b"three", b"four"]]


def test_a_batch_ends_before_it_has_too_many_bytes_and_has_one_line_at_least():
    data = object_of(b"a" * 600 + b"\n" + b"b" * 600 + b"\n" + b"c" * 5_000 + b"\n")
    assert [[len(line) for line in batch] for batch in read(data, lines=9)] == [[600], [600], [5_000]]


def test_empty_lines_and_an_empty_object_have_no_items():
    assert read(object_of(b"\n\none\n\n")) == [[b"one"]]
    assert read(object_of(b"")) == []


WHOLE = object_of(bytes(range(32, 127)) * 40 + b"\n", bytes(range(32, 127)) * 20 + b"\n")
REFUSED = {
    **{f"cut at {at}": (WHOLE[:at], "an object cannot be read") for at in (0, 1, 10, 100, -3, -1)},
    "other bytes": (b"no zstd at all", "an object cannot be read"),
    "a tail": (object_of(b"one\n") + b"more", "an object cannot be read"),
    "a last line without its end": (object_of(b"one\ntwo"), "its last line has no end"),
    "a long line": (object_of(b"x" * 50_000), "a line of more than 10,000 bytes"),
    "empty lines": (object_of(b"\n" * 2**21), "more than 1,000,000 empty lines"),
}


@pytest.mark.parametrize(("data", "said"), REFUSED.values(), ids=REFUSED)
def test_an_object_that_is_not_whole_or_would_fill_the_memory_is_refused(data, said):
    with pytest.raises(lf.errors.DecodeError, match=said):
        read(data)
