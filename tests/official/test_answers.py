"""Every answer of the sandbox is valid against the official files, save where real servers break them likewise."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from tests.official.answer_faults import SHARED, faults, subject, unlike_real_servers
from tests.official.interface_files import operation
from tests.replay import CAPTURES, read_capture

pytestmark = pytest.mark.filterwarnings("ignore::ledgerframes.transport.DeprecatedEndpointWarning")

#: How many answers of one path and status are looked at, the largest first.
ANSWERS = 4


def looked_at(turns):
    """The largest answers of every path and status."""
    seen = Counter()
    for turn in sorted(turns, key=lambda one: -len(one.answer)):
        found = operation(turn.interface, turn.method, turn.path)
        if found is None:
            continue
        seen[found.path, turn.method, turn.status, turn.answered_type] += 1
        if seen[found.path, turn.method, turn.status, turn.answered_type] <= ANSWERS:
            yield turn


@pytest.mark.long
def test_every_answer_is_as_the_official_files_say(turns):
    broken = {}
    for turn in looked_at(turns):
        answer = (turn.interface, turn.method, turn.path, turn.status, turn.answered_type, turn.answer)
        broken |= dict.fromkeys(unlike_real_servers(*answer), turn.name)
    assert broken == {}


@pytest.mark.parametrize(("what", "capture"), SHARED.items(), ids=str)
def test_what_is_allowed_to_break_a_file_is_broken_by_a_real_server_too(captures, what, capture):
    assert captures
    asked = json.loads((CAPTURES / f"{capture}.json").read_text())["request"]
    real = read_capture(capture)
    content_type = real.content_type.partition(";")[0]
    body = real.reply.body if content_type == "application/json" else b""
    found = faults(asked["interface"], asked["method"], asked["path"], real.status, content_type, body)
    assert what[1:] in {subject(what[0], fault)[1:] for fault in found}
