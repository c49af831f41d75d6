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


def test_an_object_of_empty_lines_is_refused_before_it_is_unpacked():
    newlines = object_of(*[b"\n" * 2**24] * 8)
    stream = io.BytesIO(newlines)
    with pytest.raises(lf.errors.DecodeError, match="more than 1,000,000 empty lines"):
        list(read_lines(pa.PythonFile(stream, "r"), "an object", lines=2, most=1_000))


@pytest.mark.parametrize("at", [0, 1, 10, 100, -3, -1])
def test_an_object_that_is_cut_off_is_refused_wherever_it_is_cut(at):
    whole = object_of(bytes(range(32, 127)) * 40 + b"\n", bytes(range(32, 127)) * 20 + b"\n")
    with pytest.raises(lf.errors.DecodeError, match="an object cannot be read"):
        read(whole[:at])


def test_an_object_whose_last_line_has_no_end_is_refused():
    with pytest.raises(lf.errors.DecodeError, match="its last line has no end"):
        read(object_of(b"one\ntwo"))


@pytest.mark.parametrize("data", [b"no zstd at all", object_of(b"one\n") + b"more"], ids=["other bytes", "a tail"])
def test_what_is_not_zstd_is_refused(data):
    with pytest.raises(lf.errors.DecodeError, match="an object cannot be read"):
        read(data)


def test_a_line_that_is_too_long_is_refused_before_it_fills_the_memory():
    with pytest.raises(lf.errors.DecodeError, match="a line of more than 10,000 bytes"):
        read(object_of(b"x" * 50_000))
