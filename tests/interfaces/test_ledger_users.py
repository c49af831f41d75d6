"""What the calls about users send, refuse and read."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from served_answers import body_of, far, nowhere, reply

from ledgerframes.errors import InputError
from ledgerframes.interfaces.ledger import Ledger
from ledgerframes.interfaces.rules import UserId, fits
from ledgerframes.interfaces.users import (
    ObjectMeta,
    OtherRight,
    User,
    check_annotations,
)

KB_256 = 256 * 1024


def annotated(annotations):
    return User(id="u", metadata=ObjectMeta(annotations=annotations))


def preview(user, **options):
    return body_of(Ledger(nowhere()), "create_user", user, **options)


def test_a_right_that_has_no_class_goes_out_as_it_is():
    right = OtherRight("CanDream", {"value": {"of": ["x"]}})
    kind = {"CanDream": {"value": {"of": ["x"]}}}
    assert preview(User(id="u"), rights=[right]) == {"user": {"id": "u"}, "rights": [{"kind": kind}]}


@pytest.mark.parametrize(
    "annotations",
    [
        pytest.param({"k": "v" * (KB_256 // 2 - 1), "lm": "é" * (KB_256 // 4 - 1)}, id="256 kb in all"),
        pytest.param({"n" * 63: "v"}, id="name of 63"),
        pytest.param({f"{'a.' * 126}a/n": "v"}, id="prefix of 253"),
        pytest.param({"tool.example.com/a.b-c_d": "v", "K": "é"}, id="prefix and punctuation"),
    ],
)
def test_annotations_at_their_limits_pass(annotations):
    assert preview(annotated(annotations))["user"]["metadata"] == {"annotations": annotations}


ALNUM = set(string.ascii_letters + string.digits)


def is_label(text):
    return 0 < len(text) <= 63 and set(text) <= ALNUM | {"-"} and text[0] != "-" and text[-1] != "-"


def key_is_good(key):
    """The contract's rule for keys, spelled out without a pattern."""
    prefix, slash, name = key.rpartition("/")
    if slash and (len(prefix) > 253 or not all(is_label(label) for label in prefix.split("."))):
        return False
    return 0 < len(name) <= 63 and set(name) <= ALNUM | set("._-") and {name[0], name[-1]} <= ALNUM


pieces = st.sampled_from(["a", "Z", "0", "-", "_", ".", "/", " ", "é", "x" * 31, "y.z"])


@given(st.lists(pieces, max_size=8).map("".join))
def test_a_key_passes_exactly_if_the_rule_says_so(key):
    try:
        check_annotations({key: "v"}, "annotations")
    except InputError:
        assert not key_is_good(key)
    else:
        assert key_is_good(key)


ALLOWED = set(string.ascii_letters + string.digits + "@^$.!-#+'~_|:()`")


@given(st.text(st.sampled_from([*sorted(ALLOWED), " ", "\n", "/", "é", '"', "٣"]), max_size=140))
def test_a_user_id_passes_exactly_if_the_rule_says_so(user_id):
    try:
        fits(user_id, UserId, "user_id")
    except InputError:
        assert not (1 <= len(user_id) <= 128 and set(user_id) <= ALLOWED)
    else:
        assert 1 <= len(user_id) <= 128
        assert set(user_id) <= ALLOWED


def test_all_users_are_read_whatever_the_length_of_a_page():
    pages = [
        reply({"users": [{"id": "a"}, {"id": "b"}], "nextPageToken": "t/1"}),
        reply({"users": [], "nextPageToken": "t&2"}),
        reply({"users": [{"id": "c"}], "nextPageToken": ""}),
    ]
    with far(users=pages) as there:
        assert there.ledger.preview.list_users(page_token="").url.endswith("/v2/users")
        assert [user.id for user in there.ledger.iter_users(page_size=5000)] == ["a", "b", "c"]
    assert [asked.query for asked in there.asked] == [
        {"pageSize": "5000"}, {"pageSize": "5000", "pageToken": "t/1"}, {"pageSize": "5000", "pageToken": "t&2"},
    ]  # fmt: skip
